package stats

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
)

// MostRanked is the largest number of samples that Rank tests in all combinations. It
// ranks more by Holm's correction over all pairs, which needs more values per sample.
const MostRanked = 12

// Ranks are the tests of every pair of several samples. The probability that one or
// more of all pairs are falsely found to differ is at most 1 - Level, whichever samples
// are alike.
type Ranks struct {
	Sign    [][]int     // of sample i to sample j: 1 if it lies above, -1 if below
	P       [][]float64 // of the test of the two alone
	PFamily [][]float64 // corrected over all pairs
}

// Rank tests every pair of samples, by closed testing: two samples differ if every set
// of samples that contains both is found not to be alike. A set of two is tested by
// CensoredTest, a larger one by heterogeneity and by its pairs, each at half of the
// level: a sample that varies widely hides the difference of two others from the first. A set of s of k samples is tested at
// the level 1 - 0.95^(s/k), those of k-1 and k samples at 0.05. (K. R. Gabriel's
// closed procedure with T. A. Ryan's levels: Y. Hochberg, A. C. Tamhane, Multiple
// Comparison Procedures, 1987, chapter 2, section 4.) Sets that are alike and have no
// sample in common are independent, so the levels of all of them add up to at most
// 0.05. Adjusted P values are on the scale of 0.05.
//
// Unlike Holm's correction over all pairs, it can find differences among twelve
// samples of five values.
func Rank(samples [][]Observed) Ranks {
	k := len(samples)
	r := Ranks{Sign: make([][]int, k), P: make([][]float64, k), PFamily: make([][]float64, k)}
	above := make([][]int, k)
	for i := range k {
		r.Sign[i], r.P[i], r.PFamily[i], above[i] = make([]int, k), make([]float64, k), make([]float64, k), make([]int, k)
		r.P[i][i], r.PFamily[i][i] = 1, 1
	}
	for i := range k {
		for j := range i {
			sign, p := CensoredTest(samples[i], samples[j])
			r.Sign[i][j], r.Sign[j][i], r.P[i][j], r.P[j][i] = sign, -sign, p, p
			above[i][j] = dominance(samples[i], samples[j])
			above[j][i] = -above[i][j]
		}
	}
	if k > MostRanked {
		r.holm()
		return r
	}
	for set := uint(1); set < 1<<k; set++ {
		if bits.OnesCount(set) < 2 {
			continue
		}
		var in []int
		for i := range k {
			if set>>i&1 == 1 {
				in = append(in, i)
			}
		}
		p := r.P[in[0]][in[1]]
		if len(in) > 2 {
			p = min(1, 2*min(heterogeneity(samples, above, in), r.smallest(in)))
		}
		p = onScale(p, len(in), k)
		for _, i := range in {
			for _, j := range in {
				r.PFamily[i][j] = max(r.PFamily[i][j], p)
			}
		}
	}
	return r
}

// smallest is the smallest P of the pairs of a set, times their number.
func (r *Ranks) smallest(in []int) float64 {
	p := 1.0
	for a, i := range in {
		for _, j := range in[:a] {
			p = min(p, r.P[i][j])
		}
	}
	return p * float64(len(in)*(len(in)-1)/2)
}

// onScale adjusts the P of a set of s among k samples, so that it is compared with 0.05.
func onScale(p float64, s, k int) float64 {
	if s >= k-1 {
		return p
	}
	return 1 - math.Pow(1-p, float64(k)/float64(s))
}

// holm corrects all pairs by Holm's method.
func (r *Ranks) holm() {
	var p []float64
	for i := range r.P {
		p = append(p, r.P[i][:i]...)
	}
	p = Holm(p)
	for i := range r.P {
		for j := range i {
			r.PFamily[i][j], r.PFamily[j][i] = p[0], p[0]
			p = p[1:]
		}
	}
}

// LeastFamilyP is the smallest corrected P that two samples of m and n values can have
// among k samples.
func LeastFamilyP(m, n, k int) float64 {
	p := LeastP(m, n)
	if k > MostRanked {
		return min(1, p*float64(k*(k-1)/2))
	}
	return onScale(p, 2, k)
}

