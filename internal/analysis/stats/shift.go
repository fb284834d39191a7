package stats

import (
	"cmp"
	"math"
	"slices"
)

// CensoredShift estimates by how much value lies above base, of values of which some are
// only known to lie within bounds: the bounds of the median of all differences value - base
// (J. L. Hodges, E. L. Lehmann, Annals of Mathematical Statistics 34, 1963), and the shifts
// that CensoredTest cannot exclude at 5%, wherever the values lie within theirs. The ends
// may be infinite. The interval is nil if the samples are too small for it (3 against 3, 3
// against 4, 2 against 7). Both samples must have a value.
func CensoredShift(base, value []Observed) (shift Observed, interval *Interval) {
	shift, interval = pairwise(base, value, math.Inf(-1), func(v, b float64) float64 { return v - b })
	if f, ok := fewOf(base, value); ok && interval != nil {
		interval.Low, interval.High = min(interval.Low, f.middle*(f.low-1)), max(interval.High, f.middle*(f.high-1))
	}
	return shift, interval
}

// CensoredFactor is the interval of the factor between two samples, of values of at least
// 0, that differ by a factor only: CensoredShift of their logarithms. nil: there are too
// few values.
func CensoredFactor(base, value []Observed) *Interval {
	_, interval := pairwise(base, value, 0, func(v, b float64) float64 { return max(0, v) / max(0, b) })
	if f, ok := fewOf(base, value); ok && interval != nil {
		interval.Low, interval.High = min(interval.Low, f.low), max(interval.High, f.high)
	}
	return interval
}

// pairwise orders what lies between each value and each base; least is its lowest value.
func pairwise(base, value []Observed, least float64, between func(v, b float64) float64) (median Observed, interval *Interval) {
	var lows, highs []float64 // by value, and by base
	for _, v := range value {
		for _, b := range base {
			low, high := between(v.Low, b.High), between(v.High, b.Low)
			if math.IsNaN(low) { // both infinite, or both 0 and to be divided
				low = least
			}
			if math.IsNaN(high) {
				high = math.Inf(1)
			}
			lows, highs = append(lows, low), append(highs, -high)
		}
	}
	low, ok := notExcluded(lows, len(base))
	high, _ := notExcluded(highs, len(base))
	slices.Sort(lows)
	slices.Sort(highs)
	median = Observed{middle(lows), -middle(highs)}
	if !ok {
		return median, nil
	}
	return median, &Interval{Low: low, High: -high, Level: Level}
}

// notExcluded is the lowest of the differences, of each value to each of n bases, above
// which a shift is not excluded by the test. false: no shift is excluded.
func notExcluded(differences []float64, n int) (low float64, ok bool) {
	m := len(differences) / n
	if LeastP(m, n) >= 1-Level {
		return 0, false
	}
	order, known := make([]int, m*n), distributionOf(m, n)
	ofValue, ofBase := make([]int, m), make([]int, n)
	for i := range order {
		order[i] = i
		ofValue[i/n]++
		ofBase[i%n]--
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(differences[a], differences[b]) })
	for at := 0; ; {
		sum, squares, others := 0.0, 0.0, 0.0
		for _, s := range ofValue {
			sum, squares = sum+float64(s), squares+float64(s*s)
		}
		for _, s := range ofBase {
			others += float64(s * s)
		}
		if t := ofScores(sum, squares, others, float64(m), float64(n)); t <= 0 || share(known, t) >= 1-Level {
			return low, at > 0
		}
		for low = differences[order[at]]; at < len(order) && differences[order[at]] == low; at++ {
			ofValue[order[at]/n] -= 2
			ofBase[order[at]%n] += 2
		}
	}
}

// fewValues is the size of a sample below which no test by ranks holds its level for
// spreads that differ: n values are on one side of their median in 1 of 2^(n-1) cases.
const fewValues = 6

// fewLevel is the level of Welch's test, so that skewed values keep to 5% as well.
const fewLevel = 0.04

// few is B. L. Welch's test of the means of logarithms (Biometrika 34, 1947).
type few struct {
	p, low, high float64 // two-sided, on the scale of 0.05; the 96% interval of the factor
	middle       float64 // the median of the base
}

// fewOf tests samples of which one has two to five values; false: both have more, or not
// all of their values are numbers above 0.
func fewOf(base, value []Observed) (f few, ok bool) {
	logs := [2][]float64{}
	for i, side := range [][]Observed{base, value} {
		for _, o := range side {
			if !o.Known() || o.Low <= 0 || !Finite(o.Low) {
				return f, false
			}
			logs[i] = append(logs[i], math.Log(o.Low))
		}
	}
	if n := min(len(base), len(value)); n < 2 || n >= fewValues {
		return f, false
	}
	a, b := variance(logs[0])/float64(len(base)), variance(logs[1])/float64(len(value))
	between, sd := mean(logs[1])-mean(logs[0]), math.Sqrt(a+b)
	f.middle = math.Exp(Median(logs[0]))
	if sd < 1e-12 {
		f.low, f.high = math.Exp(between), math.Exp(between)
		if math.Abs(between) < 1e-12 {
			f.p = 1
		}
		return f, true
	}
	free := (a + b) * (a + b) / (a*a/float64(len(base)-1) + b*b/float64(len(value)-1))
	twoSided := func(t float64) float64 { return beta(free/(free+t*t), free/2, 0.5) }
	f.p = min(1, twoSided(between/sd)*(1-Level)/fewLevel)
	// t is sqrt(free * (1/x - 1)) for the x of the beta function.
	t := math.Sqrt(free * (1/solved(func(x float64) bool { return beta(x, free/2, 0.5) < fewLevel }) - 1))
	f.low, f.high = math.Exp(between-t*sd), math.Exp(between+t*sd)
	return f, true
}

// Pair is what is compared: the values of one figure, one per trial. They are finite.
type Pair struct{ Base, Value []float64 }

// Stratified estimates one shift from several pairs of samples, each of another
// population. Only values of one pair are subtracted from each other. The interval is
// that of Mann and Whitney's test for the sum of the pairs' U (P. van Elteren, Bulletin of the
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
	if cut == 0 {
		return middle(all), nil
	}
	return middle(all), &Interval{Low: all[cut-1], High: all[len(all)-cut], Level: level}
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
