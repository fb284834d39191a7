package file

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/secret"
)

// hider removes secrets from the tree of a file: the values of variables and headers
// whose names are secrets, and what secret.Text finds in other texts.
type hider struct {
	axes  []string            // names of vary that such a value refers to
	pairs []pair              // of what was replaced
	of    map[string][]string // by path: the values that were hidden there
}

// pair is a text before and after its secrets were hidden.
type pair struct{ before, after string }

// newHider finds the axes in a tree of which secrets are made.
func newHider(root *node) *hider {
	h := &hider{of: map[string][]string{}}
	root.walk(nil, func(keys []string, n *node) {
		for _, value := range secretsOf(keys, n) {
			if parts, err := experiment.Segments(value); err == nil {
				h.axes = append(h.axes, namesIn(parts)...)
			}
		}
	})
	return h
}

// walk calls visit for a node and all that is below it, with the keys that lead there.
func (n *node) walk(keys []string, visit func(keys []string, n *node)) {
	visit(keys, n)
	for _, e := range n.entries {
		e.value.walk(append(slices.Clip(keys), e.key), visit)
	}
	for i, item := range n.items {
		item.walk(append(slices.Clip(keys), strconv.Itoa(i)), visit)
	}
}

// secretsOf are the secrets in a single value, or in the words of a command.
func secretsOf(keys []string, n *node) []string {
	switch {
	case n.kind == listNode && last(keys) == "command":
		return secret.ValuesOf(n.words())
	case n.kind != scalarNode:
		return nil
	case secretAt(keys):
		return []string{n.text}
	}
	return secret.Values(n.text)
}

// words are the single values of a list.
func (n *node) words() []string {
	words := make([]string, len(n.items))
	for i, item := range n.items {
		words[i] = item.text
	}
	return words
}

func last(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return keys[len(keys)-1]
}

// secretAt reports whether a whole value is a secret: that of a variable of a service or
// of a dependency, also in a wrong form, or of a header.
func secretAt(keys []string) bool {
	if name, below := variableAt(keys); name != "" {
		reference := len(below) == 1 && slices.Contains(keysOf(fieldsOf(reflect.TypeFor[experiment.Reference]())), below[0])
		return secret.Variable(name) && !reference
	}
	return len(keys) > 2 && keys[len(keys)-2] == "headers" && secret.Header(last(keys))
}

// variableAt is the variable at the keys of a value, and the keys below it.
func variableAt(keys []string) (name string, below []string) {
	if len(keys) > 4 && keys[0] == "services" && keys[2] == "dependencies" { // services.NAME.dependencies.0.env.TOKEN
		keys = slices.Concat(keys[:2], keys[4:])
	}
	if len(keys) < 4 || keys[0] != "services" || keys[2] != "env" {
		return "", nil
	}
	return keys[3], keys[4:]
}

// hide replaces the secrets in a tree, which keys lead to.
func (h *hider) hide(n *node, keys []string) {
	n.walk(keys, func(keys []string, n *node) {
		if n.kind == listNode && last(keys) == "command" {
			for i, word := range secret.Words(n.words()) {
				h.replace(n.items[i], word)
			}
		}
		if n.kind != scalarNode {
			return
		}
		switch {
		case secretAt(keys) && secret.Hides(n.text):
			h.replace(n, secret.Mask)
		case len(keys) == 3 && keys[0] == "vary" && slices.Contains(h.axes, keys[1]):
			i, _ := strconv.Atoi(keys[2]) // which walk made
			h.replace(n, secret.Numbered(i+1))
		default:
			h.replace(n, secret.Text(n.text))
		}
	})
}

func (h *hider) replace(n *node, after string) {
	if n.text == after {
		return
	}
	h.pairs = append(h.pairs, pair{n.text, after})
	h.of[n.path] = append(h.of[n.path], n.text)
	n.text = after
}

// source is the text of a file without secrets. Their places in the text are not known
// exactly, as YAML has several forms of one value: the result is the text with the values
// replaced if it reads as the tree without secrets, and that tree as YAML otherwise.
func (h *hider) source(text string) string {
	tree := readTree(&problems{}, 0, []byte(text))
	if tree == nil || tree.kind != mapNode {
		return text
	}
	own := &hider{axes: h.axes, of: map[string][]string{}}
	own.hide(tree, nil)
	if len(own.pairs) == 0 {
		return text
	}
	want := string(tree.yaml())
	if replaced := own.replaceIn(text); readsAs(replaced, want) {
		return replaced
	}
	return want
}

// replaceIn replaces the values in a text, as they are or as quoted scalars, the longest
// first: one may begin another.
func (h *hider) replaceIn(text string) string {
	pairs := slices.Clone(h.pairs)
	for _, p := range h.pairs {
		pairs = append(pairs, pair{strconv.Quote(p.before), strconv.Quote(p.after)},
			pair{"'" + strings.ReplaceAll(p.before, "'", "''") + "'", strconv.Quote(p.after)})
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(len(b.before), len(a.before)) })
	var all []string
	for _, p := range pairs {
		all = append(all, p.before, p.after)
	}
	return strings.NewReplacer(all...).Replace(text)
}

