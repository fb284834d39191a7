package report

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/report/sample"
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
	s.Comparisons, s.Ranking = s.Tests("latency_ms.p99")
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
