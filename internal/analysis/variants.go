package analysis

import (
	"cmp"
	"slices"

	"github.com/millicore/millicore/internal/analysis/stats"
)

// P99 is the p99 of a cell as tests compare it: the median over trials, because a
// single trial can decide the p99 of all requests together.
type P99 struct {
	Cell   *CellSummary
	MS     float64
	Trials int         // 0: no trial has a p99, and MS is that of all requests
	Test   *Comparison // against the base; nil: too few trials
}

// AgainstBase compares cells that ran at one load with a base cell. The cells are
// not compared with one another.
type AgainstBase struct {
	Base     P99
	All      []P99 // the lowest first
	Lower    []P99 // lower than the base with certainty, by the largest shift
	Untested []P99 // too few trials for a test, in the order of the cells
}

// P99Against compares the p99 of cells with that of a base. All have latencies.
func (s *Summary) P99Against(base *CellSummary, cells []*CellSummary) AgainstBase {
	a := AgainstBase{Base: p99Of(base)}
	for _, c := range cells {
		one := p99Of(c)
		one.Test = s.p99Test(c, base)
		a.All = append(a.All, one)
		switch {
		case one.Test == nil:
			a.Untested = append(a.Untested, one)
		case one.Test.Significant && one.Test.Shift < 0:
			a.Lower = append(a.Lower, one)
		}
	}
	slices.SortStableFunc(a.All, func(x, y P99) int { return cmp.Compare(x.MS, y.MS) })
	slices.SortStableFunc(a.Lower, func(x, y P99) int { return cmp.Compare(x.Test.Shift, y.Test.Shift) })
	return a
}

func p99Of(c *CellSummary) P99 {
	m, _ := MetricOf("p99")
	one := P99{Cell: c, MS: c.LatencyMS.P99}
	if trials := m.Trials(c); len(trials) > 0 {
		one.MS, one.Trials = stats.Median(trials), len(trials)
	}
	return one
}

// p99Test is the record's test of a cell's p99 against that of a base.
func (s *Summary) p99Test(c, base *CellSummary) *Comparison {
	i := slices.IndexFunc(s.Comparisons, func(x Comparison) bool {
		return x.Cell == c.Cell && x.Baseline == base.Cell && x.Metric == "latency_ms.p99"
	})
	if i < 0 {
		return nil
	}
	return &s.Comparisons[i]
}