// readsAs reports whether a file's text has the tree that this YAML is of.
func readsAs(text, yaml string) bool {
	tree := readTree(&problems{}, 0, []byte(text))
	return tree != nil && tree.kind == mapNode && string(tree.yaml()) == yaml
}

// set is a text of --set without secrets.
func (h *hider) set(text string) string {
	path, value, ok := strings.Cut(text, "=")
	if !ok {
		return text
	}
	keys := strings.Split(strings.TrimSpace(path), ".")
	tree := readTree(&problems{}, 0, []byte(value))
	if tree == nil {
		if secretAt(keys) {
			return path + "=" + secret.Mask
		}
		return path + "=" + secret.Text(value)
	}
	own := &hider{axes: h.axes, of: map[string][]string{}}
	own.hide(tree, keys)
	if len(own.pairs) == 0 {
		return text
	}
	return path + "=" + tree.flow()
}

// wrongSet is a text of --set in an error: the keys may be wrong, too.
func (h *hider) wrongSet(text string) string {
	path, _, ok := strings.Cut(text, "=")
	if keys := strings.Split(strings.TrimSpace(path), "."); ok && secret.Variable(last(keys)) && h.set(text) == text {
		return path + "=" + secret.Mask
	}
	return h.set(text)
}

// message is an error about the value at a path without secrets.
func (h *hider) message(path, text string) string {
	for _, value := range h.of[path] {
		if value != "" {
			text = strings.ReplaceAll(text, value, secret.Mask)
			text = strings.ReplaceAll(text, strings.Trim(strconv.Quote(value), `"`), secret.Mask)
		}
	}
	var all []string
	for _, p := range h.pairs {
		all = append(all, p.before)
	}
	return secret.Text(secret.Scrub(all)(text))
}

// hide removes the secrets of a valid experiment from what is shown of it: its texts, and
// the varied values that secrets are made of. Such a value is replaced by its number, so
// that the labels of cells differ.
func (d *decoder) hide() {
	h, e := newHider(d.root), d.out
	given := experiment.Given{Source: e.Source, Sets: e.Sets}
	e.Source = h.source(e.Source)
	e.Sets = nil
	for _, set := range given.Sets {
		e.Sets = append(e.Sets, h.set(set))
	}
	if e.Source != given.Source || !slices.Equal(e.Sets, given.Sets) {
		e.Given = &given
	}
	for i := range e.Vary {
		if a := &e.Vary[i]; slices.Contains(h.axes, a.Name) {
			d.number(a)
		}
	}
}

// number replaces the values of an axis by their numbers.
func (d *decoder) number(a *experiment.Axis) {
	numbered := func(value *string) *string {
		for i, v := range a.Values {
			if v != nil && value != nil && *v == *value {
				value = new(secret.Numbered(i + 1))
				break
			}
		}
		return value
	}
	for i := range d.out.Cells {
		for j := range d.out.Cells[i].Vary {
			if s := &d.out.Cells[i].Vary[j]; s.Name == a.Name {
				s.Value = numbered(s.Value)
			}
		}
	}
	for i := range d.out.Claims {
		for _, s := range d.out.Claims[i].Selectors() {
			if v, ok := s.Vary[a.Name]; ok {
				s.Vary[a.Name] = numbered(v)
			}
		}
	}
	before := slices.Clone(a.Values)
	for i := range before {
		before[i] = numbered(a.Values[i])
	}
	a.Values = before
}

// Saved is the text of an experiment as a file that can be run again. Variables whose
// values are secrets, which it names, are read from the environment of the run; other
// secrets are hidden.
func Saved(e *experiment.Experiment) (text string, fromEnv []string) {
	tree := readTree(&problems{}, 0, []byte(e.AsGiven().Source))
	if e.Given == nil || tree == nil || tree.kind != mapNode {
		return e.Source, nil
	}
	tree.walk(nil, func(keys []string, n *node) {
		if n.kind != scalarNode || !secretAt(keys) || slices.Contains(keys, "headers") || !secret.Hides(n.text) {
			return
		}
		name := last(keys)
		*n = node{kind: mapNode, entries: []*entry{{key: "from_env", value: &node{kind: scalarNode, text: name}}}}
		if !slices.Contains(fromEnv, name) {
			fromEnv = append(fromEnv, name)
		}
	})
	newHider(tree).hide(tree, nil)
	return string(tree.yaml()), fromEnv
}

// refuseHidden reports values that were hidden when the file was stored in a record.
func (p *problems) refuseHidden(root *node) {
	root.locate("")
	root.walk(nil, func(keys []string, n *node) {
		if n.kind != scalarNode || !secret.Hidden(n.text) || !slices.Contains([]string{"services", "load", "vary"}, keys[0]) {
			return
		}
		n.bad = true
		p.report(n, "this value was hidden when the file was stored in a record; write the value again%s", instead(keys))
	})
}

// instead is where a hidden value may be read from.
func instead(keys []string) string {
	switch {
	case slices.Contains(keys, "headers"):
		return ", or use auth: {bearer_env: NAME}"
	case secretAt(keys):
		return fmt.Sprintf(", or read it from elsewhere: %s: {from_env: %s}", last(keys), last(keys))
	}
	return ""
}
