package narrative

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
)

// below100 is an objective that was met or missed by all requests together.
func below100(met bool) change {
	return func(c *summary.Cell) {
		c.Objective = &summary.Objective{Text: "p99 <= 100ms", Quantile: "p99", LatencyMS: ptr(100.0), Met: &met}
	}
}

// Three alike: the objective lies within the interval of each.
func TestNoCellMeetsAnObjectiveWithinItsInterval(t *testing.T) {
	near := func(name string, p99 float64, met bool) summary.Cell {
		return cellOf(name, p99At(p99), within(78, 114), below100(met))
	}
	clear := func(name string, p99 float64, met bool) summary.Cell {
		return cellOf(name, p99At(p99), within(p99-1, p99+1), below100(met))
	}
	for name, c := range map[string]struct {
		cells []summary.Cell
		want  string
	}{
		"one cell":               {[]summary.Cell{near("go", 97, true)}, "Whether it meets the objective p99 <= 100ms is not decided: the 95% interval of its p99, 78 to 114 ms, contains the objective."},
		"the best of three":      {[]summary.Cell{near("go", 97, true), near("node", 105, false), near("bun", 108, false)}, "Whether go, node and bun meet the objective p99 <= 100ms is not decided: their intervals contain it."},
		"one that certainly met": {[]summary.Cell{clear("go", 50, true), near("node", 97, true)}, "go meets the objective p99 <= 100ms. Whether node meets it is not decided: the 95% interval of its p99, 78 to 114 ms, contains the objective."},
		"one that missed":        {[]summary.Cell{clear("go", 150, false), near("node", 97, true)}, "go misses the objective p99 <= 100ms. Whether node meets it is not decided"},
		"all are decided":        {[]summary.Cell{clear("go", 50, true), clear("node", 150, false)}, "Only go meets the objective p99 <= 100ms."},
	} {
		t.Run(name, func(t *testing.T) {
			got := HeadlineOf(&summary.Summary{Cells: c.cells}).String()
			if !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			for i := range c.cells {
				if verdict.NearObjective(&c.cells[i]).None() {
					continue
				}
				if figures := ObjectiveFigures(&c.cells[i]); !strings.Contains(figures, "not decided: the 95% interval") {
					t.Errorf("JUnit: %q", figures)
				}
			}
		})
	}
}
