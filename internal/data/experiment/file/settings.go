package file

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/span"
)

// Settings are the values of an experiment that a program builds from its
// flags, in the order in which they are set.
type Settings []setting

type setting struct {
	from  string
	path  string
	value any
}

// Raw is a text with the syntax of a file: it may have ${name} in it. Any other
// string is taken literally.
type Raw string

// Set appends the value of a field. path is the keys on the way, joined by dots.
// from is what the user wrote, such as the flag "-c": errors begin with it; it
// is empty for what the program sets itself.
//
// A value is nil for null, a single value (string, Raw, bool, an integer,
// float64, time.Duration), or a slice or a map of values with strings as keys.
func (s *Settings) Set(from, path string, value any) {
	*s = append(*s, setting{from, path, value})
}

// SetGiven sets a value, unless it is zero or empty.
func (s *Settings) SetGiven(from, path string, value any) {
	v := reflect.ValueOf(value)
	if !v.IsValid() || v.IsZero() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0 {
		return
	}
	s.Set(from, path, value)
}

// Build resolves an experiment without a file. Its Source is an equivalent file.
// name is the origin of what the program set, for errors; expand is as for ParseWith.
func Build(name string, settings Settings, expand Expand) (*experiment.Experiment, error) {
	p := &problems{file: name}
	root := &node{kind: mapNode}
	for _, s := range settings {
		at := p.setting(origin{words: s.from, path: s.path})
		value := nodeOf(s.value, at)
		if text, found := value.notUTF8(); found {
			p.add(at, s.path, "%q is not UTF-8", text)
			continue
		}
		p.put(at, root, s.path, value)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return resolve(p, root, string(root.yaml()), nil, expand)
}

// nodeOf is a Go value as a node. The keys of a map are sorted.
func nodeOf(value any, at place) *node {
	single := func(text string) *node { return &node{kind: scalarNode, at: at, text: text} }
	switch v := value.(type) {
	case nil:
		return &node{kind: nullNode, at: at}
	case Raw:
		return single(string(v))
	case string:
		return single(experiment.Escape(v))
	case time.Duration:
		return single(span.Text(v))
	case float64:
		return single(number64(v).String())
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Slice:
		list := &node{kind: listNode, at: at}
		for i := range v.Len() {
			list.items = append(list.items, nodeOf(v.Index(i).Interface(), at))
		}
		return list
	case reflect.Map:
		m := &node{kind: mapNode, at: at}
		for key, item := range v.Seq2() {
			m.entries = append(m.entries, &entry{key.String(), at, nodeOf(item.Interface(), at)})
		}
		slices.SortFunc(m.entries, func(a, b *entry) int { return strings.Compare(a.key, b.key) })
		return m
	}
	return single(fmt.Sprint(value))
}

// notUTF8 is the first text of the value that no file can hold.
func (n *node) notUTF8() (text string, found bool) {
	n.all(func(one *node) bool {
		texts := []string{one.text}
		for _, e := range one.entries {
			texts = append(texts, e.key)
		}
		i := slices.IndexFunc(texts, func(s string) bool { return !utf8.ValidString(s) })
		if found = i >= 0; found {
			text = texts[i]
		}
		return !found
	})
	return text, found
}
