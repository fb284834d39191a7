package analysis

import "testing"

// TestP99IsComparedByWhatIsTested: the sign of each cell's own test decides, and
// medians over trials are compared, because one bad trial decides the p99 of all
// requests together.
func TestP99IsComparedByWhatIsTested(t *testing.T) {
	of := func(cell int, pooled float64, p99s ...float64) CellSummary {
		c := CellSummary{Cell: cell, LatencyMS: &Quantiles{P99: pooled}}
		for i := range p99s {
			c.PerTrial = append(c.PerTrial, TrialFigures{P99: &p99s[i]})
		}
		return c
	}
	s := &Summary{Cells: []CellSummary{of(0, 3000, 100, 101, 3000), of(1, 50, 60), of(2, 204, 200, 201, 210), of(3, 20, 15, 16, 90)},
		Comparisons: []Comparison{
			{Cell: 1, Metric: "latency_ms.p999", Shift: -40, Significant: true}, // about another quantile
			{Cell: 2, Metric: "latency_ms.p99", Shift: 100, Significant: true},  // higher
			{Cell: 3, Metric: "latency_ms.p99", Shift: -85, Significant: true},
		}}
	a := s.P99Against(&s.Cells[0], []*CellSummary{&s.Cells[1], &s.Cells[2], &s.Cells[3]})
	if a.Base.MS != 101 || a.Base.Trials != 3 {
		t.Errorf("the base is %+v, want its median over trials", a.Base)
	}
	if len(a.All) != 3 || a.All[0].MS != 16 || a.All[2].MS != 201 {
		t.Errorf("ranked %+v", a.All)
	}
	if len(a.Lower) != 1 || a.Lower[0].Cell.Cell != 3 {
		t.Errorf("lower with certainty: %+v, want the cell 3", a.Lower)
	}
	if len(a.Untested) != 1 || a.Untested[0].Cell.Cell != 1 {
		t.Errorf("untested: %+v, want the cell 1", a.Untested)
	}
}
