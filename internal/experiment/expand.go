package experiment

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// segment is a piece of a text: letters, or a name that stood in ${}.
type segment struct {
	letters string
	name    string
}

var referenceName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)?$`)

// segments splits a text at its ${name}. $${ is the letters ${; a $ that no {
// follows is a letter like others. {{…}} belongs to requests and is left alone.
func segments(text string) ([]segment, error) {
	var all []segment
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
				return nil, fmt.Errorf("%q: ${%s} is no name; write $${ for the letters ${", text, name)
			}
			if letters.Len() > 0 {
				all = append(all, segment{letters: letters.String()})
				letters.Reset()
			}
			all = append(all, segment{name: name})
			i += end + 1
		default:
			letters.WriteByte(text[i])
			i++
		}
	}
	if letters.Len() > 0 {
		all = append(all, segment{letters: letters.String()})
	}
	return all, nil
}

// Expand replaces each ${name} of text by its value. $${ gives the letters ${,
// and {{…}}, which belongs to requests, is left alone. A name without a value
// is an error that names the nearest one.
func Expand(text string, vars map[string]string) (string, error) {
	all, err := segments(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range all {
		if s.name == "" {
			b.WriteString(s.letters)
			continue
		}
		value, ok := vars[s.name]
		if !ok {
			return "", fmt.Errorf("%q: unknown name ${%s}; %s", text, s.name, hint(s.name, "known names", slices.Sorted(maps.Keys(vars))))
		}
		b.WriteString(value)
	}
	return b.String(), nil
}

// expandLetters is a text without names, each $${ as the letters ${.
func expandLetters(all []segment) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(s.letters)
	}
	return b.String()
}

// expandKnown replaces the names that have a value, and leaves the others and
// $${ as they are for Expand to end the work. For that no value holds ${ or
// ends in $ (see checkValue).
func expandKnown(all []segment, values map[string]string) string {
	var b strings.Builder
	for _, s := range all {
		value, known := values[s.name]
		switch {
		case s.name == "":
			b.WriteString(strings.ReplaceAll(s.letters, "${", "$${"))
		case known:
			b.WriteString(value)
		default:
			b.WriteString("${" + s.name + "}")
		}
	}
	return b.String()
}
