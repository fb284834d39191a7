package file

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/spelling"
)

// cellReader reads scalars of the file with the values of one cell. It reports
// a mistake at the value in vary that caused it, if one did.
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
	value, err := readAs[K, T](&v.slot, text)
	if err != nil {
		c.wrong(&v.scalar, "%v", err)
		return value, false
	}
	return value, true
}

// need is read for a scalar that must have a value. A missing key was reported
// already; a name that stands for null was not.
func need[K kind[T], T any](c *cellReader, v *varied[K, T]) T {
	value, ok := read(c, v)
	switch {
	case ok:
	case v.given && c.absent(&v.scalar):
		c.wrong(&v.scalar, "null, but it must have a value")
	default:
		c.failed = true
	}
	return value
}

// text replaces the names in a scalar. A text that is only the name of a null
// counts as absent, like an absent or null key, and has its default.
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
		b.WriteString(p.Letters)
		if p.Name != "" {
			value, known := c.value(s, p.Name)
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
		if slices.Contains(experiment.LimitNames, name) {
			c.needLimit(l, name)
			continue
		}
		if _, known := c.values[name]; !known {
			valid := slices.Concat(c.names, late, experiment.LimitNames)
			c.wrong(&l.scalar, "unknown name ${%s}; %s", name, spelling.Hint(name, "known names", valid))
			continue
		}
		values[name], _ = c.value(&l.scalar, name)
	}
	return expandKnown(l.parts, values)
}

// absent reports whether the scalar has no value in this cell.
func (c *cellReader) absent(s *scalar) bool {
	if !s.given {
		return true
	}
	return len(s.parts) == 1 && s.parts[0].Name != "" && c.values[s.parts[0].Name].null
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
		c.wrong(s, "${%s} is null here, but only a part of %q; null can only stand for the whole", name, s.text)
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
		same, at = format, c.values[names[0]].at
		message += fmt.Sprintf(" (from %q at %s", s.text, s.at)
		if len(names) > 1 {
			message += " with " + c.settings(names)
		}
		message += ")"
	}
	c.problems.addOnce(at, s.path, s.path+same, message)
}

// conflict reports scalars that contradict one another, at the one that was set
// last, or else at the first of them in the file; if some are a service's own,
// at the first of those. path names the field in the error.
func (c *cellReader) conflict(path string, scalars []*scalar, format string, args ...any) {
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
	c.problems.addOnce(at, path, format, message)
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
