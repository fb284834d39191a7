package file

import "slices"

// Expand returns what a service of compose files has, as keys of a service of the experiment:
// compose, with whole paths, and service; image, args, env, limits and so on. The names of the
// files are as they are written.
type Expand func(files []string, service string) (map[string]any, []error)

// fillServices adds to the services of compose files what the files have, and what neither the
// service nor, of limits, the experiment sets.
func (p *problems) fillServices(root *node, expand Expand) {
	for _, e := range root.child("services").entries {
		s, files := e.value, e.value.child("compose")
		if files.kind == scalarNode {
			*files = node{kind: listNode, at: files.at, path: files.path, items: []*node{{kind: scalarNode, at: files.at, text: files.text}}}
		}
		if files.kind != listNode || files.empty() || len(p.list) > 0 {
			continue
		}
		if expand == nil {
			p.report(files, "services of compose files need --on docker")
			continue
		}
		keys, errs := expand(files.words(), s.child("service").text)
		for _, err := range errs {
			p.report(files, "%v", err)
		}
		if len(errs) > 0 {
			continue
		}
		have := nodeOf(keys, files.at)
		limits := have.child("limits")
		for _, shared := range root.child("limits").entries {
			limits.remove(shared.key)
		}
		s.remove("compose")
		s.remove("service")
		s.fill(have)
	}
	root.locate("")
}

// fill adds the entries of another map that a service lacks.
func (n *node) fill(have *node) {
	for _, e := range have.entries {
		own := n.child(e.key)
		switch {
		case !own.given():
			n.remove(e.key)
			n.entries = append(n.entries, e)
		case e.key == "dependencies":
			own.items = append(e.value.items, own.items...)
		case e.value.kind == mapNode && own.kind == mapNode: // where null leaves unset
			for _, below := range e.value.entries {
				if own.entry(below.key) == nil {
					own.entries = append(own.entries, below)
				}
			}
		}
	}
}

// remove removes a key.
func (n *node) remove(key string) {
	n.entries = slices.DeleteFunc(n.entries, func(e *entry) bool { return e.key == key })
}
