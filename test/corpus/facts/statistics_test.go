package facts

import (
	"cmp"
	"math"
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

// mannWhitney is the two-sided p of x against y by counting all ways to deal the values,
// and whether the values of x tend to be lower. It is exact, also with equal values.
func mannWhitney(x, y []float64) (p float64, lower bool) {
	both := append(slices.Clone(x), y...)
	ranks := make([]int, len(both)) // twice the mid-rank
	for i, v := range both {
		for _, w := range both {
			if w < v {
				ranks[i] += 2
			} else if w == v {
				ranks[i]++
			}
		}
		ranks[i]++
	}
	seen := 0
	for i := range x {
		seen += ranks[i]
	}
	ways := map[[2]int]float64{{0, 0}: 1} // by how many are chosen, and the sum of their ranks
	for _, rank := range ranks {
		next := map[[2]int]float64{}
		for at, n := range ways {
			next[at] += n
			if at[0] < len(x) {
				next[[2]int{at[0] + 1, at[1] + rank}] += n
			}
		}
		ways = next
	}
	var total, below, above float64
	for at, n := range ways {
		if at[0] != len(x) {
			continue
		}
		total += n
		if at[1] <= seen {
			below += n
		}
		if at[1] >= seen {
			above += n
		}
	}
	return min(1, 2*min(below, above)/total), below < above
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
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70},
		{[]float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12}, 2.0 / 924},
		{[]float64{1, 2, 3}, []float64{1, 2, 3}, 1},
	} {
		if p, _ := mannWhitney(test.x, test.y); math.Abs(p-test.p) > 1e-9 {
			t.Errorf("%v, %v: p %v, want %v", test.x, test.y, p, test.p)
		}
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
