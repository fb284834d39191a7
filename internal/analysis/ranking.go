package analysis

import (
	"cmp"
	"slices"

	"github.com/millicore/millicore/internal/analysis/stats"
)

const (
	// EnoughAnswers is the availability in percent below which the latency of a
	// cell is not ranked: refused requests are fast, and not in the histogram.
	EnoughAnswers = 99
	// EnoughTrials is the number of trials that a test of two cells needs: with
	// fewer no 95% interval of a median exists.
	EnoughTrials = minTrials
)

// Contender is a cell in a ranking by one figure.
type Contender struct {
	Cell  *CellSummary
	Name  string  // in a sentence
	Value float64 // that is ranked: see Settle
	// Low and High are the ends of the figure, and Sure what they are made of.
	Low, High float64
	Sure      Certainty
	Metric    string    // the figure's field path, by which a test of it is found
	Pooled    float64   // the figure of all trials together, which the table shows
	Trials    []float64 // the figure of each trial
}

// ContenderOf returns a cell as a contender; false: it does not have the figure.
func ContenderOf(c *CellSummary, name, path string, of func(*CellSummary) *float64, trial func(*TrialFigures) *float64) (Contender, bool) {
	v := of(c)
	if v == nil {
		return Contender{}, false
	}
	one := Contender{Cell: c, Name: name, Value: *v, Pooled: *v, Metric: path}
	for k := range c.PerTrial {
		if v := trial(&c.PerTrial[k]); v != nil {
			one.Trials = append(one.Trials, *v)
		}
	}
	if len(one.Trials) > 0 {
		one.Value = stats.Median(one.Trials)
	}
	one.Low, one.High, one.Sure = SpreadOf(c, path, trial)
	if ends, ok := c.Intervals[path]; ok && one.Sure == RangeOfTrials { // two trials may be close to one another by chance
		one.Low, one.High = min(one.Low, ends[0]), max(one.High, ends[1])
	}
	return one, true
}

// Disjoint reports whether the intervals of two figures do not overlap.
func Disjoint(x, y Contender) bool { return x.High < y.Low || y.High < x.Low }

// Below reports whether x lies below y with certainty: by the record's test of the
// two cells, if it has one; else by a test over their trials, corrected for a
// number of pairs; and where the trials are too few for one, by intervals that do
// not overlap. A test is two-sided: the sign of its shift shows which of the two
// is lower. Breaking points are never ranked by the interval of one search, which
// holds for one start only.
func (s *Summary) Below(x, y Contender, pairs int) bool {
	for i := range s.Comparisons {
		c := &s.Comparisons[i]
		switch {
		case c.Metric != x.Metric:
		case c.Cell == x.Cell.Cell && c.Baseline == y.Cell.Cell:
			return c.Significant && c.Shift < 0
		case c.Cell == y.Cell.Cell && c.Baseline == x.Cell.Cell:
			return c.Significant && c.Shift > 0
		}
	}
	enough := EnoughTrials
	if x.Metric == BreakingPointMetric {
		enough = EnoughSearches
	}
	switch {
	case len(x.Trials) >= enough && len(y.Trials) >= enough:
		above, p := stats.MannWhitney(x.Trials, y.Trials)
		return 2*above < float64(len(x.Trials)*len(y.Trials)) && p*float64(pairs) < 1-stats.Level
	case x.Metric == BreakingPointMetric:
		a, b := x.Cell.Breaking, y.Cell.Breaking
		return a.Against(b) < 0 && min(a.Searches, b.Searches) >= stats.TrialsNeeded(pairs)
	case x.Sure == NoEnds || y.Sure == NoEnds:
		return x.Value < y.Value
	}
	return x.High < y.Low
}

// Above reports whether x lies above y with certainty.
func (s *Summary) Above(x, y Contender, pairs int) bool { return s.Below(y, x, pairs) }

// Better reports whether x is better than y with certainty; pairs is the number
// of pairs among which this one was picked.
type Better func(x, y Contender, pairs int) bool

// Pairs is the number of pairs of a number of cells.
func Pairs(cells int) int { return cells * (cells - 1) / 2 }

// Tied are the contenders that best is not better than with certainty. That best
// is better than each of the others needs no correction for their number, as all
// tests have to agree. Where some do not, each of the rest is a claim of its own,
// about a pair that was picked by its figures among all.
func Tied(best Contender, rest []Contender, better Better) []Contender {
	of := func(pairs int) (all []Contender) {
		for _, c := range rest {
			if !better(best, c, pairs) {
				all = append(all, c)
			}
		}
		return all
	}
	if len(of(1)) == 0 {
		return nil
	}
	return of(Pairs(len(rest) + 1))
}

// EveryPairTied reports whether no two of the contenders, the best first, can be
// distinguished.
func EveryPairTied(all []Contender, better Better) bool {
	for i, x := range all {
		for _, y := range all[i+1:] {
			if better(x, y, Pairs(len(all))) {
				return false
			}
		}
	}
	return true
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

// Settle sorts contenders upwards by what the tests and the intervals are about:
// the median over trials. The figure of all trials together is not ranked, because
// one bad trial can decide it. The table shows it, however: where it has the same
// winner, the lowest or the highest, it becomes the value of both slices, and
// pooled is true.
func Settle(inPlan []Contender, highest bool) (ranked []Contender, pooled bool) {
	ranked = slices.Clone(inPlan)
	SortByValue(ranked)
	winner := ranked[0]
	if highest {
		winner = ranked[len(ranked)-1]
	}
	better := func(c Contender) bool { return c.Pooled < winner.Pooled }
	if highest {
		better = func(c Contender) bool { return c.Pooled > winner.Pooled }
	}
	if slices.ContainsFunc(ranked, better) {
		return ranked, false
	}
	for _, all := range [][]Contender{inPlan, ranked} {
		for i := range all {
			all[i].Value = all[i].Pooled
		}
	}
	return ranked, true
}

// SortByValue sorts contenders upwards; equal ones stay in the plan's order.
func SortByValue(all []Contender) {
	slices.SortStableFunc(all, func(x, y Contender) int { return cmp.Compare(x.Value, y.Value) })
}

// MoreServed returns the contender with the highest rate and that of the cell, if
// the first serves more with certainty: all cells have the same closed load, and
// both intervals are over trials. rates are in the plan's order; pooled is that of
// Settle.
func (s *Summary) MoreServed(cell *CellSummary, rates []Contender) (top, own Contender, pooled, ok bool) {
	for i := range s.Cells {
		l := &s.Cells[i].Load
		if l.Kind != "closed" || !sameLoad(l, &s.Cells[0].Load) {
			return top, own, false, false
		}
	}
	all, pooled := Settle(rates, true)
	top = all[len(all)-1]
	for _, c := range all {
		if c.Cell == cell && c.Sure == IntervalOfTrials && top.Sure == IntervalOfTrials && s.Below(c, top, Pairs(len(all))) {
			return top, c, pooled, true
		}
	}
	return top, own, pooled, false
}

func sameLoad(a, b *LoadSummary) bool {
	same := func(x, y *float64) bool { return (x == nil) == (y == nil) && (x == nil || *x == *y) }
	return a.Kind == b.Kind && same(a.Users, b.Users) && same(a.Rate, b.Rate)
}
