package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// cellReader reads scalars of the file with the values of one cell. It reports
// what does not fit at the value in vary, as far as one is to blame.
type cellReader struct {
	problems *problems
	names    []string             // in vary
	values   map[string]varyValue // of those that the cell's service uses
	interval time.Duration        // length of a frame; 0: not known, as it was wrong
	limits   map[string]bool      // by name, as of LimitVars: whether what is read has the limit; nil: not known, as it was wrong
	failed   bool                 // something of the section being read does not fit, and was reported
}

// varyValue is one value of a varied name.
type varyValue struct {
	text string
	null bool
	bad  bool // reported
	at   place
}

func (v varyValue) String() string {
	if v.null {
		return "null"
	}
	return v.text
}

// read gives a scalar's value in the cell: ok is false where it is absent, or
// wrong and reported.
func read[K kind[T], T any](c *cellReader, v *varied[K, T]) (value T, ok bool) {
	text, ok := c.text(&v.scalar)
	if !ok {
		return value, false
	}
	var reader K
	value, err := reader.read(text)
	if err != nil {
		c.wrong(&v.scalar, "%s: %v", v.path, err)
		return value, false
	}
	return value, true
}

// need is read for what must not be absent. That a key is missing was reported
// already; that a name stands for null was not.
func need[K kind[T], T any](c *cellReader, v *varied[K, T]) T {
	value, ok := read(c, v)
	switch {
	case ok:
	case v.given && c.absent(&v.scalar):
		c.wrong(&v.scalar, "%s: null, but it must have a value", v.path)
	default:
		c.failed = true
	}
	return value
}

// text replaces the names in a scalar. A text that is nothing but the name of a
// null is absent, as an absent or null key is; its fallback stands then.
func (c *cellReader) text(s *scalar) (string, bool) {
	if s.bad {
		c.failed = true
		return "", false
	}
	if c.absent(s) {
		return s.fallback, s.fallback != ""
	}
	var b strings.Builder
	for _, p := range s.parts {
		b.WriteString(p.letters)
		if p.name != "" {
			value, known := c.value(s, p.name)
			if !known {
				return "", false
			}
			b.WriteString(value)
		}
	}
	return b.String(), true
}

// launched replaces the cell's names in a text that the platform expands again
// with the names in late.
func (c *cellReader) launched(l *launched, late []string) string {
	values := make(map[string]string)
	for _, name := range l.names() {
		if slices.Contains(late, name) {
			continue
		}
		if slices.Contains(limitNames, name) {
			c.needLimit(l, name)
			continue
		}
		if _, known := c.values[name]; !known {
			valid := slices.Concat(c.names, late, limitNames)
			c.wrong(&l.scalar, "%s: unknown name ${%s}; %s", l.path, name, hint(name, "known names", valid))
			continue
		}
		values[name], _ = c.value(&l.scalar, name)
	}
	return expandKnown(l.parts, values)
}

// absent tells whether nothing stands there in this cell.
func (c *cellReader) absent(s *scalar) bool {
	if !s.given {
		return true
	}
	return len(s.parts) == 1 && s.parts[0].name != "" && c.values[s.parts[0].name].null
}

// value is that of one name in a scalar's text. Unknown names were reported
// when the file's references were checked.
func (c *cellReader) value(s *scalar, name string) (string, bool) {
	v, known := c.values[name]
	if !known || v.bad {
		c.failed = true
		return "", false
	}
	if v.null {
		c.wrong(s, "%s: ${%s} is null here, but only a part of %q; null can only stand for the whole", s.path, name, s.text)
		return "", false
	}
	return v.text, true
}

// wrong reports a scalar whose text in this cell does not fit.
func (c *cellReader) wrong(s *scalar, format string, args ...any) {
	c.failed = true
	at, message := s.at, fmt.Sprintf(format, args...)
	same, names := message, c.varying(s)
	if len(names) > 0 {
		same, at = s.path+format, c.values[names[0]].at
		message += fmt.Sprintf(" (from %q at %s", s.text, s.at)
		if len(names) > 1 {
			message += " with " + c.settings(names)
		}
		message += ")"
	}
	c.problems.addOnce(at, same, message)
}

// conflict reports scalars that contradict one another, at the one that --set
// changed last, or else at the first of them that stands in the file; if some
// are a service's own, at the first of those.
func (c *cellReader) conflict(scalars []*scalar, format string, args ...any) {
	c.failed = true
	at, message := scalars[0].at, fmt.Sprintf(format, args...)
	found, own := false, false
	for _, s := range scalars {
		mine := strings.HasPrefix(s.path, "services.")
		better := s.at.set > at.set || s.at.set == at.set && mine && !own
		if s.present() && (!found || better) {
			at, found, own = s.at, true, mine
		}
	}
	if names := c.varying(scalars...); len(names) > 0 {
		message += " (where " + c.settings(names) + ")"
	}
	c.problems.addOnce(at, format, message)
}

// varying are the names that scalars depend on, each once.
func (c *cellReader) varying(scalars ...*scalar) []string {
	var all []string
	for _, s := range scalars {
		for _, name := range s.names() {
			if _, known := c.values[name]; known && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

func (c *cellReader) settings(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = name + "=" + c.values[name].String()
	}
	return strings.Join(all, ", ")
}
