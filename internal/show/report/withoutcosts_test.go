package report

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// A table without the CPU time of any kind says what that takes, and not how it is estimated.
func TestKindsWithoutCosts(t *testing.T) {
	cell := summary.Cell{Kinds: []summary.KindFigures{{Name: "GET /", Requests: 2}, {Name: "GET /b", Requests: 1}}}
	table := Kinds(&summary.Summary{Cells: []summary.Cell{cell}}, []string{"a"})
	if table.Lead != WithoutCosts {
		t.Errorf("the lead is %q", table.Lead)
	}
	cost := 1.0
	cell.Kinds[0].CPUMS, cell.Kinds[0].CPULow, cell.Kinds[0].CPUHigh, cell.Kinds[0].ShareOfCPU = &cost, &cost, &cost, &cost
	if table := Kinds(&summary.Summary{Cells: []summary.Cell{cell}}, []string{"a"}); table.Lead == WithoutCosts {
		t.Error("a cost is known, and the lead says that none is")
	}
}
