package analysis

import "github.com/millicore/millicore/internal/analysis/stats"

// comparisons compares each cell with the first one by one figure, one test a
// cell, with Holm's correction over all of them. Cells with too few trials to
// tell anything have none.
func (b *Builder) comparisons() []Comparison {
	metric := "latency_ms." + objectives(b.exp.Objective)
	if len(b.cells) > 0 && b.cells[0].plan.Load.Find {
		metric = "breaking_point"
	}
	var values [][]float64
	for _, c := range b.cells {
		var of []float64
		for _, t := range c.trials {
			if t.search != nil && t.search.result().AtLeast {
				of = nil // what the others hold says nothing of the cell then
				break
			}
			if v, ok := c.figures(t)[metric]; ok {
				of = append(of, v)
			}
		}
		values = append(values, of)
	}
	if len(values) < 2 {
		return nil
	}
	var all []Comparison
	for i, c := range stats.Against(values[0], values[1:]) {
		if !c.Enough() {
			continue
		}
		all = append(all, Comparison{Cell: i + 1, Metric: metric, Base: c.Base, Value: c.Value, Shift: c.Shift,
			Low: c.Interval.Low, High: c.Interval.High, P: c.P, PHolm: c.PHolm, Significant: c.Significant, Trials: c.Trials})
	}
	return all
}
