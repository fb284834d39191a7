package narrative

import (
	"maps"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
)

// Axes are the names that the experiment varies, in the order in which the
// labels have them, which is the experiment file's.
func Axes(s *summary.Summary) []string {
	var names []string
	for i := range s.Cells {
		c := &s.Cells[i]
		own := slices.Sorted(maps.Keys(c.Vary))
		slices.SortStableFunc(own, func(a, b string) int {
			return strings.Index(c.Label, " "+a+"=") - strings.Index(c.Label, " "+b+"=")
		})
		for _, name := range own {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Setting is what a cell has for a varied name: "2", "unset", or "" where its
// service does not use the name.
func Setting(c *summary.Cell, name string) string {
	value, ok := c.Vary[name]
	switch {
	case !ok:
		return ""
	case value == nil:
		return "unset"
	}
	return *value
}

// CellNames gives each cell the shortest name that distinguishes it from the others:
// the service where services differ, and the settings that differ. A cell that
// stands alone has its whole label. Settings of one server have their labels.
func CellNames(s *summary.Summary) []string {
	if s.Experiment.Server != nil {
		return settingNames(s)
	}
	differs := func(of func(*summary.Cell) string) bool {
		for i := range s.Cells {
			if of(&s.Cells[i]) != of(&s.Cells[0]) {
				return true
			}
		}
		return false
	}
	services := differs(func(c *summary.Cell) string { return c.Service })
	var varied []string
	for _, name := range Axes(s) {
		if differs(func(c *summary.Cell) string { return Setting(c, name) }) {
			varied = append(varied, name)
		}
	}
	names := make([]string, len(s.Cells))
	for i := range s.Cells {
		c := &s.Cells[i]
		var parts []string
		if services {
			parts = append(parts, c.Service)
		}
		for _, name := range varied {
			if value := Setting(c, name); value != "" {
				parts = append(parts, name+"="+value)
			}
		}
		if len(parts) == 0 {
			parts = []string{c.Label}
		}
		names[i] = display.Plain(strings.Join(parts, " "))
	}
	return names
}

// settingNames name the cells of one server by their settings, and by their CPU limits if
// there are several.
func settingNames(s *summary.Summary) []string {
	variants := Variants(s)
	limits := map[int64]bool{}
	of := func(c *summary.Cell) *Variant {
		at := slices.IndexFunc(variants, func(v Variant) bool { return v.Service == c.Service })
		if at < 0 {
			return nil
		}
		return &variants[at]
	}
	for i := range s.Cells {
		c := &s.Cells[i]
		if v := of(c); v != nil && v.comparable() && c.Limits.CPUMillis != nil {
			limits[*c.Limits.CPUMillis] = true
		}
	}
	names := make([]string, len(s.Cells))
	for i := range s.Cells {
		c := &s.Cells[i]
		names[i] = display.Plain(c.Label)
		if v := of(c); v != nil {
			names[i] = v.Label
			if len(limits) > 1 && c.Limits.CPUMillis != nil {
				names[i] += " (" + experiment.CPUQuantity(*c.Limits.CPUMillis) + ")"
			}
		}
	}
	return names
}
