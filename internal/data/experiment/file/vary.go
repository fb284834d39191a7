package file

import (
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/spelling"
)

// readVary checks the axes and puts them into the experiment.
func (d *decoder) readVary() {
	for _, one := range d.doc.Vary {
		if len(one.node.items) == 0 && !one.node.bad {
			d.add(one.at, "", "vary.%s has no values; write them as a list, as in [1, 2, null]", one.name)
		}
		seen := make(map[varyValue]place)
		for _, n := range one.node.items {
			d.checkValue(one.name, n)
			value := varyValue{text: n.text, null: !n.given()}
			if before, twice := seen[value]; twice && !n.bad {
				d.report(n, "duplicate value %s; the first is at %s", value, before)
			}
			seen[value] = n.at
		}
		d.out.Vary = append(d.out.Vary, experiment.Axis{Name: one.name, Values: one.value})
	}
}

// checkValue refuses a value that cannot be part of every text.
func (d *decoder) checkValue(name string, n *node) {
	switch {
	case strings.ContainsRune(n.text, 0):
		d.report(n, "%q contains a zero byte, which cannot be passed to a program", n.text)
	case strings.Contains(n.text, "${") || strings.HasSuffix(n.text, "$"):
		d.report(n, "%q contains ${ or ends in $, but names in a value are not replaced; write it instead of ${%s}", n.text, name)
	}
}

// reference is one ${name} in the file.
type reference struct {
	name string
	node *node // the text that holds it
	late bool  // stands where the platform's names are known too
}

// usedBy reports whether a service's cells depend on the reference. They depend on
// the service's own fields, and on load and limits, which all services share, except
// for limits that the service overrides.
func (r reference) usedBy(s *named[service]) bool {
	if key, ok := strings.CutPrefix(r.node.path, "limits."); ok {
		return s.node.child("limits").child(key).absent
	}
	return strings.HasPrefix(r.node.path, "load.") || strings.HasPrefix(r.node.path, s.node.path+".")
}

// checkReferences finds names that nothing defines, outside the texts that the
// platform expands (see checkLate), and varied names that nothing uses.
func (d *decoder) checkReferences() {
	names := d.varied()
	for _, ref := range d.references {
		switch {
		case ref.late || slices.Contains(names, ref.name):
		case slices.Contains(d.keysOfVary(), ref.name): // its values are invalid, which is reported
		case ref.name == "port" || strings.Contains(ref.name, "."):
			d.report(ref.node, "${%s} is known only in command and env", ref.name)
		default:
			d.report(ref.node, "unknown name ${%s}; %s", ref.name, spelling.Hint(ref.name, "varied names", names))
		}
	}
	if d.misspelt {
		return // the use may stand under the key that is not known
	}
	for _, axis := range d.doc.Vary {
		used := slices.ContainsFunc(d.references, func(ref reference) bool {
			meant := ref.name
			if !slices.Contains(names, meant) {
				meant = spelling.Nearest(meant, names) // a misspelt name was reported
			}
			return meant == axis.name && !d.overruled(ref)
		})
		if !used {
			d.add(axis.at, "", "vary.%s is not used; write ${%s} under env, command, actions, limits or load, or leave it out", axis.name, axis.name)
		}
	}
}

// overruled reports whether all services override the limit of the reference.
func (d *decoder) overruled(ref reference) bool {
	return strings.HasPrefix(ref.node.path, "limits.") && len(d.doc.Services) > 0 &&
		!slices.ContainsFunc(d.doc.Services, func(s named[service]) bool { return ref.usedBy(&s) })
}

// keysOfVary are the keys of vary, valid or not.
func (d *decoder) keysOfVary() []string {
	var keys []string
	for _, e := range d.root.child("vary").entries {
		keys = append(keys, e.key)
	}
	return keys
}

// varied are the names in vary.
func (d *decoder) varied() []string {
	var names []string
	for _, axis := range d.doc.Vary {
		names = append(names, axis.name)
	}
	return names
}

// axesOf are the axes that a service's cells run along.
func (d *decoder) axesOf(s *named[service]) []named[[]*string] {
	var all []named[[]*string]
	for _, one := range d.doc.Vary {
		used := slices.ContainsFunc(d.references, func(ref reference) bool {
			return ref.name == one.name && ref.usedBy(s)
		})
		if used && len(one.node.items) > 0 {
			all = append(all, one)
		}
	}
	return all
}
