package causes

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/data/signals"
)

// bounds are those of a bucket: calls that took from low to high nanoseconds. high is
// infinite for the last one.
type bounds struct{ low, high float64 }

// prior returns what is assumed about a bucket's calls before any data: their mean,
// and the variance of one call around it. The calls are assumed to be spread evenly.
// Those above all bounds are assumed to reach up to twice the last bound.
func (b bounds) prior() (mean, variance float64) {
	high := b.high
	if math.IsInf(high, 1) {
		high = 2*b.low + 1
	}
	return (b.low + high) / 2, (high - b.low) * (high - b.low) / 12
}

// value is the time of a bucket's call at a rank of 0 to 1, from the fastest, if the
// mean of its calls is known. The times follow a power of the rank with this mean: an
// even spread if the mean is in the middle. The last bucket is assumed to end as far
// above its mean as it begins below it.
func (b bounds) value(rank, mean float64) float64 {
	high := b.high
	if math.IsInf(high, 1) {
		high = 2*mean - b.low
	}
	if mean <= b.low {
		return b.low
	}
	return b.low + (high-b.low)*math.Pow(rank, (high-mean)/(mean-b.low))
}

// means estimates the mean time of the calls in each bucket. A histogram's buckets are
// wide, and it has only one sum per interval. But intervals differ in how many calls
// each bucket has, and this determines the means. The result is the most probable one
// if means and sums vary as much as evenly spread calls would. It is found by moving
// one mean after the other to its best value.
func means(frames []*signals.Frame) map[bounds]float64 {
	type entry struct {
		frame int
		count float64
	}
	entries := map[bounds][]entry{}
	out := map[bounds]float64{}
	missing := make([]float64, len(frames)) // of each sum, given the means so far
	noise := make([]float64, len(frames))   // variance of each sum
	for i, f := range frames {
		missing[i] = 1e9 * f.Waits.Sum
		for k, n := range f.Waits.Counts {
			if n == 0 {
				continue
			}
			in := bucketBounds(f.Waits.Bounds, k)
			mean, variance := in.prior()
			out[in] = mean
			entries[in] = append(entries[in], entry{i, float64(n)})
			missing[i] -= float64(n) * mean
			noise[i] += float64(n) * variance
		}
	}
	order := slices.SortedFunc(maps.Keys(out), func(a, b bounds) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high))
	})
	const rounds = 200
	for range rounds {
		for _, b := range order {
			prior, variance := b.prior()
			if variance == 0 {
				continue
			}
			weight, pull := 1/variance, (prior-out[b])/variance
			for _, e := range entries[b] {
				weight += e.count * e.count / noise[e.frame]
				pull += e.count * missing[e.frame] / noise[e.frame]
			}
			mean := min(max(out[b]+pull/weight, b.low), b.high)
			for _, e := range entries[b] {
				missing[e.frame] -= e.count * (mean - out[b])
			}
			out[b] = mean
		}
	}
	return out
}

// bucketBounds are the bounds in nanoseconds of a histogram's bucket k.
func bucketBounds(seconds []float64, k int) bounds {
	out := bounds{0, math.Inf(1)}
	if k > 0 {
		out.low = max(0, 1e9*seconds[k-1])
	}
	if k < len(seconds) {
		out.high = max(0, 1e9*seconds[k])
	}
	return out
}
