package verdict

import (
	"cmp"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// Placed is the latency of a cell, against that of a base.
type Placed struct {
	Cell   *summary.Cell
	Base   *summary.Cell
	Figure Figure
	From   summary.Evidence    // where it lies from the base
	Shift  *summary.Comparison // from the base; nil: it is not known
}

// AgainstBase compares cells that ran at one load with a base cell.
type AgainstBase struct {
	Base     Placed
	All      []Placed // the lowest first
	Lower    []Placed // lower than the base, significantly, by the largest shift
	Untested []Placed // in the order of the cells
}

// Against compares the latency of cells with that of a base, by the quantile of the
// objective. All have latencies.
func Against(s *summary.Summary, base *summary.Cell, cells []*summary.Cell) AgainstBase {
	quantile := s.Quantile()
	r := Rank(s, summary.LatencyPath(quantile))
	of := func(c *summary.Cell) Placed {
		one := Placed{Cell: c, Base: base, From: r.Between(c, base)}
		one.Figure, _ = FigureOf(c, quantile)
		if test, ok := r.comparison(r.index(c), r.index(base)); ok {
			one.Shift = &test.Comparison
		}
		return one
	}
	a := AgainstBase{Base: of(base)}
	for _, c := range cells {
		one := of(c)
		a.All = append(a.All, one)
		switch {
		case one.From.Basis == summary.Untested:
			a.Untested = append(a.Untested, one)
		case one.From.Sign < 0:
			a.Lower = append(a.Lower, one)
		}
	}
	slices.SortStableFunc(a.All, func(x, y Placed) int { return cmp.Compare(x.Figure.Value, y.Figure.Value) })
	slices.SortStableFunc(a.Lower, func(x, y Placed) int { return cmp.Compare(x.Figure.Value, y.Figure.Value) })
	return a
}
