package file

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/spelling"
)

// The file's shape is the types of document.go. Decoder and schema walk the same
// types by the same table of fields, so that they cannot disagree on a key.

// field is one key of a map with known keys, from the tags of a struct's field:
//
//	yaml:"cpu"           the key; ",required" if it must be there, ",one" if
//	                     exactly one of the keys so marked must be there;
//	                     ",stands" if the key may replace those
//	doc:"…"              a sentence for editors
//	default:"5s"         what an absent or null key stands for
//	search:"3s"          the same where the file has load.find
//	enum:"own,host"      the words that the value may be; noun:"method" is what
//	                     errors call such a word
//	or:"mix"             another key that may be there in place of a required one
//
// The fields of an embedded struct count as the struct's own.
type field struct {
	index    []int // as of reflect's FieldByIndex
	key      string
	doc      string
	fallback string
	search   string // fallback in a search; "": as always
	enum     *vocabulary
	required bool
	or       string
	one      bool
	stands   bool
}

// vocabulary is the words of an enum tag.
type vocabulary struct {
	words []string
	noun  string // what a word is: "method"
}

func vocabularyOf(tag reflect.StructTag) *vocabulary {
	words := tag.Get("enum")
	if words == "" {
		return nil
	}
	return &vocabulary{strings.Split(words, ","), tag.Get("noun")}
}

// check refuses other words. Of nil it refuses none.
func (v *vocabulary) check(text string) error {
	switch {
	case v == nil || slices.Contains(v.words, text):
		return nil
	case v.noun == "":
		return fmt.Errorf("unknown word %q; %s", text, spelling.Hint(text, "valid words", v.words))
	}
	return fmt.Errorf("unknown %s %q; %s", v.noun, text, spelling.Hint(text, v.noun+"s", v.words))
}

func (v *vocabulary) pattern() string { return "^(" + strings.Join(v.words, "|") + ")$" }

var fieldTables sync.Map // reflect.Type -> []field

func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldTables.Load(t); ok {
		return known.([]field)
	}
	var all []field
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		key, option, _ := strings.Cut(tag.Get("yaml"), ",")
		if key == "" {
			if in := t.Field(i).Type; t.Field(i).Anonymous && in.Kind() == reflect.Struct {
				for _, f := range fieldsOf(in) {
					f.index = append([]int{i}, f.index...)
					all = append(all, f)
				}
			}
			continue
		}
		all = append(all, field{
			index:    []int{i},
			key:      key,
			doc:      tag.Get("doc"),
			fallback: tag.Get("default"),
			search:   tag.Get("search"),
			enum:     vocabularyOf(tag),
			required: option == "required",
			or:       tag.Get("or"),
			one:      option == "one",
			stands:   option == "stands",
		})
	}
	fieldTables.Store(t, all)
	return all
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for _, f := range fieldsOf(t) {
		keys = append(keys, f.key)
	}
	return keys
}

// decoded is a type of the shape that reads itself; structs without the method
// and slices are read by decoder.value. n is nil or of the kind null where
// nothing was given.
type decoded interface {
	decode(d *decoder, n *node, s slot)
}

// slot is the position of a value in the shape.
type slot struct {
	path     string // "limits.cpu"
	fallback string
	enum     *vocabulary // nil: the kind alone says what is valid
	around   place       // of the map that the key is, or would be, in
	free     bool        // none of the keys of which one must be there need be there
}

func (s slot) child(key string) slot {
	if s.path == "" {
		return slot{path: key, around: s.around}
	}
	return slot{path: s.path + "." + key, around: s.around}
}

// section is embedded in a struct that wants to know where its map was written.
type section struct {
	at    place
	given bool
}

func (s *section) written(at place) { s.at, s.given = at, true }

// optional is a section that may be null although it has required keys: null is
// an absent key then.
type optional struct{ section }

func (*optional) absentIfNull() {}

// scalar is a single value of the file before its text is read.
type scalar struct {
	slot
	at    place // around it where nothing was written
	text  string
	given bool // written, and not null
	null  bool // written as null
	bad   bool // written, and not what it should be; reported
	parts []experiment.Segment
}

