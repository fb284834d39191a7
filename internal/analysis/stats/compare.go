package stats

// Comparison is one cell's trials compared with a baseline's.
type Comparison struct {
	Trials      [2]int    // of the baseline, of the cell
	Base, Value float64   // medians over trials; NaN without one
	Shift       float64   // the Hodges-Lehmann estimate; NaN if a side has no trial
	Interval    *Interval // of the shift; nil: too few trials for 95%
	P           float64   // Mann-Whitney, two-sided
	PHolm       float64   // corrected over the family; 1 with too few trials
	Significant bool      // PHolm < 0.05
	Family      int       // how many tests share the correction
}

// Enough reports whether there were enough trials to detect a difference. There were
// too few if there is no 95% interval, or if the sides do not overlap at all and are
// still not significant among so many tests.
func (c *Comparison) Enough() bool {
	return c.Interval != nil && (c.Significant || c.P > LeastP(c.Trials[0], c.Trials[1])*(1+1e-9))
}

// Pair is what is compared: the values of one figure, one per trial. They are finite.
type Pair struct{ Base, Value []float64 }

// Against compares each cell with one baseline. The tests are a family: Holm's
// correction covers all of them.
func Against(base []float64, cells [][]float64) []Comparison {
	pairs := make([]Pair, len(cells))
	for i, values := range cells {
		pairs[i] = Pair{base, values}
	}
	return Family(pairs)
}

// Family compares pairs whose tests share one correction. Pairs with too few trials
// for any result are no tests, and do not affect the others.
func Family(pairs []Pair) []Comparison {
	all := make([]Comparison, len(pairs))
	var tested []int
	var p []float64
	for i, pair := range pairs {
		all[i] = compare(pair)
		if all[i].Interval != nil {
			tested = append(tested, i)
			p = append(p, all[i].P)
		}
	}
	for k, corrected := range Holm(p) {
		c := &all[tested[k]]
		c.PHolm = corrected
		c.Family = len(tested)
		c.Significant = corrected < 1-Level
	}
	return all
}

func compare(p Pair) Comparison {
	c := Comparison{Trials: [2]int{len(p.Base), len(p.Value)}, Base: Median(p.Base), Value: Median(p.Value), P: 1, PHolm: 1}
	c.Shift = c.Value - c.Base
	if len(p.Base) > 0 && len(p.Value) > 0 {
		_, c.P = MannWhitney(p.Value, p.Base)
		c.Shift, c.Interval = HodgesLehmann(p.Base, p.Value)
	}
	return c
}
