package verdict

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// Tests compares one figure of each cell with that of the baseline, and returns the evidence for
// each pair: of more than stats.MostRanked cells for the pairs of which one is the first, the lowest or the highest. A pair whose shift or interval
// is not a number has evidence only, and is in Unbounded.
func Tests(s *summary.Summary, path string) (all []summary.Comparison, ranking []summary.Evidence) {
	all, s.Unbounded, ranking = tests(s, path)
	return all, ranking
}

func tests(s *summary.Summary, path string) (all []summary.Comparison, unbounded []summary.Unbounded, ranking []summary.Evidence) {
	r := Rank(s, path)
	paired, base := r.paired(), r.baseline(s.Experiment.Server.Against())
	for i, x := range r.cells {
		for j := range i {
			if !paired[i] && !paired[j] {
				continue
			}
			if e := r.Between(x, r.cells[j]); e.Gap != summary.NoFigure {
				ranking = append(ranking, e)
			}
		}
		switch {
		case r.at[i] < 0, i == base:
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

// baseline is the cell of the service before a change if its figure is tested, else the first
// whose figure is; -1: none.
func (r *Ranking) baseline(before string) int {
	first := -1
	for i, c := range r.cells {
		if r.at[i] < 0 {
			continue
		}
		if before != "" && c.Service == before {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return first
}

// paired are the cells, by their places, that have evidence against each other cell: all of a
// few, else the first one that is tested, or measured if none is, and those with the lowest and
// the highest median.
func (r *Ranking) paired() map[int]bool {
	out := map[int]bool{}
	first, lowest, highest := -1, -1, -1
	var low, high float64
	for i := range r.cells {
		out[i] = len(r.cells) <= stats.MostRanked
		s := &r.samples[i]
		if len(s.values) == 0 {
			continue
		}
		if first < 0 || s.gap == "" && r.samples[first].gap != "" {
			first = i
		}
		median, _ := stats.CensoredMedian(s.values)
		if lowest < 0 || median.Low < low {
			lowest, low = i, median.Low
		}
		if highest < 0 || median.High > high {
			highest, high = i, median.High
		}
	}
	for _, i := range []int{first, lowest, highest} {
		out[i] = true
	}
	return out
}

// comparison compares two cells; bounded: all figures are numbers. Without a metric they
// were not tested.
func (r *Ranking) comparison(cell, base int) (c summary.Unbounded, bounded bool) {
	e := r.Between(r.cells[cell], r.cells[base])
	if e.Basis == summary.Untested {
		return c, false
	}
	shift, interval := stats.CensoredShift(r.samples[base].values, r.samples[cell].values)
	if interval == nil {
		return c, false
	}
	if r.rounds != nil {
		v, ends := r.rounds.Shift, r.rounds.Interval
		if r.at[base] > r.at[cell] {
			v, ends.Low, ends.High = -v, -ends.High, -ends.Low
		}
		shift, interval = stats.Known(v), &ends
	}
	c.Comparison = summary.Comparison{Cell: e.Cell, Baseline: e.Other, Metric: r.metric, P: e.P, PFamily: e.PFamily, Significant: e.Sign != 0,
		Trials: [2]int{e.Trials[1], e.Trials[0]}}
	from, _ := stats.CensoredMedian(r.samples[base].values)
	to, _ := stats.CensoredMedian(r.samples[cell].values)
	c.Base, c.Value, c.Shift, c.Low, c.High = from.Low, to.Low, shift.Low, interval.Low, interval.High
	c.BaseTo, c.ValueTo, c.ShiftTo = from.High, to.High, shift.High
	return c, shift.Known() && stats.Finite(c.Base, c.Value, c.Shift, c.Low, c.High)
}

// BenchmarkTests compares the cells by each figure of a benchmark. The tests of
// one figure are a family.
func BenchmarkTests(s *summary.Summary) (all []summary.Comparison) {
	var seen []string
	for i := range s.Cells {
		for k := range s.Cells[i].Benchmarks {
			if path := s.Cells[i].Benchmarks[k].Path(); !slices.Contains(seen, path) {
				seen = append(seen, path)
				some, _, _ := tests(s, path)
				all = append(all, some...)
			}
		}
	}
	return all
}
