package file

import (
	"reflect"
	"slices"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/spelling"
)

// builtins are their names in a file.
var builtins = []string{experiment.MongoDB, experiment.Neighbour, experiment.Postgres}

// spellDatabases writes the short form of a dependency, a built-in database's name
// alone, as the map that it stands for.
func spellDatabases(root *node) {
	for _, service := range root.child("services").entries {
		items := service.value.child("dependencies").items
		for i, item := range items {
			if item.kind == scalarNode {
				items[i] = item.spelled("name")
			}
		}
	}
}

// dependency reads a dependency, which needs no program if it is a built-in
// database.
func (d *decoder) dependency(n *node, f *field, v reflect.Value) bool {
	own := n.child("command").given() || n.child("image").given() || n.child("url").given()
	if d.cell == nil && n.kind == mapNode && !own {
		f.free = d.checkBuiltin(n)
	}
	return d.structure(n, f, v)
}

// checkBuiltin checks the name of a dependency without a command, an image and a
// url. It returns false if the missing keys are the error to report.
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
	d.add(e.value.at, "", "dependency %q: Millicore has none of this name; %s (or set command, image or url)", name, spelling.Hint(name, "built-in dependencies", builtins))
	return true
}

// builtin is the built-in database that a dependency stands for; "" if it has a
// command, an image or a url.
func builtin(n *node) string {
	name := n.child("name").text
	if n.child("command").kind == listNode || n.child("image").given() || n.child("url").given() || !slices.Contains(builtins, name) {
		return ""
	}
	return name
}
