package file

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
)

// field is the declaration of one key, by the tags of a struct's field. The
// decoder, the schema and --set walk the same declarations, so that they cannot
// disagree on a key.
//
//	yaml:"cpu"           the key; ",required" if it must be there, ",one" if
//	                     exactly one of the keys so marked must be there,
//	                     ",inline" if the keys of the struct are keys of its
//	                     parent
//	doc:"…"              a sentence for editors
//	default:"5s"         what an absent or null key stands for
//	search:"3s"          the same in a file with load.find
//	kind:"cpu"           the kind of a single value (see kinds), or of the values
//	                     in a list or a map; the default follows from the type
//	enum:"own,host"      the valid words; noun:"method" is the name of such a word
//	                     in errors. A bool is true for the last word
//	keys:"envName"       the kind of a map's keys
//	names:"cell"         the meaning of ${name} (see names), also below the key
//	with:"image"         a key that may be there beside this one of those marked one
//	or:"mix"             another key that may replace a required one
//	optional:"yes"       if the required key is the name of a null, the item of the
//	                     list is left out
//	without:"weight"     keys of the struct that are not valid here
//	defaults:"cpu=250m"  defaults of keys of the struct
//
// The fields of an embedded struct count as the struct's own.
type field struct {
	index    []int // as of reflect's FieldByIndex
	typ      reflect.Type
	key      string
	doc      string
	kind     *kind
	keys     *kind
	names    names
	fallback string
	search   string // fallback in a search; "": as always
	required bool
	or       string
	one      bool
	with     string
	optional bool
	without  []string
	defaults string
	list     bool // an item of a list
	free     bool // the struct may have none of its keys of which one is required
}

// names is the meaning of ${name} in a text.
type names string

const (
	inherited    names = ""        // as in the parent
	noNames      names = "no"      // an error
	lettersNames names = "letters" // plain letters
	cellNames    names = "cell"    // a varied name
	lateNames    names = "late"    // a varied name, or one that the platform knows when it starts the service
)

// varies reports whether the text may differ from cell to cell.
func (f *field) varies() bool { return f.names == cellNames || f.names == lateNames }

var fieldTables sync.Map // reflect.Type -> []field

// fieldsOf are the keys that a struct declares.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldTables.Load(t); ok {
		return known.([]field)
	}
	var all []field
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		key, option, _ := strings.Cut(tag.Get("yaml"), ",")
		if option == "inline" || key == "" && t.Field(i).Anonymous {
			for _, f := range fieldsOf(t.Field(i).Type) {
				f.index = append([]int{i}, f.index...)
				all = append(all, f)
			}
			continue
		}
		if key == "" {
			continue
		}
		f := field{
			index:    []int{i},
			typ:      t.Field(i).Type,
			key:      key,
			doc:      tag.Get("doc"),
			kind:     kindOf(t.Field(i).Type, tag),
			names:    names(tag.Get("names")),
			fallback: tag.Get("default"),
			search:   tag.Get("search"),
			required: option == "required",
			or:       tag.Get("or"),
			one:      option == "one",
			with:     tag.Get("with"),
			optional: tag.Get("optional") != "",
			without:  strings.Split(tag.Get("without"), ","),
			defaults: tag.Get("defaults"),
		}
		if keys := tag.Get("keys"); keys != "" {
			f.keys = kindNamed(keys)
		}
		all = append(all, f)
	}
	fieldTables.Store(t, all)
	return all
}

// kindOf is the kind of the single values of a field: its own, or those of a
// list or a map.
func kindOf(t reflect.Type, tag reflect.StructTag) *kind {
	if words := tag.Get("enum"); words != "" {
		return oneOf(tag.Get("noun"), strings.Split(words, ","))
	}
	if name := tag.Get("kind"); name != "" {
		return kindNamed(name)
	}
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return kindNamed("duration")
	case t.Kind() == reflect.String:
		return kindNamed("text")
	case t.Kind() == reflect.Bool:
		return kindNamed("truth")
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		return kindNamed("count")
	}
	return kindNamed("level") // of a target; structs have no kind
}

// kindNamed panics if there is no such kind, which every test that builds the
// schema finds.
func kindNamed(name string) *kind {
	k, ok := kinds[name]
	if !ok {
		panic("experiment file: no kind " + name)
	}
	return k
}

// below are the keys of a struct that the field holds.
func (f *field) below(t reflect.Type) []field {
	var all []field
	for _, one := range fieldsOf(t) {
		if slices.Contains(f.without, one.key) {
			continue
		}
		if one.names == inherited {
			one.names = f.names
		}
		for fallback := range strings.SplitSeq(f.defaults, ",") {
			if key, value, _ := strings.Cut(fallback, "="); key == one.key {
				one.fallback = value
			}
		}
		all = append(all, one)
	}
	return all
}

// element is the declaration of what is in a list or a map.
func (f *field) element(t reflect.Type) field {
	return field{key: f.key, typ: t, kind: f.kind, keys: f.keys, names: f.names}
}

// refers reports whether the values of a map may be references: the variables of an env.
func (f *field) refers() bool { return f.keys != nil && f.keys == kindNamed("envName") }

// shape is what may lie below the field: known keys, or the items of a list or
// the values of a map. Below a single value there is nothing.
func (f *field) shape() (fields []field, element *field) {
	t := f.typ
	switch t {
	case reflect.TypeFor[*experiment.Target]():
		t = reflect.TypeFor[course]()
	case reflect.TypeFor[experiment.Selector](), reflect.TypeFor[*experiment.Selector]():
		t = reflect.TypeFor[map[string]*string]()
	case reflect.TypeFor[mapping[service]]():
		t = reflect.TypeFor[map[string]service]()
	case reflect.TypeFor[mapping[[]*string]]():
		t = reflect.TypeFor[map[string][]*string]()
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		return f.below(t), nil
	case reflect.Slice, reflect.Map:
		one := f.element(t.Elem())
		one.list = t.Kind() == reflect.Slice
		return nil, &one
	}
	return nil, nil
}

// single reports whether the field is a single value.
func (f *field) single() bool {
	fields, element := f.shape()
	return fields == nil && element == nil
}

func keysOf(fields []field) []string {
	var keys []string
	for i := range fields {
		keys = append(keys, fields[i].key)
	}
	return keys
}

// fieldOf is the declaration of one of the keys of the whole file.
func fieldOf(key string) field {
	root := field{typ: reflect.TypeFor[document](), names: noNames}
	all := root.below(root.typ)
	return all[slices.Index(keysOf(all), key)]
}
