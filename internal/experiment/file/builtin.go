package file

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/spelling"
)

// builtins are their names in a file.
var builtins = []string{experiment.MongoDB, experiment.Postgres}

// decode also takes the short form, a built-in database's name alone.
func (dep *dependency) decode(d *decoder, n *node, at slot) {
	if n != nil && n.kind == scalarNode {
		n = n.spelled("name")
	}
	if n != nil && n.kind == mapNode && !n.has("command") && !n.has("image") && !n.has("url") {
		at.free = d.checkBuiltin(n)
	}
	type plain dependency
	d.structure(n, at, reflect.ValueOf((*plain)(dep)).Elem())
}

// checkBuiltin checks the name of a dependency without a command, an image and a
// url. It returns false where the missing keys are to be reported instead.
func (d *decoder) checkBuiltin(n *node) bool {
	e := n.entry("name")
	if e == nil || e.value.kind != scalarNode {
		return false
	}
	name := e.value.text
	if slices.Contains(builtins, name) {
		return true
	}
	short := len(n.entries) == 1 && e.at == e.value.at
	if near := spelling.Nearest(name, builtins); near == "" && !short {
		return false
	}
	d.problems.add(e.value.at, "", "dependency %q: no built-in database has this name; %s (or give a command, an image or a url)", name, spelling.Hint(name, "built-in databases", builtins))
	return true
}

// spelled is the map that a single value stands for.
func (n *node) spelled(key string) *node {
	return &node{kind: mapNode, at: n.at, entries: []*entry{{key: key, at: n.at, value: n}}}
}

// has reports whether a map has the key with a value.
func (n *node) has(key string) bool {
	e := n.entry(key)
	return e != nil && e.value.kind != nullNode
}

// below lets --set go into the short form.
func (dep *dependency) below() shape {
	return shape{fields: reflect.TypeFor[dependency](), short: "name"}
}

// builtin is the database that the dependency stands for; "" if it says itself
// what it is.
func (dep *dependency) builtin() string {
	if dep.Command != nil || dep.Image.given || dep.URL.given || !slices.Contains(builtins, dep.Name.value) {
		return ""
	}
	return dep.Name.value
}

// schema adds to that of the map the short form, and that a built-in database's
// name says what it is.
func (dep *dependency) schema() *jsonschema.Schema {
	var names []any
	for _, name := range builtins {
		names = append(names, name)
	}
	short := typed("string")
	short.Enum = names
	type plain dependency
	full := structSchema(reflect.TypeFor[plain]())
	named := alone("name", fieldsOf(reflect.TypeFor[plain]()))
	named.Properties.Set("name", &jsonschema.Schema{Enum: names})
	full.OneOf = append(full.OneOf, named)
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{short, full}}
}

// noneOf reports keys that do not go with what a dependency is.
func (d *decoder) noneOf(keys []givenKey, format string, args ...any) {
	for _, k := range keys {
		if k.given {
			d.problems.add(k.at, "", "%s; leave %s out", fmt.Sprintf(format, args...), k.key)
		}
	}
}

// givenKey is a key that may have been given.
type givenKey struct {
	key   string
	given bool
	at    place
}
