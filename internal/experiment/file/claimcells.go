package file

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/spelling"
)

// selected finds the one cell that a selector means; nil where there is no
// selector, or it does not mean one and that was reported. What it means is
// settled by the file as it is written: where --set took that cell away, it means
// none.
func (r *reader) selected(s *selector) *experiment.Selector {
	if !s.given || s.bad {
		return nil
	}
	out := s.words()
	if r.asWritten(out) {
		return out
	}
	narrowed := r.changed("vary", "services", "limits", "load")
	if !narrowed && !r.knows(s) {
		return nil
	}
	var cells []int
	for i := range r.out.Cells {
		if out.Means(&r.out.Cells[i]) {
			cells = append(cells, i)
		}
	}
	switch {
	case len(cells) == 1:
		out.Cell = cells[0]
	case narrowed:
	case len(cells) == 0:
		r.problems.add(s.at, "", "%s means no cell%s; the cells are %s", s.path, r.unused(out), r.labels(nil))
		return nil
	default:
		r.problems.add(s.at, "", "%s means %d cells; say which of %s", s.path, len(cells), r.labels(cells))
		return nil
	}
	return out
}

// words are what a selector names, and no cell yet.
func (s *selector) words() *experiment.Selector {
	out := &experiment.Selector{Cell: experiment.NoCell}
	for i := range s.settings {
		one := &s.settings[i]
		if one.name == "service" {
			out.Service = one.value.text
			continue
		}
		if out.Vary == nil {
			out.Vary = make(map[string]*string)
		}
		out.Vary[one.name] = nil
		if one.value.given {
			out.Vary[one.name] = &one.value.text
		}
	}
	return out
}

// unused says which name of a selector its service does not vary; "": none, or
// no service is named.
func (r *reader) unused(s *experiment.Selector) string {
	for i := range r.out.Cells {
		c := &r.out.Cells[i]
		if c.Service.Name != s.Service {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(s.Vary)) {
			if !slices.ContainsFunc(c.Vary, func(v experiment.Setting) bool { return v.Name == name }) {
				return fmt.Sprintf(", as service %q does not use %s", s.Service, name)
			}
		}
	}
	return ""
}

// knows checks the words of a selector: the service, the names and their values.
func (r *reader) knows(s *selector) bool {
	ok := true
	for i := range s.settings {
		one := &s.settings[i]
		axis := slices.IndexFunc(r.out.Vary, func(a experiment.Axis) bool { return a.Name == one.name })
		switch {
		case one.name == "service":
			var services []string
			for _, e := range r.doc.Services.entries {
				services = append(services, e.name)
			}
			if !slices.Contains(services, one.value.text) {
				r.problems.add(one.value.at, one.value.path, "unknown service %q; %s", one.value.text, spelling.Hint(one.value.text, "services", services))
				ok = false
			}
		case axis < 0:
			names := append([]string{"service"}, r.varied()...)
			r.problems.add(one.at, s.path, "unknown name %q; %s", one.name, spelling.Hint(one.name, "names", names))
			ok = false
		default:
			ok = r.knowsValue(&r.out.Vary[axis], &one.value) && ok
		}
	}
	return ok
}

// knowsValue checks that an axis has a value, null included.
func (r *reader) knowsValue(a *experiment.Axis, v *literal) bool {
	var values []string
	for _, value := range a.Values {
		if value == nil {
			values = append(values, "null")
			if !v.given {
				return true
			}
			continue
		}
		values = append(values, *value)
		if v.given && v.text == *value {
			return true
		}
	}
	text := "null"
	if v.given {
		text = v.text
	}
	r.problems.add(v.at, v.path, "%s is no value of vary.%s; its values are %s", text, a.Name, strings.Join(values, ", "))
	return false
}

// manyLabels is how many cells an error lists.
const manyLabels = 8

// labels lists cells by their labels; nil: all.
func (r *reader) labels(cells []int) string {
	var all []string
	for i := range r.out.Cells {
		if cells == nil || slices.Contains(cells, i) {
			all = append(all, r.out.Cells[i].Label())
		}
	}
	if more := len(all) - manyLabels; more > 0 {
		return strings.Join(all[:manyLabels], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(all, ", ")
}
