package experiment

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment/spelling"
)

// Segment is a piece of a text: letters, or a name that stood in ${}.
type Segment struct {
	Letters string
	Name    string // empty: the piece is Letters
}

var referenceName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)?$`)

// Segments splits a text at its ${name}. $${ stands for the letters ${; a $ that is
// not followed by { is a plain letter. {{…}} belongs to requests and stays.
func Segments(text string) ([]Segment, error) {
	var all []Segment
	var letters strings.Builder
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "$${"):
			letters.WriteString("${")
			i += len("$${")
		case strings.HasPrefix(rest, "${"):
			end := strings.IndexByte(rest, '}')
			if end < 0 {
				return nil, fmt.Errorf("%q: ${ has no }; write $${ for the letters ${", text)
			}
			name := rest[len("${"):end]
			if !referenceName.MatchString(name) {
				return nil, fmt.Errorf("%q: ${%s} is not a valid name; write $${ for the letters ${", text, name)
			}
			if letters.Len() > 0 {
				all = append(all, Segment{Letters: letters.String()})
				letters.Reset()
			}
			all = append(all, Segment{Name: name})
			i += end + 1
		default:
			letters.WriteByte(text[i])
			i++
		}
	}
	if letters.Len() > 0 {
		all = append(all, Segment{Letters: letters.String()})
	}
	return all, nil
}

// Expand replaces each ${name} of text by its value. $${ becomes the letters ${, and
// {{…}}, which belongs to requests, stays. A name without a value is an error that
// suggests the nearest name.
func Expand(text string, vars map[string]string) (string, error) {
	all, err := Segments(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range all {
		if s.Name == "" {
			b.WriteString(s.Letters)
			continue
		}
		value, ok := vars[s.Name]
		if !ok {
			return "", fmt.Errorf("%q: unknown name ${%s}; %s", text, s.Name, spelling.Hint(s.Name, "known names", slices.Sorted(maps.Keys(vars))))
		}
		b.WriteString(value)
	}
	return b.String(), nil
}

// Escape writes the letters ${ so that they start no name.
func Escape(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// WithPort is a text in which ${port} is the only name, and $${port} stands for
// the letters ${port}. Every other ${ is letters.
func WithPort(text string) string {
	const name, letters = "${port}", "$${port}"
	var b strings.Builder
	for {
		i := strings.Index(text, name)
		if i < 0 {
			return b.String() + Escape(text)
		}
		before := text[:i]
		if strings.HasSuffix(before, "$") {
			b.WriteString(Escape(before[:i-1]) + letters)
		} else {
			b.WriteString(Escape(before) + name)
		}
		text = text[i+len(name):]
	}
}

// NamesIn are the names in a text's ${}.
func NamesIn(parts []Segment) []string {
	var all []string
	for _, p := range parts {
		if p.Name != "" {
			all = append(all, p.Name)
		}
	}
	return all
}

// Letters is a text without names, each $${ as the letters ${.
func Letters(parts []Segment) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Letters)
	}
	return b.String()
}
