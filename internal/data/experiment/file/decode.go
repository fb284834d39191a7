package file

import (
	"reflect"
	"strings"

	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/experiment"
)

// decoder reads nodes into the types that declare the file. First it reads the file
// as a whole, in which a text with names has no value, and finds the mistakes that
// do not depend on a cell. Then it reads limits, services and load for each cell.
type decoder struct {
	*problems
	folder     string // of the file
	root       *node
	compose    Expand
	doc        document
	out        *experiment.Experiment
	wrote      *written // the file without --set; nil: nothing was set
	searching  bool     // the file has load.find: some keys have another fallback
	benchmark  bool     // the file has load.benchmark: nothing is sent
	misspelt   bool     // a key was unknown
	references []reference

	cell   *combination // nil: the file as a whole
	failed bool         // an error was reported in the section that is being read
	unsure bool         // an error was reported in the load of a cell
	late   []reference  // names in the cell's service that only the platform knows
}

// value reads n into v, a value of a type that declares it. n is nil where
// nothing was written. It reports whether there is a value.
func (d *decoder) value(n *node, f *field, v reflect.Value) bool {
	if n != nil && n.bad {
		d.failed = true
		return false
	}
	switch to := v.Addr().Interface().(type) {
	case ordered:
		to.decode(d, n, f)
		return true
	case *experiment.Dependency:
		return d.dependency(n, f, v)
	case *experiment.Load:
		return d.load(n, f, v)
	case **experiment.Target:
		return d.target(n, f, to)
	case *experiment.Selector:
		return d.selector(n, to)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if n == nil || !n.given() || d.isNull(n, f) {
			return true
		}
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(n, f, v.Elem())
	case reflect.Struct:
		return d.structure(n, f, v)
	case reflect.Slice:
		return d.list(n, f, v)
	case reflect.Map:
		return d.table(n, f, v)
	}
	return d.scalar(n, f, v)
}

// wants reports a node of another form than its declaration.
func (d *decoder) wants(n *node, format string, args ...any) bool {
	d.report(n, "expected "+format+", not %s", append(args, n.what())...)
	n.bad, d.failed = true, true
	return false
}

// list reads a list. Items that are null are left out, unless the type of the items
// is a pointer.
func (d *decoder) list(n *node, f *field, v reflect.Value) bool {
	if n == nil || !n.given() {
		return false
	}
	if n.kind != listNode {
		return d.wants(n, "a list (%s)", listExample(n))
	}
	element := f.element(v.Type().Elem())
	for _, item := range n.items {
		one := reflect.New(element.typ).Elem()
		if d.value(item, &element, one) {
			v.Set(reflect.Append(v, one))
		}
	}
	return true
}

// listExample suggests a list in place of another value: of a text, its words.
func listExample(n *node) string {
	if n.kind != scalarNode {
		return "- …"
	}
	words := strings.Fields(n.text)
	if len(words) == 0 || strings.ContainsAny(n.text, "\"'\\") {
		return "- " + n.text
	}
	for i, w := range words {
		if strings.ContainsAny(w, ",[]{}:#&*!|>%@`") {
			words[i] = `"` + w + `"`
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// table reads a map whose keys are names. Values that are null are left out.
func (d *decoder) table(n *node, f *field, v reflect.Value) bool {
	element := f.element(v.Type().Elem())
	d.eachName(n, f, func(e *entry) {
		one := reflect.New(element.typ).Elem()
		given := false
		if f.refers() && e.value.kind == mapNode {
			r := d.reference(e.value)
			given = public(e.value) && d.has(e.value.child(publicKey))
			one.SetString(r.Public)
		} else {
			given = d.value(e.value, &element, one)
		}
		if given {
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			v.SetMapIndex(reflect.ValueOf(e.key), one)
		}
	})
	return true
}

// publicKey is the key of a value that is shown.
const publicKey = "public"

// public reports whether a variable is stated as a value that is shown.
func public(n *node) bool { return n.child(publicKey).given() }

// publicNames are the variables of an env whose values are shown.
func publicNames(env *node) (all []string) {
	for _, e := range env.entries {
		if public(e.value) {
			all = append(all, e.key)
		}
	}
	return all
}

// envFrom are the variables of an env whose values are not in the file.
func (d *decoder) envFrom(env *node) map[string]experiment.Reference {
	var all map[string]experiment.Reference
	for _, e := range env.entries {
		if e.value.kind != mapNode || public(e.value) {
			continue
		}
		if all == nil {
			all = make(map[string]experiment.Reference)
		}
		all[e.key] = d.reference(e.value)
	}
	return all
}

func (d *decoder) reference(n *node) (r experiment.Reference) {
	d.value(n, &field{names: noNames}, reflect.ValueOf(&r).Elem())
	return r
}

// eachName visits the entries of a map whose keys are names.
func (d *decoder) eachName(n *node, f *field, visit func(*entry)) {
	if n == nil || !n.given() {
		return
	}
	if n.kind != mapNode {
		d.wants(n, "a map of names")
		return
	}
	for _, e := range n.entries {
		if _, err := f.keys.read(e.key); err == nil {
			visit(e)
		} else if d.cell == nil {
			d.add(e.at, n.path, "%v", err)
		}
	}
}

// mapping is a map whose keys are names, in the file's order.
type mapping[T any] []named[T]

// ordered is a mapping of any type.
type ordered interface {
	decode(d *decoder, n *node, f *field)
}

type named[T any] struct {
	name  string
	node  *node
	at    place // of the name
	value T
}

func (m *mapping[T]) decode(d *decoder, n *node, f *field) {
	element := f.element(reflect.TypeFor[T]())
	d.eachName(n, f, func(e *entry) {
		one := named[T]{name: e.key, node: e.value, at: e.at}
		d.value(e.value, &element, reflect.ValueOf(&one.value).Elem())
		*m = append(*m, one)
	})
}

// structure reads a map with known keys. Absent keys get their fallback.
func (d *decoder) structure(n *node, f *field, v reflect.Value) bool {
	fields := f.below(v.Type())
	if n != nil && n.given() && n.kind != mapNode {
		d.wants(n, "a map with the keys %s", phrase.List(keysOf(fields)))
		n = nil
	}
	for i := range fields {
		child, one := (*node)(nil), &fields[i]
		if n != nil {
			if e := n.entry(one.key); e != nil {
				child = e.value
			}
		}
		if one.optional && child != nil && d.isNull(child, one) {
			return false
		}
		d.value(child, one, v.FieldByIndex(one.index))
	}
	if n != nil && d.cell == nil {
		misspelt := d.unknownKeys(n, fields)
		before := len(d.problems.list)
		n.lacks = d.missing(n, f, fields)
		if misspelt { // a key that was misspelt is not also missing
			d.problems.list = d.problems.list[:before]
		}
	}
	d.failed = d.failed || n != nil && n.lacks
	return true
}

// scalar reads a single value.
func (d *decoder) scalar(n *node, f *field, v reflect.Value) bool {
	text, ok := d.text(n, f)
	if !ok {
		return false
	}
	value, err := f.kind.read(text)
	if err != nil {
		d.wrong(n, "%v", err)
		return false
	}
	if word, ok := value.(string); ok && v.Kind() == reflect.Bool {
		value = word == f.kind.words[len(f.kind.words)-1]
	}
	v.Set(reflect.ValueOf(value).Convert(v.Type()))
	return true
}