// RankingNeeds is the fewest values per sample with which two of k samples can be
// found to differ.
func RankingNeeds(k int) int {
	n := 1
	for LeastFamilyP(n, n, max(2, k)) >= 1-Level {
		n++
	}
	return n
}

// heterogeneity tests whether some samples, three or more, are alike. They are ordered
// by their mean rank among all values, and divided at each place of that order in turn.
// The statistic is the smallest P of the difference between the lower and the upper
// part: it is small for one sample that differs from all others, and for two groups of
// samples. above has the dominance of each pair. Of longer samples only the first values
// count, as many as the shortest has: few values of a wide sample beside many of narrow
// ones would be found to differ too often. The distribution is simulated without
// ties; ties and bounds make the ranks less variable, and so the test conservative.
func heterogeneity(samples [][]Observed, above [][]int, in []int) float64 {
	sizes, scores, least, most := make([]int, len(in)), make([]float64, len(in)), math.MaxInt, 0
	for _, i := range in {
		least, most = min(least, len(samples[i])), max(most, len(samples[i]))
	}
	for a, i := range in {
		sizes[a] = least
		for _, j := range in {
			if least == most {
				scores[a] += float64(above[i][j])
			} else {
				scores[a] += float64(dominance(samples[i][:least], samples[j][:least]))
			}
		}
	}
	null := nullOf(sizes)
	at, _ := slices.BinarySearch(null.least, null.smallest(divisions(sizes, scores))+1)
	return float64(1+at) / (1 + simulations)
}

// divisions are the differences between the lower and the upper samples, divided at
// each place of their order, squared and standardized. The scores of a sample are
// twice its sum of ranks, less that of the mean rank.
func divisions(sizes []int, scores []float64) []float64 {
	order := make([]int, len(sizes))
	total := 0
	for i, n := range sizes {
		order[i] = i
		total += n
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Compare(scores[a]*float64(sizes[b]), scores[b]*float64(sizes[a]))
	})
	n, sum, all := 0, 0.0, make([]float64, len(order)-1)
	for at, i := range order[:len(order)-1] {
		n, sum = n+sizes[i], sum+scores[i]
		all[at] = sum * sum / (float64(n) * float64(total-n))
	}
	return all
}

// simulations is how often the distribution of a statistic is drawn.
const simulations = 9999

// null is the distribution of divisions for samples that are alike.
type null struct {
	divided [][]float64 // by place, ascending
	least   []int       // the smallest of each draw, ascending
}

// smallest is how many draws have a difference as large as these, where they are fewest.
func (n *null) smallest(divisions []float64) int {
	least := simulations
	for place, v := range divisions {
		at, _ := slices.BinarySearch(n.divided[place], v-1e-9*v)
		least = min(least, simulations-at)
	}
	return least
}

var nulls sync.Map // sizes, as text -> *null

// nullOf is the distribution for samples of these sizes. It is the same in each run.
func nullOf(sizes []int) *null {
	sizes = slices.Sorted(slices.Values(sizes))
	key := fmt.Sprint(sizes)
	if known, ok := nulls.Load(key); ok {
		return known.(*null)
	}
	total := 0
	for _, n := range sizes {
		total += n
	}
	ranks := make([]float64, total)
	for i := range ranks {
		ranks[i] = float64(2*i + 1 - total)
	}
	random := rand.New(rand.NewPCG(1, uint64(total)))
	drawn, scores := make([][]float64, simulations), make([]float64, len(sizes))
	out := &null{divided: make([][]float64, len(sizes)-1), least: make([]int, simulations)}
	for i := range drawn {
		random.Shuffle(total, func(a, b int) { ranks[a], ranks[b] = ranks[b], ranks[a] })
		at := 0
		for k, n := range sizes {
			scores[k] = 0
			for _, v := range ranks[at : at+n] {
				scores[k] += v
			}
			at += n
		}
		drawn[i] = divisions(sizes, scores)
		for place, v := range drawn[i] {
			out.divided[place] = append(out.divided[place], v)
		}
	}
	for _, all := range out.divided {
		slices.Sort(all)
	}
	for i := range drawn {
		out.least[i] = out.smallest(drawn[i])
	}
	slices.Sort(out.least)
	nulls.Store(key, out)
	return out
}
