package stats

import "slices"

// Rounds is the sign test of two samples within rounds.
type Rounds struct {
	Sign     int // of x to y
	P        float64
	Shift    float64 // of y from x: the median of the differences
	Interval Interval
}

// InRounds tests whether x lies above y by the signs of their differences in each round, of
// which both have the value at one place, where the rounds show a trend: a machine that
// drifts hides a difference from CensoredTest. The means of the rounds say nothing about
// which sample is higher, so both tests together keep to the level. nil: there is no trend,
// or a value is not a number, or the rounds are fewer than six.
func InRounds(x, y []Observed) *Rounds {
	if len(x) != len(y) {
		return nil
	}
	means, apart := make([]float64, len(x)), make([]float64, len(x))
	above, below := 0, 0
	for i := range x {
		if !x[i].Known() || !y[i].Known() || !Finite(x[i].Low, y[i].Low) {
			return nil
		}
		means[i], apart[i] = (x[i].Low+y[i].Low)/2, y[i].Low-x[i].Low
		switch {
		case apart[i] < 0:
			above++
		case apart[i] > 0:
			below++
		}
	}
	from, to, ok := MedianInterval(len(x))
	if !ok || Trend(means) >= 1-Level {
		return nil
	}
	slices.Sort(apart)
	r := &Rounds{Shift: middle(apart), Interval: Interval{Low: apart[from], High: apart[to], Level: Level}}
	if above != below {
		r.Sign = 1
		if below > above {
			r.Sign = -1
		}
	}
	for k, n := 0, len(x); k <= n-max(above, below); k++ { // equal values count against it
		r.P += 2 * choose(n, k)
	}
	for range x {
		r.P /= 2
	}
	r.P = min(1, r.P)
	return r
}
