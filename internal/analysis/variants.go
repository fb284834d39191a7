package analysis

import (
	"cmp"
	"slices"
)

// P99 is the p99 of a cell, against that of a base.
type P99 struct {
	Cell   *CellSummary
	Figure Figure
	From   Evidence    // where it lies from the base
	Shift  *Comparison // from the base; nil: it is not known
}

// AgainstBase compares cells that ran at one load with a base cell.
type AgainstBase struct {
	Base     P99
	All      []P99 // the lowest first
	Lower    []P99 // lower than the base, significantly, by the largest shift
	Untested []P99 // in the order of the cells
}

// P99Against compares the p99 of cells with that of a base. All have latencies.
func (s *Summary) P99Against(base *CellSummary, cells []*CellSummary) AgainstBase {
	r := s.Rank(LatencyPath("p99"))
	of := func(c *CellSummary) P99 {
		one := P99{Cell: c, From: r.Between(c, base)}
		one.Figure, _ = c.Figure("p99")
		if test, ok := r.comparison(r.index(c), r.index(base)); ok {
			one.Shift = &test
		}
		return one
	}
	a := AgainstBase{Base: of(base)}
	for _, c := range cells {
		one := of(c)
		a.All = append(a.All, one)
		switch {
		case one.From.Basis == Untested:
			a.Untested = append(a.Untested, one)
		case one.From.Sign < 0:
			a.Lower = append(a.Lower, one)
		}
	}
	slices.SortStableFunc(a.All, func(x, y P99) int { return cmp.Compare(x.Figure.Value, y.Figure.Value) })
	slices.SortStableFunc(a.Lower, func(x, y P99) int { return cmp.Compare(x.Figure.Value, y.Figure.Value) })
	return a
}
