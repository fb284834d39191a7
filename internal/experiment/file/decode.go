package file

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/experiment/spelling"
)

// decoder reads nodes into the types of document.go and reports what does not fit.
type decoder struct {
	problems   *problems
	references []reference
	searching  bool // the file has load.find, so that some keys have another fallback
	benchmark  bool // the file has load.benchmark, so that nothing is sent
	misspelt   bool // a key was not known
}

// reference is one ${name} in the file.
type reference struct {
	name string
	path string // of the text that holds it
	at   place
	late bool // stands where the platform's names are known too
}

// usedBy reports whether a service's cells depend on the reference: its own
// fields, and those under load and limits, which all services share, but for
// the limits that it has its own of.
func (r reference) usedBy(s *named[service]) bool {
	if key, ok := strings.CutPrefix(r.path, "limits."); ok {
		return !s.value.Limits.has(key)
	}
	return strings.HasPrefix(r.path, "load.") || strings.HasPrefix(r.path, "services."+s.name+".")
}

// value reads n into v, a value of one of the shape's types.
func (d *decoder) value(n *node, at slot, v reflect.Value) {
	if own, ok := v.Addr().Interface().(decoded); ok {
		own.decode(d, n, at)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(n, at, v)
	case reflect.Slice:
		d.list(n, at, v)
	default:
		panic("experiment file: no decoder for " + v.Type().String())
	}
}

func (d *decoder) list(n *node, at slot, v reflect.Value) {
	if n == nil || n.kind == nullNode {
		return
	}
	if n.kind != listNode {
		example := "- " + n.text
		if n.kind != scalarNode {
			example = "- …"
		}
		d.problems.add(n.at, at.path, "want a list (%s), not %s", listExample(n, example), n.what())
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
	for i, item := range n.items {
		d.value(item, slot{path: fmt.Sprintf("%s[%d]", at.path, i), around: item.at}, v.Index(i))
	}
}

// listExample shows the words of a single text as the list that was meant.
func listExample(n *node, otherwise string) string {
	words := strings.Fields(n.text)
	if n.kind != scalarNode || len(words) == 0 || strings.ContainsAny(n.text, "\"'\\") {
		return otherwise
	}
	for i, w := range words {
		if strings.ContainsAny(w, ",[]{}:#&*!|>%@`") {
			words[i] = `"` + w + `"`
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// structure reads a map with known keys. Fields that own a decoder are called
// for absent keys too, so that they know their path and their fallback.
func (d *decoder) structure(n *node, at slot, v reflect.Value) {
	fields := fieldsOf(v.Type())
	if _, ok := v.Addr().Interface().(interface{ absentIfNull() }); ok && n != nil && n.kind == nullNode {
		n = nil
	}
	if n != nil && n.kind != mapNode && n.kind != nullNode {
		d.problems.add(n.at, at.path, "want a map with the keys %s, not %s", enumerate(keysOf(v.Type()), "and"), n.what())
		n = nil
	}
	if n != nil && n.kind == mapNode {
		if s, ok := v.Addr().Interface().(interface{ written(place) }); ok {
			s.written(n.at)
		}
	}
	if n != nil {
		at.around = n.at
	}
	unknown := n == nil || d.unknownKeys(n, at, v.Type())
	for _, f := range fields {
		var value *node
		if n != nil {
			if e := n.entry(f.key); e != nil {
				value = e.value
			}
		}
		child := at.child(f.key)
		child.fallback, child.enum = f.fallback, f.enum
		if d.searching && f.search != "" {
			child.fallback = f.search
		}
		d.value(value, child, v.FieldByIndex(f.index))
	}
	// A key that was misspelt is not also missing.
	if !unknown {
		d.missing(n, at, fields)
	}
}

func (d *decoder) unknownKeys(n *node, at slot, t reflect.Type) bool {
	keys, found := keysOf(t), false
	for _, e := range n.entries {
		if slices.Contains(keys, e.key) {
			continue
		}
		found, d.misspelt = true, true
		d.problems.add(e.at, "", "unknown key %q; %s", e.key, keyHint(e.key, at, keys))
	}
	return found
}

// keyHint says which key was meant: one nearby, one of another section, or all.
func keyHint(key string, at slot, keys []string) string {
	if near := spelling.Nearest(key, keys); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	for _, f := range fieldsOf(reflect.TypeFor[document]()) {
		section := reflect.TypeFor[document]().FieldByIndex(f.index).Type
		if section.Kind() == reflect.Struct && f.key != at.path && slices.Contains(keysOf(section), key) {
			return fmt.Sprintf("it belongs under %q", f.key)
		}
	}
	where := "valid keys"
	if at.path != "" {
		where += " in " + at.path
	}
	return where + ": " + strings.Join(keys, ", ")
}

// needed reports a required key that is missing without its alternative, or
// given together with it.
func (d *decoder) needed(n *node, at slot, f field, given bool) {
	instead := n.entry(f.or)
	other := f.or != "" && instead != nil && instead.value.kind != nullNode
	switch {
	case other && instead.value.empty():
		d.problems.add(instead.value.at, "", "%s is empty", at.child(f.or).path)
	case given && other:
		d.problems.add(later(n.entry(f.key).changed(), n.entry(f.or).changed()), at.path, "%s and %s exclude one another; keep one", f.key, f.or)
	case !given && !other:
		d.problems.add(n.at, "", "%s is missing", at.child(f.key).path)
	}
}

func (d *decoder) missing(n *node, at slot, fields []field) {
	var choices, chosen []string
	var last place
	standing := ""      // the chosen one that was written before the last
	replaced := at.free // by a key that may replace the choices
	for _, f := range fields {
		e := n.entry(f.key)
		given := e != nil && e.value.kind != nullNode
		if f.required {
			d.needed(n, at, f, given)
		}
		if (f.required || f.one) && given && e.value.empty() {
			d.problems.add(e.value.at, "", "%s is empty", at.child(f.key).path)
		}
		replaced = replaced || f.stands && given
		if f.one {
			choices = append(choices, f.key)
			if given {
				chosen = append(chosen, f.key)
				if standing == "" || e.changed().set < last.set {
					standing = f.key
				}
				last = later(last, e.changed())
			}
		}
	}
	switch {
	case len(choices) == 0 || len(chosen) == 1:
	case len(chosen) == 0 && replaced:
	case len(chosen) == 0:
		d.problems.add(n.at, at.path, "one of %s is missing", choice(choices))
	default:
		advice := "keep one"
		if last.set > 0 {
			advice = fmt.Sprintf("set what the file has to null, as in --set %s=null", at.child(standing).path)
		}
		d.problems.add(last, at.path, "%s exclude one another; %s", enumerate(chosen, "and"), advice)
	}
}
