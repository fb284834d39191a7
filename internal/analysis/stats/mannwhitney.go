package stats

import (
	"math"
	"slices"
)

// mostExact and mostTied are the largest samples without and with ties whose
// distribution is computed exactly. Larger samples use the normal approximation, with
// corrections for ties and continuity.
const (
	mostExact = 50
	mostTied  = 25
)

// MannWhitney tests whether values of one sample tend to lie above those of the other
// (the Wilcoxon rank sum test). U counts the pairs in which x lies above y; a tie
// counts as one half. It is the W of R's wilcox.test(x, y). P is two-sided: twice the
// smaller tail, at most 1. It is exact up to 50 values per sample without ties, and up
// to 25 with ties. P is 1 if a sample is empty.
func MannWhitney(x, y []float64) (u, p float64) {
	if len(x) == 0 || len(y) == 0 {
		return 0, 1
	}
	ranks, tied := doubledRanks(x, y)
	sum := 0
	for _, r := range ranks[:len(x)] {
		sum += r
	}
	u = float64(sum-len(x)*(len(x)+1)) / 2
	switch most := max(len(x), len(y)); {
	case most <= mostTied && tied:
		return u, tiedP(ranks, len(x))
	case most <= mostExact && !tied:
		below, all := 0.0, 0.0 // ways to have a U that lies as far from the middle
		for at, n := range waysOfU(len(x), len(y)) {
			if all += n; float64(at) <= min(u, float64(len(x)*len(y))-u) {
				below += n
			}
		}
		return u, min(1, 2*below/all)
	}
	return u, normalP(u, ranks, len(x))
}

// normalP is the two-sided P of U by the normal approximation, of n values whose doubled
// ranks come first among all of them. It is 1 if all values are equal.
func normalP(u float64, ranks []int, n int) float64 {
	all, others := float64(len(ranks)), float64(len(ranks)-n)
	same, ties := map[int]float64{}, 0.0
	for _, r := range ranks {
		same[r]++
	}
	for _, t := range same {
		ties += t*t*t - t
	}
	pairs := float64(n) * others
	variance := pairs / 12 * (all + 1 - ties/(all*(all-1)))
	off := math.Abs(u-pairs/2) - 0.5
	if variance <= 0 || off <= 0 {
		return 1
	}
	return math.Erfc(off / math.Sqrt(2*variance))
}

// tiedP is the two-sided P of the rank sum of the first n values, by counting all ways
// to choose n of them. With ties the distribution may be asymmetric, so each tail is
// summed separately.
func tiedP(ranks []int, n int) float64 {
	seen, most := 0, 0
	for i, r := range ranks {
		most += r
		if i < n {
			seen += r
		}
	}
	// ways[k][sum]: to choose k of the values seen so far with that rank sum.
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, most+1)
	}
	ways[0][0] = 1
	for _, r := range ranks {
		for k := n; k > 0; k-- {
			for sum := most; sum >= r; sum-- {
				ways[k][sum] += ways[k-1][sum-r]
			}
		}
	}
	below, above, all := 0.0, 0.0, 0.0
	for sum, w := range ways[n] {
		all += w
		if sum <= seen {
			below += w
		}
		if sum >= seen {
			above += w
		}
	}
	return min(1, 2*min(below, above)/all)
}

// doubledRanks returns twice the rank of each value among all, those of x first. Equal
// values share the mean of their ranks, which is a whole number when doubled.
func doubledRanks(x, y []float64) (ranks []int, tied bool) {
	all := slices.Concat(x, y)
	sorted := slices.Sorted(slices.Values(all))
	for _, v := range all {
		first, _ := slices.BinarySearch(sorted, v)
		last := first
		for last+1 < len(sorted) && sorted[last+1] == v {
			last++
		}
		tied = tied || last > first
		ranks = append(ranks, first+last+2)
	}
	return ranks, tied
}

// LeastP is the smallest P that samples of these sizes can have: that of two samples
// which do not overlap. With three against three it is 0.1.
func LeastP(m, n int) float64 {
	if m == 0 || n == 0 {
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
