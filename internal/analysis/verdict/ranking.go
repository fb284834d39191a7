package verdict

import (
	"cmp"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// EnoughAnswers is the availability in percent below which the latency of a cell is
// not ranked: refused requests are fast, and not in the histogram.
const EnoughAnswers = 99

// Contender is a cell in a ranking by one figure.
type Contender struct {
	Cell  *summary.Cell
	Name  string  // in a sentence
	Value float64 // the cell's figure: see Figure
	// AtLeast: the figure is a lower bound, because too many requests failed.
	AtLeast bool
	// Low and High are the ends of the figure, and Sure what they are made of.
	Low, High float64
	Sure      Certainty
	Trials    int // that have the figure
}

// ContenderOf returns a cell as a contender by a metric; false: it does not have it.
func ContenderOf(c *summary.Cell, name, metric string) (Contender, bool) {
	f, ok := FigureOf(c, metric)
	if !ok {
		return Contender{}, false
	}
	one := Contender{Cell: c, Name: name, Value: f.Value, AtLeast: f.AtLeast, Trials: f.Trials}
	one.Low, one.High, one.Sure = SpreadOf(c, metric)
	return one, true
}

// Below reports whether x lies below y, significantly.
func (r *Ranking) Below(x, y Contender) bool { return r.Between(x.Cell, y.Cell).Sign < 0 }

// Above reports whether x lies above y, significantly.
func (r *Ranking) Above(x, y Contender) bool { return r.Between(x.Cell, y.Cell).Sign > 0 }

// Better reports whether the record shows that x is better than y.
type Better func(x, y Contender) bool

// Tied are the contenders that best was not shown to be better than.
func Tied(best Contender, rest []Contender, better Better) (all []Contender) {
	for _, c := range rest {
		if !better(best, c) {
			all = append(all, c)
		}
	}
	return all
}

// Besides are the contenders that are not among some.
func Besides(all, some []Contender) (rest []Contender) {
	for _, c := range all {
		if !slices.ContainsFunc(some, func(s Contender) bool { return s.Cell == c.Cell }) {
			rest = append(rest, c)
		}
	}
	return rest
}

// Sorted returns contenders upwards; equal ones stay in the plan's order, and lower
// bounds come after values.
func Sorted(inPlan []Contender) []Contender {
	all := slices.Clone(inPlan)
	slices.SortStableFunc(all, func(x, y Contender) int {
		if x.AtLeast != y.AtLeast {
			if x.AtLeast {
				return 1
			}
			return -1
		}
		return cmp.Compare(x.Value, y.Value)
	})
	return all
}

// MoreServed returns the contender with the highest rate and that of the cell, if the
// first was shown to serve more and all cells have the same closed load. rates are in
// the plan's order.
func MoreServed(s *summary.Summary, cell *summary.Cell, rates []Contender) (top, own Contender, ok bool) {
	for i := range s.Cells {
		l := &s.Cells[i].Load
		if l.Kind != "closed" || !sameLoad(l, &s.Cells[0].Load) {
			return top, own, false
		}
	}
	all := Sorted(rates)
	top = all[len(all)-1]
	for _, c := range all {
		if c.Cell == cell && Rank(s, "rate_rps").Below(c, top) {
			return top, c, true
		}
	}
	return top, own, false
}

func sameLoad(a, b *summary.Load) bool {
	same := func(x, y *float64) bool { return (x == nil) == (y == nil) && (x == nil || *x == *y) }
	return a.Kind == b.Kind && same(a.Users, b.Users) && same(a.Rate, b.Rate)
}
