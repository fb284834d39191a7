package answer_test

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Three alike: the objective lies within the interval of each.
func TestNoCellMeetsAnObjectiveWithinItsInterval(t *testing.T) {
	near := func(name string, p99 float64, met bool) summary.Cell {
		return cellOf(name, p99At(p99), within(78, 114), below100(met))
	}
	clear := func(name string, p99 float64, met bool) summary.Cell {
		return cellOf(name, p99At(p99), within(p99-1, p99+1), below100(met))
	}
	got := map[string]string{}
	for name, c := range map[string]struct {
		cells []summary.Cell
	}{
		"one cell":               {[]summary.Cell{near("go", 97, true)}},
		"the best of three":      {[]summary.Cell{near("go", 97, true), near("node", 105, false), near("bun", 108, false)}},
		"one that certainly met": {[]summary.Cell{clear("go", 50, true), near("node", 97, true)}},
		"one that missed":        {[]summary.Cell{clear("go", 150, false), near("node", 97, true)}},
		"all are decided":        {[]summary.Cell{clear("go", 50, true), clear("node", 150, false)}},
	} {
		t.Run(name, func(t *testing.T) {
			got[name] = text(&summary.Summary{Cells: c.cells})
			for i := range c.cells {
				if verdict.NearObjective(&c.cells[i]).None() {
					continue
				}
				if figures := narrative.ObjectiveFigures(&c.cells[i]); !strings.Contains(figures, "not decided: the 95% interval") {
					t.Errorf("JUnit: %q", figures)
				}
			}
		})
	}
	sentences(t, "objectives.txt", got)
}
