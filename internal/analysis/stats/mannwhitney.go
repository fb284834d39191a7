package stats

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// mostTied is the largest sample whose distribution is computed exactly where
// values are tied; above it the normal approximation stands, with the
// corrections for ties and continuity.
const mostTied = 25

// MannWhitney tests whether values of one sample tend to lie above those of the
// other (the test of Wilcoxon's rank sum). U counts the pairs in which x lies
// above y, a tie as one half; it is the W of R's wilcox.test(x, y). P is
// two-sided: twice the smaller tail, at most 1. It is exact, for tied values
// too, up to 25 values a sample, and up to 50 without ties. With an empty
// sample nothing can be told, and P is 1.
func MannWhitney(x, y []float64) (u, p float64) {
	if len(x) == 0 || len(y) == 0 {
		return 0, 1
	}
	test, err := stats.MannWhitneyUTest(x, y, stats.LocationDiffers)
	if err != nil { // all values are equal: half of all pairs
		return float64(len(x)*len(y)) / 2, 1
	}
	if max(len(x), len(y)) <= mostTied {
		if ranks, tied := doubledRanks(x, y); tied {
			return test.U, tiedP(ranks, len(x))
		}
	}
	return test.U, min(1, test.P)
}

// tiedP is the two-sided P of the rank sum of the first n values, by counting
// all ways to choose n of them. With ties the distribution need not be
// symmetric, so each tail is summed on its own side; and the library's
// distribution of tied values is wrong in its lowest tail (it divides negative
// numbers towards zero), which is why this is counted here.
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

// doubledRanks gives twice the rank of each value among all, those of x first;
// values that are equal share the mean of their ranks, which doubled is whole.
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

// LeastP is the smallest P that samples of these sizes can have: that of two
// samples which do not overlap. Three against three cannot go below 0.1.
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

// TrialsNeeded is how many trials each of two cells needs, at least, so that
// one of so many tests can come out significant after Holm's correction,
// whatever the others do.
func TrialsNeeded(tests int) int {
	n := 1
	for float64(max(1, tests))*LeastP(n, n) >= 1-Level {
		n++
	}
	return n
}

// Holm corrects the P values of several tests, so that the chance of even one
// false finding among them stays below the level: the smallest is multiplied by
// their number, the next by one less, and none becomes smaller than the one
// before. It gives them in the order in which they came. (S. Holm, Scandinavian
// Journal of Statistics 6, 1979, pages 65 to 70.)
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
