package analysis

import "github.com/millicore/millicore/internal/analysis/stats"

// comparisons compares one figure of each cell with that of the first cell: one test
// per cell, with Holm's correction over all of them. Cells with too few trials for any
// result are left out.
func (b *Builder) comparisons() []Comparison {
	metric := "latency_ms." + objectiveQuantile(b.exp.Objective)
	if len(b.cells) > 0 && b.cells[0].plan.Load.Find {
		metric = BreakingPointMetric
	}
	var values [][]float64
	for _, c := range b.cells {
		var of []float64
		for _, t := range c.trials {
			if t.search != nil && t.search.result().AtLeast {
				of = nil // then the other trials do not describe the cell
				break
			}
			if v, ok := c.figures(t)[metric]; ok {
				of = append(of, v)
			}
		}
		if metric == BreakingPointMetric && len(of) < EnoughSearches {
			of = nil
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
