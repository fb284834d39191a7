package verdict

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// TestP99IsComparedByWhatIsTested: the sign of each cell's own test decides, and
// medians over trials are compared, because one bad trial decides the p99 of all
// requests together.
func TestP99IsComparedByWhatIsTested(t *testing.T) {
	of := func(cell int, pooled float64, p99s ...float64) summary.Cell {
		c := summary.Cell{Cell: cell, LatencyMS: &summary.Quantiles{P99: pooled}}
		for i := range p99s {
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{P99: &p99s[i]})
		}
		return c
	}
	s := &summary.Summary{Cells: []summary.Cell{of(0, 3000, 98, 99, 100, 102, 103, 3000), of(1, 50, 60), of(2, 204, 200, 201, 202, 203, 204, 210),
		of(3, 20, 15, 16, 17, 18, 19, 90)}}
	a := Against(s, &s.Cells[0], []*summary.Cell{&s.Cells[1], &s.Cells[2], &s.Cells[3]})
	if a.Base.Figure != (Figure{101, false, 6}) {
		t.Errorf("the base is %+v, want its median over trials", a.Base)
	}
	if len(a.All) != 3 || a.All[0].Figure.Value != 17.5 || a.All[2].Figure.Value != 202.5 {
		t.Errorf("ranked %+v", a.All)
	}
	if len(a.Lower) != 1 || a.Lower[0].Cell.Cell != 3 || a.Lower[0].Shift == nil {
		t.Errorf("significantly lower: %+v, want the cell 3", a.Lower)
	}
	if len(a.Untested) != 1 || a.Untested[0].Cell.Cell != 1 {
		t.Errorf("untested: %+v, want the cell 1", a.Untested)
	}
}
