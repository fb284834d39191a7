package facts

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	if n == 0 {
		return math.NaN()
	}
	return (v[(n-1)/2] + v[n/2]) / 2
}

// medianEnds are the ends of the 95% interval of a median by order statistics: the k-th
// lowest and the k-th highest value, with the largest k whose binomial tails are at most
// 2.5% each. ok is false if there is none.
func medianEnds(values []float64) (low, high float64, ok bool) {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	below := 0.0 // P(Binomial(n, 1/2) <= k)
	for k := 0; k < n/2; k++ {
		below += choose(n, k) / math.Pow(2, float64(n))
		if below > 0.025 {
			break
		}
		low, high, ok = v[k], v[n-1-k], true
	}
	return low, high, ok
}

func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return c
}

// differ is the two-sided p of x against y by dealing the values again, in all ways or in
// 5,000: how often the mean of one side's standing among the other is as many of its own
// standard errors from the middle (Brunner and Munzel's), with the errors that it has in
// the middle (Wilson's). Of fewer than six values on a side, Welch's p of the logarithms,
// at 4%, counts if it is larger. lower: x tends to be lower.
func differ(x, y []float64) (p float64, lower bool) {
	both := append(slices.Clone(x), y...)
	standing := func(v float64, among []float64) (n float64) {
		for _, w := range among {
			n += float64(cmp.Compare(v, w)) / 2 / float64(len(among))
		}
		return n
	}
	moments := func(v, among []float64) (mean, error2 float64) {
		for _, one := range v {
			mean += standing(one, among) / float64(len(v))
		}
		for _, one := range v {
			error2 += math.Pow(standing(one, among)-mean, 2)
		}
		return mean, error2 / float64(len(v)-1) / float64(len(v))
	}
	far := func(x, y []float64) float64 {
		m, a := moments(x, y)
		_, b := moments(y, x)
		switch {
		case math.Abs(m) < 1e-12:
			return 0
		case a+b < 1e-14:
			return m * 1e12
		}
		return m * math.Sqrt(1-4*m*m) / math.Sqrt(a+b)
	}
	seen, as, ways := far(x, y), 0.0, 0.0
	count := func(x, y []float64) {
		ways++
		if math.Abs(far(x, y)) >= math.Abs(seen)*(1-1e-9) {
			as++
		}
	}
	if choose(len(both), len(x)) > mostWays {
		rng := rand.New(rand.NewPCG(23, uint64(len(both))))
		for range draws {
			rng.Shuffle(len(both), func(a, b int) { both[a], both[b] = both[b], both[a] })
			count(both[:len(x)], both[len(x):])
		}
	} else {
		var deal func(at int, one, other []float64)
		deal = func(at int, one, other []float64) {
			switch {
			case len(one) > len(x) || len(other) > len(y):
			case at == len(both):
				count(one, other)
			default:
				deal(at+1, append(one, both[at]), other)
				deal(at+1, one, append(other, both[at]))
			}
		}
		deal(0, nil, nil)
	}
	return max(as/ways, welch(x, y)), seen < 0
}

// signs is the two-sided p of the sign test of x against y in each round, and whether the
// sums of the rounds drift: Kendall's count of pairs in order, by its normal approximation
// above eight rounds and by its table below.
func signs(x, y []float64) (p float64, drifts bool) {
	n := len(x)
	if n != len(y) || n < 6 || slices.ContainsFunc(slices.Concat(x, y), func(v float64) bool { return math.IsInf(v, 0) }) {
		return 1, false
	}
	order, more, less := 0, 0, 0
	for i := range n {
		for j := range i {
			order += cmp.Compare(x[i]+y[i], x[j]+y[j])
		}
		switch cmp.Compare(x[i], y[i]) {
		case 1:
			more++
		case -1:
			less++
		}
	}
	if least, ok := map[int]int{6: 13, 7: 15, 8: 18}[n]; ok {
		drifts = max(order, -order) >= least
	} else {
		drifts = (math.Abs(float64(order))-1)/math.Sqrt(float64(n*(n-1)*(2*n+5))/18) > 1.96
	}
	for k := range n - max(more, less) + 1 {
		p += choose(n, k) / math.Pow(2, float64(n-1))
	}
	return min(1, p), drifts
}

// mostWays are the ways to deal values that are tried one by one.
const mostWays = 20000

