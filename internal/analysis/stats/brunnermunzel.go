package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// mostDivisions is up to how many divisions of the values into two samples are counted;
// of more, so many are drawn.
const mostDivisions = 20000

// CensoredTest tests whether values of one sample tend to lie above those of the other,
// also if their spreads differ: the statistic of E. Brunner and U. Munzel (Biometrical
// Journal 42, 2000) by permutation (K. Neubert, E. Brunner, Computational Statistics and
// Data Analysis 51, 2007). It is exact if the samples are of one distribution. Values may be
// bounds (E. A. Gehan, Biometrika 52, 1965): those without a certain order count as equal.
// Where a sample has fewer than fewValues, Welch's test must see the difference, too: four
// values of a wide sample are all on one side of a narrow one in one case of eight. It cannot
// if one of the values is a bound, or not above 0.
//
// It returns in which direction x lies from y, and the two-sided P; 1 if a sample is empty.
// A single value shows no spread, so its P is 1, too.
func CensoredTest(x, y []Observed) (sign int, p float64) {
	if len(x) < 2 || len(y) < 2 {
		return min(1, max(-1, dominance(x, y))), 1
	}
	above := dominance(x, y)
	if above == 0 { // each division of the values is at least as far from 0
		return 0, 1
	}
	all := slices.Concat(x, y)
	order, tied := make([][]int, len(all)), false
	for i := range all {
		order[i] = make([]int, len(all))
		for j := range all {
			order[i][j] = all[i].Against(all[j])
			tied = tied || i != j && order[i][j] == 0
		}
	}
	t := studentized(order, firstOf(len(x), len(all)))
	if tied {
		p = share(distribution(order, len(x)), t)
	} else {
		p = share(distributionOf(len(x), len(y)), t)
	}
	if f, ok := fewOf(y, x); ok {
		p = max(p, f.p)
	}
	return min(1, max(-1, above)), p
}

// firstOf are the first m of n.
func firstOf(m, n int) []bool {
	in := make([]bool, n)
	for i := range m {
		in[i] = true
	}
	return in
}

// studentized is Brunner's and Munzel's statistic of the values that are in a sample
// against the others: infinite if they do not overlap.
func studentized(order [][]int, in []bool) float64 {
	var sum, m, n, squares, others float64
	for i, of := range order {
		score := 0
		for j, v := range of {
			if in[i] != in[j] {
				score += v
			}
		}
		s := float64(score)
		if in[i] {
			sum, squares, m = sum+s, squares+s*s, m+1
		} else {
			others, n = others+s*s, n+1
		}
	}
	return ofScores(sum, squares, others, m, n)
}

// ofScores is the statistic by the sum of the scores of one sample, that of the other being
// its opposite, the sums of their squares, and the sizes. Its square is that of Brunner and
// Munzel times 1 - effect², because the variance falls to 0 as the effect, -1..1, comes near
// to its ends. E. B. Wilson's interval of a share does the same. Without it, seven of eight
// wide values above all narrow ones would be found to differ, and they are in 7%.
func ofScores(sum, squares, others, m, n float64) float64 {
	variance := (squares-sum*sum/m)/max(1, m-1)/(n*n*m) + (others-sum*sum/n)/max(1, n-1)/(m*m*n)
	switch {
	case sum == 0:
		return 0
	case variance < 1e-12:
		return math.Copysign(math.Inf(1), sum)
	}
	effect := sum / (m * n)
	return effect * math.Sqrt((1-effect*effect)/variance)
}

// share is the part of a distribution that is at least as far from 0.
func share(sizes []float64, t float64) float64 {
	t = math.Abs(t)
	if Finite(t) {
		t -= 1e-9 * t
	}
	at, _ := slices.BinarySearch(sizes, t)
	return float64(len(sizes)-at) / float64(len(sizes))
}

var distributions sync.Map // sizes, as text -> []float64

// distributionOf is the distribution for samples of these sizes without equal values.
func distributionOf(m, n int) []float64 {
	key := fmt.Sprint(m, n)
	if known, ok := distributions.Load(key); ok {
		return known.([]float64)
	}
	order := make([][]int, m+n)
	for i := range order {
		order[i] = make([]int, m+n)
		for j := range order {
			order[i][j] = min(1, max(-1, i-j))
		}
	}
	sizes := distribution(order, m)
	distributions.Store(key, sizes)
	return sizes
}

// distribution has the sizes of the statistic, ascending, for all divisions of the values
// into m and the others, or for the first and others that are drawn. It is the same in each
// run.
func distribution(order [][]int, m int) (sizes []float64) {
	in := firstOf(m, len(order))
	add := func() { sizes = append(sizes, math.Abs(studentized(order, in))) }
	if choose(len(in), m) > mostDivisions {
		random := rand.New(rand.NewPCG(1, uint64(len(in))))
		for add(); len(sizes) < mostDivisions; add() {
			random.Shuffle(len(in), func(a, b int) { in[a], in[b] = in[b], in[a] })
		}
	} else {
		for more := true; more; more = next(in) {
			add()
		}
	}
	slices.Sort(sizes)
	return sizes
}

// next is the next choice of as many; false after the last.
func next(in []bool) bool {
	taken := 0
	for i := len(in) - 1; i >= 0; i-- {
		if in[i] && i+1 < len(in) && !in[i+1] {
			in[i] = false
			for j := i + 1; j < len(in); j++ {
				in[j] = j <= i+1+taken
			}
			return true
		}
		if in[i] {
			taken++
		}
	}
	return false
}

// LeastP is the smallest P that samples of these sizes can have: that of two samples
// which do not overlap. With three against three it is 0.1, and with one value always 1.
func LeastP(m, n int) float64 {
	if m < 2 || n < 2 {
		return 1
	}
	return min(1, 2/choose(m+n, m))
}

// choose is the number of ways to take k of n.
func choose(n, k int) float64 {
	above, _ := math.Lgamma(float64(n + 1))
	taken, _ := math.Lgamma(float64(k + 1))
	left, _ := math.Lgamma(float64(n - k + 1))
	return math.Round(math.Exp(above - taken - left))
}

// TrialsNeeded is the fewest trials per cell with which one of so many tests can be
// significant after Holm's correction, regardless of the others.
func TrialsNeeded(tests int) int {
	n := 1
	for float64(max(1, tests))*LeastP(n, n) >= 1-Level {
		n++
	}
	return n
}

// Holm corrects the P values of several tests, so that the probability of even one
// false positive among them stays below the level. The smallest is multiplied by their
// number, the next by one less, and none becomes smaller than the one before. It
// returns them in the original order. (S. Holm, Scandinavian Journal of Statistics 6,
// 1979, pages 65 to 70.)
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(p))
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, float64(len(p)-rank)*p[i]))
		out[i] = least
	}
	return out
}
