package traffic

import (
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// steps are the bounds of a decade of latencies, almost even on a logarithmic scale:
// Renard's series R20 with rounded figures. The coarser series are subsets of it, so that
// rows are sums of buckets.
var steps = []float64{1, 1.12, 1.25, 1.4, 1.6, 1.8, 2, 2.24, 2.5, 2.8, 3.2, 3.6, 4, 4.5, 5, 5.6, 6.3, 7.1, 8, 9}

// coarser are the series of rows as indexes of steps, the finest first.
var coarser = [][]int{
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19},
	{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}, // 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8
	{0, 4, 8, 12, 16},                   // 1, 1.6, 2.5, 4, 6.3
	{0, 6, 14},                          // 1, 2, 5
	{0, 10},                             // 1, 3.2
	{0},
}

// Buckets counts latencies up to each bound, in the ten decades from 1 us to 10,000 s,
// which is more than the range of histograms.
type Buckets [10*20 + 1]int64

// bound is the highest latency of a bucket.
func bound(bucket int) time.Duration {
	at, decade := steps[bucket%len(steps)], bucket/len(steps)
	return time.Duration(math.Round(at * math.Pow10(decade) * 1000))
}

// bounds are the bounds of all buckets in microseconds, the unit of histograms.
var bounds = func() (all [len(Buckets{})]float64) {
	for i := range all {
		all[i] = float64(bound(i)) / float64(time.Microsecond)
	}
	return all
}()

// Add adds the latencies of a histogram. A latency that the histogram cannot distinguish
// from a bound counts as not above it.
func (b *Buckets) Add(h *signals.Histogram) {
	if h.Count() == 0 {
		return
	}
	bucket := 0
	for bar := range h.Bars() {
		for bucket < len(b)-1 && float64(bar.From) > bounds[bucket] {
			bucket++
		}
		b[bucket] += bar.Count
	}
}

// Row is one line of a histogram: the number of latencies up to a bound and above that of
// the previous row.
type Row struct {
	To time.Duration
	N  int64
}

// Rows divides the buckets into at most this number of rows, with the finest possible
// series. If no series is coarse enough, the first row has everything below the others.
func (b *Buckets) Rows(most int) []Row {
	first := slices.IndexFunc(b[:], func(n int64) bool { return n > 0 })
	if first < 0 || most <= 0 {
		return nil
	}
	last := len(b) - 1
	for b[last] == 0 {
		last--
	}
	var all []Row
	for _, series := range coarser {
		if all = b.cut(series, first, last); len(all) <= most {
			return all
		}
	}
	over := len(all) - most
	for _, r := range all[:over] {
		all[over].N += r.N
	}
	return all[over:]
}

// cut sums the buckets from first to last into the rows of a series.
func (b *Buckets) cut(series []int, first, last int) []Row {
	var all []Row
	var n int64
	for i := first; i < len(b); i++ {
		n += b[i]
		if slices.Contains(series, i%len(steps)) {
			all, n = append(all, Row{bound(i), n}), 0
			if i >= last {
				break
			}
		}
	}
	return all
}
