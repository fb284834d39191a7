package stats

import (
	"cmp"
	"math"
	"slices"
)

// Observed is the value of one trial, or what is known of it: it lies between Low and
// High. Both are equal if the value is known. A lower bound has an infinite High, and a
// trial that failed at every load has a Low of -Inf or 0.
type Observed struct{ Low, High float64 }

// Known is a value that was measured.
func Known(v float64) Observed { return Observed{v, v} }

// Known reports whether the value itself is known.
func (o Observed) Known() bool { return o.Low == o.High }

// Against returns 1 if o certainly lies above p, -1 if it certainly lies below, and 0
// if they are equal or have no certain order. A bound of at least 500 lies above a
// value of 300 or 500, and has no order with a value of 600.
func (o Observed) Against(p Observed) int {
	switch {
	case o == p && o.Known():
		return 0
	case o.Low >= p.High:
		return 1
	case p.Low >= o.High:
		return -1
	}
	return 0
}

// dominance is in how many pairs of a value of x and one of y the first certainly lies
// above, less those in which it lies below: 2U - mn without ties.
func dominance(x, y []Observed) int {
	n := 0
	for _, a := range x {
		for _, b := range y {
			n += a.Against(b)
		}
	}
	return n
}

// Finite reports whether all values are numbers.
func Finite(v ...float64) bool {
	return !slices.ContainsFunc(v, func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) })
}

// CensoredMedian returns the bounds of the median of a sample, and those of the 95%
// interval of the median over starts: the order statistics of the lower and of the
// upper bounds. With fewer than six values the interval is their range. All are NaN
// for no values.
func CensoredMedian(sample []Observed) (median, interval Observed) {
	if len(sample) == 0 {
		return Known(math.NaN()), Known(math.NaN())
	}
	lows, highs := make([]float64, len(sample)), make([]float64, len(sample))
	for i, o := range sample {
		lows[i], highs[i] = o.Low, o.High
	}
	slices.Sort(lows)
	slices.Sort(highs)
	from, to, ok := MedianInterval(len(sample))
	if !ok {
		from, to = 0, len(sample)-1
	}
	return Observed{Median(lows), Median(highs)}, Observed{lows[from], highs[to]}
}

// MedianInterval returns the ranks, from 0, between which the median of the population
// lies with at least 95%, for n ordered values. ok is false for fewer than six. It is
// the order-statistic (sign test) interval: the rank k is the largest with 2
// P(Binomial(n, 1/2) <= k) <= 0.05.
func MedianInterval(n int) (low, high int, ok bool) {
	tail, p, k := 0.0, math.Pow(0.5, float64(n)), -1
	for i := 0; i < n/2; i++ {
		tail += p
		if 2*tail > 1-Level {
			break
		}
		k = i
		p = p * float64(n-i) / float64(i+1)
	}
	return k, n - 1 - k, k >= 0
}

// KaplanMeierMedian returns the median of values, of which some are only known to be at
// least their Low. It is the least value that at most half of the population exceeds,
// or the mean of it and the next one if that is exactly half and both are known. If
// bounds hide it, it is the middle of the lower bounds, with an infinite High. (E. L.
// Kaplan, P. Meier, Journal of the American Statistical Association 53, 1958.)
func KaplanMeierMedian(sample []Observed) Observed {
	all := slices.Clone(sample)
	slices.SortFunc(all, func(a, b Observed) int { return cmp.Or(cmp.Compare(a.Low, b.Low), cmp.Compare(a.High, b.High)) })
	above := 1.0
	for i, o := range all {
		if !o.Known() {
			continue
		}
		left := len(all) - i
		above *= 1 - 1/float64(left)
		switch {
		case above > 0.5+1e-9:
		case above > 0.5-1e-9 && i+1 < len(all) && all[i+1].Known():
			return Known((o.Low + all[i+1].Low) / 2)
		default:
			return o
		}
	}
	if len(all) == 0 {
		return Known(math.NaN())
	}
	return Observed{all[(len(all)-1)/2].Low, math.Inf(1)}
}
