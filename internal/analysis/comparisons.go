package analysis

import "github.com/millicore/millicore/internal/analysis/stats"

// Comparison compares one figure of a cell with a baseline, by the tests of Ranking: the
// objective's quantile (p99 without one), the breaking point of a search, or each
// figure of a benchmark. The baseline is the first cell that has enough trials of it.
// Shift is the Hodges-Lehmann estimate.
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
	PHolm       float64 `json:"p_holm"`      // after Holm's correction over the comparisons with this baseline
	PFamily     float64 `json:"p_family"`    // corrected over all pairs of cells: see Ranking
	Significant bool    `json:"significant"` // PFamily < 0.05
	Trials      [2]int  `json:"trials"`      // of the baseline, of the cell
}

// Tests compares one figure of each cell with that of the first cell that has
// enough trials, and returns the evidence for each pair. A pair whose shift or interval
// is not a number has evidence only, and is in Unbounded.
func (s *Summary) Tests(path string) (all []Comparison, ranking []Evidence) {
	all, s.Unbounded, ranking = s.tests(path)
	return all, ranking
}

// Unbounded is a comparison of which a figure is infinite, because so many requests of a
// trial failed, or not known, because it is a bound. Base, Value and Shift are the lower
// ends of what is known, these the upper ends.
type Unbounded struct {
	Comparison
	BaseTo, ValueTo, ShiftTo float64
}

func (s *Summary) tests(path string) (all []Comparison, unbounded []Unbounded, ranking []Evidence) {
	r := s.Rank(path)
	base := -1
	for i, x := range r.cells {
		for j := range i {
			if e := r.Between(x, r.cells[j]); e.Gap != NoFigure {
				ranking = append(ranking, e)
			}
		}
		switch {
		case r.at[i] < 0:
		case base < 0:
			base = i
		default:
			switch c, bounded := r.comparison(i, base); {
			case bounded:
				all = append(all, c.Comparison)
			case c.Metric != "":
				unbounded = append(unbounded, c)
			}
		}
	}
	p := make([]float64, len(all))
	for i := range all {
		p[i] = all[i].P
	}
	for i, corrected := range stats.Holm(p) {
		all[i].PHolm = corrected
	}
	return all, unbounded, ranking
}

// comparison compares two cells; bounded: all figures are numbers. Without a metric they
// were not tested.
func (r *Ranking) comparison(cell, base int) (c Unbounded, bounded bool) {
	e := r.Between(r.cells[cell], r.cells[base])
	if e.Basis == Untested {
		return c, false
	}
	shift, interval := stats.CensoredShift(r.samples[base].values, r.samples[cell].values)
	if interval == nil {
		return c, false
	}
	c.Comparison = Comparison{Cell: e.Cell, Baseline: e.Other, Metric: r.metric, P: e.P, PFamily: e.PFamily, Significant: e.Sign != 0,
		Trials: [2]int{e.Trials[1], e.Trials[0]}}
	from, _ := stats.CensoredMedian(r.samples[base].values)
	to, _ := stats.CensoredMedian(r.samples[cell].values)
	c.Base, c.Value, c.Shift, c.Low, c.High = from.Low, to.Low, shift.Low, interval.Low, interval.High
	c.BaseTo, c.ValueTo, c.ShiftTo = from.High, to.High, shift.High
	return c, shift.Known() && stats.Finite(c.Base, c.Value, c.Shift, c.Low, c.High)
}

// compared is the field path of the figure that cells are compared by.
func (b *Builder) compared() string {
	if len(b.cells) > 0 {
		c := b.cells[0]
		if c.plan.Load.Find || c.ramps().judged() && len(c.levels.held) > 1 {
			return BreakingPointMetric
		}
	}
	return LatencyPath(goal{objective: b.exp.Objective}.quantile())
}
