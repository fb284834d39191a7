package stats

import (
	"math"
	"slices"
)

// HodgesLehmann estimates by how much value lies above base: the median of all
// differences value - base. The interval contains the true shift with at least 95% for
// any distribution, provided that both samples have the same shape. Its ends are the
// differences that Mann-Whitney's U cannot exclude. It is exact up to 50 values per
// sample. It is nil if the samples are too small for 95% (3 against 3, 3 against 4, 2
// against 7): its ends would not be bounded. (M. Hollander, D. A. Wolfe, Nonparametric
// Statistical Methods, 2nd edition, 1999, sections 4.2 and 4.3.)
//
// Both samples must have a value.
func HodgesLehmann(base, value []float64) (shift float64, interval *Interval) {
	known := func(v []float64) []Observed {
		all := make([]Observed, len(v))
		for i := range v {
			all[i] = Known(v[i])
		}
		return all
	}
	median, interval := CensoredShift(known(base), known(value))
	return median.Low, interval
}

// CensoredShift estimates the shift of values of which some are only known to lie within
// bounds: the bounds of the Hodges-Lehmann estimate, and an interval that holds wherever the values lie
// within theirs. Its ends may be infinite.
func CensoredShift(base, value []Observed) (shift Observed, interval *Interval) {
	return pairwise(base, value, math.Inf(-1), func(v, b float64) float64 { return v - b })
}

// CensoredFactor is the interval of the factor between two samples, of values of at least
// 0, that differ by a factor only: CensoredShift of their logarithms. nil: there are too
// few values.
func CensoredFactor(base, value []Observed) *Interval {
	_, interval := pairwise(base, value, 0, func(v, b float64) float64 { return max(0, v) / max(0, b) })
	return interval
}

// pairwise orders what lies between each value and each base; least is its lowest value.
func pairwise(base, value []Observed, least float64, between func(v, b float64) float64) (median Observed, interval *Interval) {
	var lows, highs []float64
	for _, v := range value {
		for _, b := range base {
			low, high := between(v.Low, b.High), between(v.High, b.Low)
			if math.IsNaN(low) { // both infinite, or both 0 and to be divided
				low = least
			}
			if math.IsNaN(high) {
				high = math.Inf(1)
			}
			lows, highs = append(lows, low), append(highs, high)
		}
	}
	slices.Sort(lows)
	slices.Sort(highs)
	median = Observed{middle(lows), middle(highs)}
	cut, level := excluded(len(base), len(value))
	if cut == 0 {
		return median, nil
	}
	return median, &Interval{Low: lows[cut-1], High: highs[len(highs)-cut], Level: level}
}

// Stratified estimates one shift from several pairs of samples, each of another
// population. Only values of one pair are subtracted from each other. The interval is
// that of HodgesLehmann for the sum of the pairs' U (P. van Elteren, Bulletin of the
// International Statistical Institute 37, 1960). At least one pair must have a value on
// both sides.
func Stratified(pairs []Pair) (shift float64, interval *Interval) {
	var all []float64
	ways := []float64{1} // to have a sum of U
	for _, p := range pairs {
		all = append(all, differences(p.Base, p.Value)...)
		ways = convolved(ways, waysOfU(len(p.Base), len(p.Value)))
	}
	slices.Sort(all)
	cut, level := cutOf(ways)
	return shifted(all, cut, level)
}

// shifted returns the median of sorted differences, and its interval by the rank of the
// ends; nil: 0.
func shifted(sorted []float64, cut int, level float64) (shift float64, interval *Interval) {
	shift = middle(sorted)
	if cut == 0 {
		return shift, nil
	}
	return shift, &Interval{Low: sorted[cut-1], High: sorted[len(sorted)-cut], Level: level}
}

// differences returns all differences value - base, ascending.
func differences(base, value []float64) []float64 {
	all := make([]float64, 0, len(base)*len(value))
	for _, v := range value {
		for _, b := range base {
			all = append(all, v-b)
		}
	}
	slices.Sort(all)
	return all
}

// waysOfU counts the orders of m and n different values by their U: the coefficients of
// the Gaussian binomial, the product of (1 - q^(n+i)) / (1 - q^i) for i = 1 to m.
func waysOfU(m, n int) []float64 {
	ways := make([]float64, m*n+1)
	ways[0] = 1
	for i := 1; i <= m; i++ {
		for u := m * n; u >= n+i; u-- {
			ways[u] -= ways[u-n-i]
		}
		for u := i; u <= m*n; u++ {
			ways[u] += ways[u-i]
		}
	}
	return ways
}

// convolved returns the distribution of the sum of two that are independent.
func convolved(a, b []float64) []float64 {
	sum := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		for j, y := range b {
			sum[i+j] += x * y
		}
	}
	return sum
}

// excluded returns the rank, from 1, of the difference that bounds a 95% interval from
// below; the same rank from the top bounds it from above. It also returns the
// confidence of that interval. The rank is the largest cut with 2 P(U <= cut-1) <
// 0.05; 0 means there is none.
func excluded(m, n int) (cut int, level float64) {
	pairs := m * n
	if m > mostExact || n > mostExact {
		spread := math.Sqrt(float64(pairs) * float64(m+n+1) / 12)
		z := math.Sqrt2 * math.Erfinv(Level)
		return max(0, int(float64(pairs)/2-z*spread)), math.NaN()
	}
	return cutOf(waysOfU(m, n))
}

// cutOf returns the largest number of values at the lower end of a symmetric distribution
// that together have less than half of the probability outside a 95% interval, and the
// confidence of the interval without them and as many at the upper end. ways has the
// distribution, which need not add up to 1.
func cutOf(ways []float64) (cut int, level float64) {
	total, below := 0.0, 0.0
	for _, n := range ways {
		total += n
	}
	for below+ways[cut] < (1-Level)/2*total {
		below += ways[cut]
		cut++
	}
	return cut, 1 - 2*below/total
}
