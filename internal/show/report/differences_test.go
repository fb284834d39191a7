package report

import (
	"math"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/test/sample"
)

// So many requests of a cell fail that its p99 is infinite in every trial. The table of
// differences has the cell, with an infinite shift.
func TestAnInfiniteShiftIsARow(t *testing.T) {
	s := sample.Procs().Summary
	refusing := &s.Cells[2]
	available := 98.0
	for i := range refusing.PerTrial {
		refusing.PerTrial[i].Availability = &available
	}
	s.Comparisons, s.Ranking = verdict.Tests(s, "latency_ms.p99")
	tables := newDifferences(s, []string{"one", "two", "six"})
	if len(tables) != 1 || tables[0].Rows() != 2 {
		t.Fatalf("%d tables, %+v", len(tables), tables)
	}
	var row []string
	for _, c := range tables[0].Columns {
		row = append(row, c.Cells[1].Text+" "+c.Cells[1].Note)
	}
	if got := strings.Join(row, "|"); !strings.HasPrefix(got, "six |∞ |+∞ +∞ to +∞|") {
		t.Errorf("the row is %q", got)
	}
}

// The middle of two differences that are infinite in opposite directions is not known.
func TestAFigureBetweenInfinitiesOfBothSigns(t *testing.T) {
	inf := math.Inf(1)
	for want, ends := range map[string][2]float64{"–": {math.NaN(), inf}, "≥ 3": {3, inf}, "≤ 3": {-inf, 3}, "2–3": {2, 3}} {
		if got := between(ends[0], ends[1], display.Figure); strings.ReplaceAll(got, ".00", "") != want {
			t.Errorf("%v: %q, want %q", ends, got, want)
		}
	}
}