// welch is the two-sided p of Welch's test of the logarithms, if one side has two to five
// values, by adding up the density of Student's t; 0: there is none.
func welch(x, y []float64) float64 {
	few := min(len(x), len(y))
	if few < 2 || few > 5 || slices.ContainsFunc(slices.Concat(x, y), func(v float64) bool { return !(v > 0) || math.IsInf(v, 1) }) {
		return 0
	}
	of := func(v []float64) (mean, error2 float64) {
		for _, one := range v {
			mean += math.Log(one) / float64(len(v))
		}
		for _, one := range v {
			error2 += math.Pow(math.Log(one)-mean, 2) / float64(len(v)-1) / float64(len(v))
		}
		return mean, error2
	}
	m, a := of(x)
	n, b := of(y)
	if a+b < 1e-24 {
		return map[bool]float64{true: 1}[math.Abs(m-n) < 1e-12]
	}
	t, free := math.Abs(m-n)/math.Sqrt(a+b), (a+b)*(a+b)/(a*a/float64(len(x)-1)+b*b/float64(len(y)-1))
	// t = sqrt(free) tan(u) makes the density a power of the cosine.
	const steps = 20000
	var within, all float64
	edge := math.Atan(t / math.Sqrt(free))
	for i := range steps {
		middle := (float64(i) + 0.5) / steps
		within += edge * math.Pow(math.Cos(edge*middle), free-1)
		all += math.Pi / 2 * math.Pow(math.Cos(math.Pi/2*middle), free-1)
	}
	return min(1, (1-within/all)*5/4)
}

// holm corrects the p of several tests.
func holm(all []float64) []float64 {
	order := make([]int, len(all))
	for i := range all {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a], all[b]) })
	out, highest := slices.Clone(all), 0.0
	for k, i := range order {
		highest = max(highest, min(1, all[i]*float64(len(all)-k)))
		out[i] = highest
	}
	return out
}

// hodgesLehmann is the median of all differences of a value of y and one of x.
func hodgesLehmann(x, y []float64) float64 {
	var all []float64
	for _, a := range x {
		for _, b := range y {
			all = append(all, b-a)
		}
	}
	return median(all)
}

// proportion is the exact 95% interval of a share, by adding up beta densities. Of trials
// that differ more than by chance, fewer requests count.
func proportion(c *cell) (low, high float64) {
	bad, n := float64(c.all().bad()), float64(c.all().requests())
	mean, squares := bad/float64(len(c.trials)), 0.0
	for _, t := range c.each() {
		squares += math.Pow(n/float64(len(c.trials))*float64(t.bad())/float64(t.requests())-mean, 2)
	}
	if by := squares / mean / float64(len(c.trials)-1); by > 1 {
		bad, n = bad/by, n/by
	}
	end := func(a, b, share float64) float64 { // a quantile of a beta distribution
		const steps = 100000
		most, sum := min(1, (a+30+10*math.Sqrt(a))/(a+b)), 0.0
		at := func(i int) float64 { return most * math.Pow(float64(i)/steps, 4) }
		var below [steps]float64
		x, _ := math.Lgamma(a + b)
		y, _ := math.Lgamma(a)
		z, _ := math.Lgamma(b)
		for i := range below {
			middle := (at(i) + at(i+1)) / 2
			sum += (at(i+1) - at(i)) * math.Exp(x-y-z+(a-1)*math.Log(middle)+(b-1)*math.Log1p(-middle))
			below[i] = sum
		}
		i, _ := slices.BinarySearch(below[:], share*sum)
		return at(i + 1)
	}
	high = 1
	if bad > 0 {
		low = end(bad, n-bad+1, 0.025)
	}
	if bad < n {
		high = end(bad+1, n-bad, 0.975)
	}
	return low, high
}

// mostWrong is the number of false statements that 5% exceed with a probability of 1 in
// 1,000.
func mostWrong(n int) int {
	below, k := 0.0, 0
	for ; k < n; k++ {
		below += choose(n, k) * math.Pow(0.05, float64(k)) * math.Pow(0.95, float64(n-k))
		if below > 0.999 {
			break
		}
	}
	return k
}

func TestOwnStatisticsAreThoseOfTables(t *testing.T) {
	for _, test := range []struct {
		x, y []float64
		p    float64
	}{
		{[]float64{101, 102, 103, 104}, []float64{205, 206, 207, 208}, 2.0 / 70},
		{[]float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12}, 2.0 / 924},
		{[]float64{1, 2, 3}, []float64{1, 2, 3}, 1},
	} {
		if p, _ := differ(test.x, test.y); math.Abs(p-test.p) > 1e-9 {
			t.Errorf("%v, %v: p %v, want %v", test.x, test.y, p, test.p)
		}
	}
	// The pain scores of Brunner and Munzel: 0.008 in R, whose errors are not Wilson's.
	if p, lower := differ([]float64{1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1}, []float64{3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4}); math.Abs(p-0.0141) > 0.006 || !lower {
		t.Errorf("pain scores: p %v", p)
	}
	if low, high, ok := medianEnds([]float64{6, 5, 4, 3, 2, 1}); !ok || low != 1 || high != 6 {
		t.Error("six values: their range is the interval")
	}
	if _, _, ok := medianEnds([]float64{1, 2, 3, 4, 5}); ok {
		t.Error("five values have no interval")
	}
	if got := holm([]float64{0.01, 0.04, 0.03}); got[0] != 0.03 || got[1] != 0.06 || got[2] != 0.06 {
		t.Errorf("Holm: %v", got)
	}
}
