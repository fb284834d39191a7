package file

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/spelling"
)

// selected finds the cell of a selector, and reports a selector of no cell or of
// several. The file as it is written decides: if --set removed the cell, the
// selector has none.
func (d *decoder) selected(s *experiment.Selector, n *node) {
	if s == nil || !n.sound() || d.asWritten(s) {
		return
	}
	narrowed := d.changed("vary", "services", "limits", "load")
	if !narrowed && !d.knows(s, n) {
		return
	}
	var cells []int
	for i := range d.out.Cells {
		if s.Means(&d.out.Cells[i]) {
			cells = append(cells, i)
		}
	}
	switch {
	case len(cells) == 1:
		s.Cell = cells[0]
	case narrowed:
	case len(cells) == 0:
		d.add(n.at, "", "%s selects no cell%s; the cells are %s", n.path, d.unused(s), d.labels(nil))
	default:
		d.add(n.at, "", "%s selects %d cells; select one of %s", n.path, len(cells), d.labels(cells))
	}
}

// unused explains which name of a selector its service does not use; "": it uses
// all, or the selector names no service.
func (d *decoder) unused(s *experiment.Selector) string {
	for i := range d.out.Cells {
		c := &d.out.Cells[i]
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

// knows checks the service, the names and the values of a selector.
func (d *decoder) knows(s *experiment.Selector, n *node) bool {
	ok := true
	for _, e := range n.entries {
		axis := slices.IndexFunc(d.out.Vary, func(a experiment.Axis) bool { return a.Name == e.key })
		switch {
		case e.key == "service":
			var services []string
			for _, one := range d.doc.Services {
				services = append(services, one.name)
			}
			if !slices.Contains(services, s.Service) {
				d.report(e.value, "unknown service %q; %s", s.Service, spelling.Hint(s.Service, "services", services))
				ok = false
			}
		case axis < 0:
			names := append([]string{"service"}, d.varied()...)
			d.add(e.at, n.path, "unknown name %q; %s", e.key, spelling.Hint(e.key, "names", names))
			ok = false
		default:
			ok = d.knowsValue(&d.out.Vary[axis], e.value) && ok
		}
	}
	return ok
}

// knowsValue checks that an axis has a value, null included.
func (d *decoder) knowsValue(a *experiment.Axis, n *node) bool {
	text := varyValue{text: n.text, null: !n.given()}.String()
	var values []string
	for _, value := range a.Values {
		switch {
		case value == nil && !n.given(), value != nil && n.given() && *value == n.text:
			return true
		case value == nil:
			values = append(values, "null")
		default:
			values = append(values, *value)
		}
	}
	d.report(n, "%s is not a value of vary.%s; its values are %s", text, a.Name, strings.Join(values, ", "))
	return false
}

// manyLabels is how many cells an error lists.
const manyLabels = 8

// labels lists cells by their labels; nil: all.
func (d *decoder) labels(cells []int) string {
	var all []string
	for i := range d.out.Cells {
		if cells == nil || slices.Contains(cells, i) {
			all = append(all, d.out.Cells[i].Label())
		}
	}
	if more := len(all) - manyLabels; more > 0 {
		return strings.Join(all[:manyLabels], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(all, ", ")
}
