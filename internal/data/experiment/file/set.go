package file

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment/spelling"
)

// setPrefix begins the words of a setting of --set in errors.
const setPrefix = "--set "

// applySets changes the tree as --set asks: "path=value", where the path is
// the keys on the way, joined by dots (an item of a list by its index, as in
// load.users.stages.0.target), and the value is YAML.
func applySets(p *problems, root *node, sets []string) {
	for _, set := range sets {
		at := p.setting(origin{words: setPrefix + set})
		path, value, ok := strings.Cut(set, "=")
		if !ok {
			p.add(at, "", "expected a path and a value, as in limits.cpu=250m")
			continue
		}
		n := readTree(p, at.set, []byte(value))
		if n == nil {
			continue
		}
		n.moveTo(at)
		p.put(at, root, strings.TrimSpace(path), n)
	}
}

// setting is the place of one more setting.
func (p *problems) setting(from origin) place {
	p.origins = append(p.origins, from)
	return place{set: len(p.origins)}
}

// put replaces the value at a path of the tree.
func (p *problems) put(at place, root *node, path string, value *node) {
	s := setter{path: strings.Split(path, "."), at: at, value: value}
	if err := s.apply(root, &field{typ: reflect.TypeFor[document]()}, 0); err != nil {
		p.add(at, "", "%v", err)
	}
}

// moveTo sets every place in the value to that of the setting.
func (n *node) moveTo(at place) {
	n.at = at
	for _, e := range n.entries {
		e.at = at
		e.value.moveTo(at)
	}
	for _, item := range n.items {
		item.moveTo(at)
	}
}

// setter follows the path of a setting down the tree and the declarations.
type setter struct {
	path  []string
	at    place
	value *node
}

// apply sets the value below n, a node with this declaration, which path[:depth]
// led to.
func (s *setter) apply(n *node, f *field, depth int) error {
	if depth == len(s.path) {
		*n = *s.value
		return nil
	}
	key, before := s.path[depth], strings.Join(s.path[:depth], ".")
	switch fields, element := f.shape(); {
	case fields != nil:
		i := slices.Index(keysOf(fields), key)
		if i < 0 {
			return s.unknown("key", key, keysOf(fields), depth)
		}
		return s.apply(s.child(n, key), &fields[i], depth+1)
	case element != nil && element.list:
		if n.kind != listNode {
			return fmt.Errorf("%s is not a list here", before)
		}
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(n.items) {
			return fmt.Errorf("%s has the items 0 to %d, not %q", before, len(n.items)-1, key)
		}
		return s.apply(n.items[i], element, depth+1)
	case element != nil:
		// A new variable or a new axis may be set, not a part of a new service.
		if depth+1 < len(s.path) && n.entry(key) == nil {
			var names []string
			for _, e := range n.entries {
				names = append(names, e.key)
			}
			return s.unknown("name", key, names, depth)
		}
		return s.apply(s.child(n, key), element, depth+1)
	}
	return fmt.Errorf("%s is a single value; there is no %q in it", before, strings.Join(s.path[depth:], "."))
}

// child is the value of a key, made where it does not exist yet.
func (s *setter) child(n *node, key string) *node {
	if n.kind != mapNode {
		*n = node{kind: mapNode, at: s.at}
	}
	e := n.entry(key)
	if e == nil {
		e = &entry{key: key, at: s.at, value: &node{kind: nullNode, at: s.at}}
		n.entries = append(n.entries, e)
	}
	return e.value
}

func (s *setter) unknown(what, word string, valid []string, depth int) error {
	path := func(word string) string { return strings.Join(append(slices.Clone(s.path[:depth]), word), ".") }
	if near := spelling.Nearest(word, valid); near != "" {
		return fmt.Errorf("unknown %s %q; did you mean %q?", what, path(word), path(near))
	}
	return fmt.Errorf("unknown %s %q; %s", what, path(word), spelling.Hint(word, what+"s", valid))
}
