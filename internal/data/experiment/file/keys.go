package file

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/experiment/spelling"
)

// Mistakes in the keys of a map.

// quantileKey is a key that names a quantile: the nearest one is not what was meant.
var quantileKey = regexp.MustCompile(`^p\d+$`)

// keyHint suggests a key with a similar name, the section of the key, or all keys.
func keyHint(key, path string, keys []string) string {
	switch {
	case path == "load" && slices.Contains(keysOf(fieldsOf(reflect.TypeFor[course]())), key):
		return fmt.Sprintf("write it under rate or users, as in rate: {%s: ...}", key)
	case path == "objective" && quantileKey.MatchString(key):
		return "use p50, p90, p95, p99 or p999"
	}
	if near := spelling.Nearest(key, keys); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	for _, f := range fieldsOf(reflect.TypeFor[document]()) {
		if f.typ.Kind() == reflect.Struct && f.key != path && slices.Contains(keysOf(f.below(f.typ)), key) {
			return fmt.Sprintf("it belongs under %q", f.key)
		}
	}
	where := "valid keys"
	if path != "" {
		where += " in " + path
	}
	return where + ": " + strings.Join(keys, ", ")
}

// missing reports required keys that a map lacks, and keys that exclude one another.
func (d *decoder) missing(n *node, f *field, fields []field) bool {
	before := len(d.problems.list)
	var choices []string
	var chosen []*entry
	for i := range fields {
		one := &fields[i]
		e := n.entry(one.key)
		given := e != nil && e.value.given()
		if one.required {
			d.needed(n, one, given)
		}
		if (one.required || one.one) && given && e.value.empty() {
			d.add(e.value.at, "", "%s is empty", e.value.path)
		}
		if one.one {
			choices = append(choices, one.key)
			if given && !(one.with != "" && n.child(one.with).given()) {
				chosen = append(chosen, e)
			}
		}
	}
	switch {
	case len(choices) == 0 || len(chosen) == 1:
	case len(chosen) > 1:
		d.exclusive(n, chosen)
	case !f.free:
		d.report(n, "one of %s is missing", phrase.Choice(choices))
	}
	return len(d.problems.list) > before
}

// needed reports a required key that is missing without its alternative, or
// given together with it.
func (d *decoder) needed(n *node, f *field, given bool) {
	instead := n.entry(f.or)
	other := f.or != "" && instead != nil && instead.value.given()
	switch {
	case other && instead.value.empty():
		d.add(instead.value.at, "", "%s is empty", instead.value.path)
	case given && other:
		d.add(later(n.entry(f.key).changed(), instead.changed()), n.path, "%s and %s exclude one another; keep one", f.key, f.or)
	case !given && !other:
		d.add(n.at, "", "%s is missing", join(n.path, f.key))
	}
}

// exclusive reports keys of which only one may be given.
func (d *decoder) exclusive(n *node, chosen []*entry) {
	var keys []string
	var last place
	standing := chosen[0] // written before the last
	for _, e := range chosen {
		keys = append(keys, e.key)
		if e.changed().set < last.set {
			standing = e
		}
		last = later(last, e.changed())
	}
	advice := "keep one"
	if last.set > 0 {
		advice = fmt.Sprintf("set what the file has to null, as in --set %s=null", standing.value.path)
	}
	d.add(last, n.path, "%s exclude one another; %s", phrase.List(keys), advice)
}

// unknownKeys reports keys that no field declares.
func (d *decoder) unknownKeys(n *node, fields []field) bool {
	keys, found := keysOf(fields), false
	for _, e := range n.entries {
		if !slices.Contains(keys, e.key) {
			found, d.misspelt = true, true
			d.add(e.at, "", "unknown key %q; %s", e.key, keyHint(e.key, n.path, keys))
		}
	}
	return found
}
