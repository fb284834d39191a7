package file

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
)

// A file is read with its secrets: the values of variables and headers whose names are
// secrets, and what secret.Text finds in other texts. They are hidden where something of the
// file is written: an error, the source, the settings of --set.

// pair is a text before and after its secrets were hidden.
type pair struct{ path, before, after string }

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

// commandAt reports whether a list has the words of a command, or the arguments of an image.
func commandAt(keys []string) bool { return last(keys) == "command" || last(keys) == "args" }

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

// hide replaces the secrets in a tree, which keys lead to, by secret.Mask.
func (n *node) hide(keys []string) (hidden []pair) {
	replace := func(n *node, after string) {
		if n.text != after {
			hidden = append(hidden, pair{n.path, n.text, after})
			n.text = after
		}
	}
	n.walk(keys, func(keys []string, n *node) {
		if n.kind == listNode && commandAt(keys) {
			for i, word := range secret.Words(n.words()) {
				replace(n.items[i], word)
			}
		}
		switch {
		case n.kind != scalarNode:
		case secretAt(keys):
			replace(n, secret.Masked(n.text))
		default:
			replace(n, secret.Text(n.text))
		}
	})
	return hidden
}

// hiddenSource is the text of a file without secrets. Their places in the text are not known
// exactly, as YAML has several forms of one value: the result is the text with the values
// replaced if it reads as the tree without secrets, and that tree as YAML otherwise.
func hiddenSource(text string) string {
	tree := readTree(&problems{}, 0, []byte(text))
	if tree == nil || tree.kind != mapNode {
		return text
	}
	pairs := tree.hide(nil)
	if len(pairs) == 0 {
		return text
	}
	want := string(tree.yaml())
	if replaced := replaceIn(text, pairs); readsAs(replaced, want) {
		return replaced
	}
	return want
}

// replaceIn replaces values in a text, as they are or as quoted scalars, the longest first:
// one may begin another.
func replaceIn(text string, pairs []pair) string {
	all := slices.Clone(pairs)
	for _, p := range pairs {
		all = append(all, pair{before: strconv.Quote(p.before), after: strconv.Quote(p.after)},
			pair{before: "'" + strings.ReplaceAll(p.before, "'", "''") + "'", after: strconv.Quote(p.after)})
	}
	slices.SortStableFunc(all, func(a, b pair) int { return cmp.Compare(len(b.before), len(a.before)) })
	var words []string
	for _, p := range all {
		words = append(words, p.before, p.after)
	}
	return strings.NewReplacer(words...).Replace(text)
}

// readsAs reports whether a file's text has the tree that this YAML is of.
func readsAs(text, yaml string) bool {
	tree := readTree(&problems{}, 0, []byte(text))
	return tree != nil && tree.kind == mapNode && string(tree.yaml()) == yaml
}

// hiddenSet is a text of --set without secrets. It may be a wrong one: a name of a secret
// counts below any key.
func hiddenSet(text string) string {
	path, value, ok := strings.Cut(text, "=")
	if !ok {
		return text
	}
	keys := strings.Split(strings.TrimSpace(path), ".")
	tree := readTree(&problems{}, 0, []byte(value))
	named := secretAt(keys) || secret.Variable(last(keys))
	switch {
	case named && (tree == nil || tree.kind == scalarNode):
		return path + "=" + secret.Masked(value)
	case tree == nil:
		return path + "=" + secret.Text(value)
	case len(tree.hide(keys)) == 0:
		return text
	}
	return path + "=" + tree.flow()
}

// hiddenMessage is an error about the value at a path without the secrets that were hidden.
func hiddenMessage(path, text string, hidden []pair) string {
	var all []string
	for _, p := range hidden {
		all = append(all, p.before)
		if p.path == path && p.before != "" {
			text = strings.ReplaceAll(text, p.before, secret.Mask)
			text = strings.ReplaceAll(text, strings.Trim(strconv.Quote(p.before), `"`), secret.Mask)
		}
	}
	return secret.Text(secret.Scrub(all)(text))
}

// hide removes the secrets of a valid experiment from what is shown of it.
func (d *decoder) hide() {
	e := d.out
	given := experiment.Given{Source: e.Source, Sets: e.Sets}
	e.Source, e.Sets = hiddenSource(e.Source), nil
	for _, set := range given.Sets {
		e.Sets = append(e.Sets, hiddenSet(set))
	}
	if e.Source != given.Source || !slices.Equal(e.Sets, given.Sets) {
		e.Given = &given
	}
}

// checkSecretsOfVary refuses secrets among the values of vary, and secrets that are made of
// them: the labels of cells have these values.
func (d *decoder) checkSecretsOfVary() {
	d.root.walk(nil, func(keys []string, n *node) {
		refuse := func(value string) string {
			d.refuseVaried(n, value)
			return value
		}
		word := len(keys) > 1 && commandAt(keys[:len(keys)-1]) // looked at with its list
		switch {
		case n.kind == listNode && commandAt(keys):
			words := n.words()
			secret.ReplaceWords(words, func(value string) string {
				at := slices.IndexFunc(words, func(word string) bool { return strings.Contains(word, value) })
				d.refuseVaried(n.items[max(0, at)], value)
				return value
			})
		case n.kind != scalarNode || n.bad || word:
		case keys[0] == "vary" && secret.Text(n.text) != n.text:
			d.wrong(n, "the labels of cells show the values of vary, and this one has a secret; write a service for each of them")
		case secretAt(keys):
			refuse(n.text)
		default:
			secret.Replace(n.text, refuse)
		}
	})
}

// refuseVaried refuses a secret that is made of values of vary.
func (d *decoder) refuseVaried(n *node, value string) {
	parts, _ := experiment.Segments(value) // one that is wrong is reported elsewhere
	for _, name := range experiment.NamesIn(parts) {
		if d.root.child("vary").child(name).given() {
			d.wrong(n, "it is a secret by its name, and the labels of cells show ${%s}, of vary; write a service for each value, or {public: ...} for a value that may be shown", name)
			return
		}
	}
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
	tree.hide(nil)
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