func (s *scalar) decode(d *decoder, n *node, at slot) {
	s.slot, s.at = at, at.around
	if n == nil {
		return
	}
	s.at = n.at
	switch n.kind {
	case nullNode:
		s.null = true
	case scalarNode:
		s.given, s.text = true, n.text
	default:
		s.bad = true
		d.problems.add(n.at, s.path, "want a single value, not %s", n.what())
	}
}

// present reports whether the key was written, if only with null.
func (s *scalar) present() bool { return s.given || s.null || s.bad }

// names are the names in the text's ${}.
func (s *scalar) names() []string {
	var all []string
	for _, p := range s.parts {
		if p.Name != "" {
			all = append(all, p.Name)
		}
	}
	return all
}

// fixed is a scalar that is the same in every cell.
type fixed[K kind[T], T any] struct {
	scalar
	value T // the fallback's where nothing was given
}

func (f *fixed[K, T]) decode(d *decoder, n *node, at slot) {
	f.scalar.decode(d, n, at)
	text := f.text
	if !f.given {
		text = f.fallback
	}
	if f.bad || text == "" && !f.given {
		return
	}
	parts, err := experiment.Segments(text)
	f.parts = parts
	if names := f.names(); err != nil || len(names) > 0 {
		f.bad = true
		// A name in the wrong place is not also unused, or unknown.
		for _, name := range names {
			d.references = append(d.references, reference{name: name, path: f.path, at: f.at, late: true})
		}
		d.problems.add(f.at, f.path, "${…} is replaced only under env, command, actions, limits and load, but for load.find")
		return
	}
	value, err := readAs[K, T](&f.slot, expandLetters(parts))
	if err != nil {
		f.bad = true
		d.problems.add(f.at, f.path, "%v", err)
	}
	f.value = value
}

// readAs reads a text as its kind, and as one of the words of the field's enum.
func readAs[K kind[T], T any](at *slot, text string) (value T, err error) {
	if err := at.enum.check(text); err != nil {
		return value, err
	}
	var reader K
	return reader.read(text)
}

// literal is a text in which ${ means nothing.
type literal struct{ scalar }

// varied is a scalar that may hold ${name}, and so has its value in a cell only.
type varied[K kind[T], T any] struct{ scalar }

func (v *varied[K, T]) decode(d *decoder, n *node, at slot) {
	v.scalar.decode(d, n, at)
	v.split(d, false)
	if !v.given || len(v.names()) > 0 {
		return
	}
	// Without a name it is wrong in every cell, and also where no cell reads it.
	if _, err := readAs[K, T](&v.slot, expandLetters(v.parts)); err != nil {
		v.given, v.bad = false, true
		d.problems.add(v.at, v.path, "%v", err)
	}
}

// launched is a varied text that the platform expands a second time, when it
// knows ${port} and the dependencies' addresses.
type launched struct{ scalar }

func (l *launched) decode(d *decoder, n *node, at slot) {
	l.scalar.decode(d, n, at)
	l.split(d, true)
}

// split finds the names in the text, and notes for which services they are used.
func (s *scalar) split(d *decoder, late bool) {
	if !s.given {
		return
	}
	parts, err := experiment.Segments(s.text)
	if late && strings.ContainsRune(s.text, 0) {
		err = fmt.Errorf("%q holds a zero byte, which no program can be given", s.text)
	}
	if err != nil {
		s.given, s.bad = false, true
		d.problems.add(s.at, s.path, "%v", err)
		return
	}
	s.parts = parts
	for _, name := range s.names() {
		d.references = append(d.references, reference{name: name, path: s.path, at: s.at, late: late})
	}
}

// mapping is a map whose keys are names, in the file's order.
type mapping[K kind[string], T any] struct {
	at      place
	given   bool
	entries []named[T]
}

type named[T any] struct {
	name  string
	at    place
	value T
}

func (m *mapping[K, T]) decode(d *decoder, n *node, at slot) {
	if n == nil || n.kind == nullNode {
		return
	}
	m.at, m.given = n.at, true
	if n.kind != mapNode {
		d.problems.add(n.at, at.path, "want a map of names, not %s", n.what())
		return
	}
	var reader K
	for _, e := range n.entries {
		if _, err := reader.read(e.key); err != nil {
			d.problems.add(e.at, at.path, "%v", err)
			continue
		}
		one := named[T]{name: e.key, at: e.at}
		d.value(e.value, at.child(e.key), reflect.ValueOf(&one.value).Elem())
		m.entries = append(m.entries, one)
	}
}
