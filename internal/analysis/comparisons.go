package analysis

import "github.com/millicore/millicore/internal/analysis/stats"

// Comparison compares one figure of a cell with a baseline by one test: the
// objective's quantile (p99 without one), the breaking point of a search, or each
// figure of a benchmark, whose baseline is the first cell that has it. Trials are
// compared by Mann-Whitney's test; Shift is the Hodges-Lehmann estimate.
type Comparison struct {
	Cell        int     `json:"cell"`
	Baseline    int     `json:"baseline"`
	Metric      string  `json:"metric"` // a field path of the cell
	Base        float64 `json:"base"`   // the baseline's median over trials
	Value       float64 `json:"value"`  // the cell's
	Shift       float64 `json:"shift"`  // in the metric's unit
	Low         float64 `json:"low"`    // of the shift's 95% interval
	High        float64 `json:"high"`
	P           float64 `json:"p"`           // two-sided, exact where there are no ties
	PHolm       float64 `json:"p_holm"`      // after Holm's correction over all cells
	Significant bool    `json:"significant"` // PHolm < 0.05
	Trials      [2]int  `json:"trials"`      // of the baseline, of the cell
}

// comparisons compares one figure of each cell with that of the first cell: one test
// per cell, with Holm's correction over all of them. Cells with too few trials for any
// result are left out.
func (b *Builder) comparisons() []Comparison {
	metric := "latency_ms." + goal{objective: b.exp.Objective}.quantile()
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
			if v, ok := t.figures()[metric]; ok {
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
		if c.Enough() {
			all = append(all, comparison(i+1, 0, metric, &c))
		}
	}
	return all
}

func comparison(cell, baseline int, metric string, c *stats.Comparison) Comparison {
	return Comparison{Cell: cell, Baseline: baseline, Metric: metric, Base: c.Base, Value: c.Value, Shift: c.Shift,
		Low: c.Interval.Low, High: c.Interval.High, P: c.P, PHolm: c.PHolm, Significant: c.Significant, Trials: c.Trials}
}
