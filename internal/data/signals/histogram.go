package signals

import (
	"iter"
	"math/bits"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range and precision of every histogram in a record: 1 us to an hour with three
// significant digits. Merging is exact because all are the same. The highest value only
// bounds the number of buckets: histograms of older records, which end at a minute,
// have the same ones.
const (
	LowestMicros  = 1
	HighestMicros = int64(time.Hour / time.Microsecond)
	Digits        = 3
)

// Histogram counts durations in microseconds, in HdrHistogram's buckets. Its JSON form
// is the base64 text of the HdrHistogram V2 compressed encoding, which every
// HdrHistogram library reads. Histograms of several agents, intervals and trials are
// merged; percentiles are never averaged.
//
// Counting, merging and encoding are implemented here instead of by the library. An
// agent does them thirty times per second on the machine that it measures, and the
// library takes 0.4 ms and 0.9 MB of garbage each time.
//
// A Histogram is not safe for concurrent use.
type Histogram struct {
	counts []int64 // by bucket, as many as needed so far
	total  int64
	text   []byte // its encoding; nil: unknown since the last change
}

// HdrHistogram's buckets for three digits and a unit of 1 us: 2048 of 1 us, then
// 1024 of 2 us, 1024 of 4 us and so on.
const (
	halfBits   = 10
	half       = 1 << halfBits
	mostCounts = 23 * half // 2048 << 21 us is the first power beyond the highest
)

// beyond is the bucket of all durations beyond the range: the first bucket outside it.
var beyond = bucketOf(HighestMicros) + 1

// bucketOf returns the bucket of a duration.
func bucketOf(us int64) int {
	power := max(bits.Len64(uint64(us)), halfBits+1) - (halfBits + 1)
	return power<<halfBits + int(us>>power)
}

// bucket returns the lowest and the highest duration of a bucket.
func bucket(i int) (lowest, highest int64) {
	power := max(i>>halfBits, 1) - 1
	lowest = int64(i-power<<halfBits) << power
	return lowest, lowest + 1<<power - 1
}

// Alike reports whether two durations in microseconds share a bucket, so that a
// histogram cannot distinguish them.
func Alike(us, other int64) bool { return bucketOf(us) == bucketOf(other) }

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram { return &Histogram{} }

// Record counts one duration. Below a microsecond it counts as one microsecond; beyond
// the range it counts in a bucket of its own (see Beyond). Nothing is dropped, since
// dropped values would always be those of the tail. It allocates only for a higher
// power of two than all before.
func (h *Histogram) Record(d time.Duration) {
	h.add(int64(d/time.Microsecond), 1)
}

func (h *Histogram) add(us, n int64) {
	i := min(bucketOf(max(us, LowestMicros)), beyond)
	if i >= len(h.counts) {
		h.reach(i)
	}
	h.counts[i] += n
	h.total += n
	h.text = nil
}

// reach allocates a bucket and those with the same power of two.
func (h *Histogram) reach(i int) {
	want := min((i>>halfBits+1)<<halfBits, mostCounts)
	h.counts = append(h.counts, make([]int64, want-len(h.counts))...)
}

// Merge adds all counts of other, which may be nil.
func (h *Histogram) Merge(other *Histogram) {
	if other == nil {
		return
	}
	if n := len(other.counts); n > len(h.counts) {
		h.reach(n - 1)
	}
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
	h.text = nil
}

// Reset empties the histogram and keeps its memory.
func (h *Histogram) Reset() {
	clear(h.counts)
	h.total, h.text = 0, nil
}

// Count returns how many durations were recorded; 0 for nil.
func (h *Histogram) Count() int64 {
	if h == nil {
		return 0
	}
	return h.total
}

// Quantile returns the duration at quantile q in 0..1: the highest duration in the
// bucket of that rank, and at 0 the lowest duration, as HdrHistogram's Go library
// does. It returns 0 if nothing was recorded.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.Count() == 0 || q <= 0 {
		return h.Min()
	}
	// Computed in percent to round as the library does.
	rank := int64(q*100/100*float64(h.total) + 0.5)
	rank = min(max(rank, 1), h.total)
	for i, n := range h.counts {
		if rank -= n; rank <= 0 {
			_, highest := bucket(i)
			return time.Duration(highest) * time.Microsecond
		}
	}
	return h.Max()
}

// Bar is how many durations are in one bucket, of From to To microseconds.
type Bar struct{ From, To, Count int64 }

// Bars are the buckets that are not empty, in ascending order.
func (h *Histogram) Bars() iter.Seq[Bar] {
	return func(yield func(Bar) bool) {
		for i, n := range h.counts {
			if n == 0 {
				continue
			}
			lowest, highest := bucket(i)
			if !yield(Bar{lowest, highest, n}) {
				return
			}
		}
	}
}

// Above returns how many durations lie above d, to the histogram's precision;
// 0 for nil.
func (h *Histogram) Above(d time.Duration) int64 {
	if h.Count() == 0 {
		return 0
	}
	var n int64
	for bar := range h.Bars() {
		if bar.From > int64(d/time.Microsecond) {
			n += bar.Count
		}
	}
	return n
}

// Late returns how many requests had no good answer within a limit. A failed request
// is infinitely late, whenever it ended: a service that refuses most of its requests
// is not fast. h holds the good answers and the timeouts, as Client.Latency does.
// failed is the number of all failed requests, including timeouts. Each timeout took
// at least timeout (0: longer than the limit).
func (h *Histogram) Late(limit, timeout time.Duration, failed, timeouts int64) int64 {
	late := h.Above(limit)
	if timeout > 0 && bucketOf(timeout.Microseconds()) <= bucketOf(limit.Microseconds()) {
		// The histogram does not show which durations within the limit are timeouts.
		late = min(late+timeouts, h.Count())
	}
	return late + failed - timeouts
}

// Before is the highest duration below d that a histogram distinguishes from d.
func Before(d time.Duration) time.Duration {
	lowest, _ := bucket(bucketOf(d.Microseconds()))
	return time.Duration(lowest-1) * time.Microsecond
}

// Beyond returns how many durations are beyond the range; 0 for nil. The mean, and any
// figure taken from one of them, are then lower bounds.
func (h *Histogram) Beyond() (n int64) {
	if h == nil || len(h.counts) <= beyond {
		return 0
	}
	for _, count := range h.counts[beyond:] {
		n += count
	}
	return n
}

// IsBeyond reports whether a figure of a histogram lies beyond the range, so that it
// is a lower bound.
func IsBeyond(d time.Duration) bool { return bucketOf(int64(d/time.Microsecond)) >= beyond }

// Max returns the highest duration recorded, to the histogram's precision.
func (h *Histogram) Max() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	_, highest := bucket(h.used() - 1)
	return time.Duration(highest) * time.Microsecond
}

// Min returns the lowest duration recorded, to the histogram's precision.
func (h *Histogram) Min() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	lowest, _ := bucket(slices.IndexFunc(h.counts, func(n int64) bool { return n != 0 }))
	return time.Duration(lowest) * time.Microsecond
}

// used is the number of buckets up to the last one that is not empty.
func (h *Histogram) used() int {
	n := len(h.counts)
	for n > 0 && h.counts[n-1] == 0 {
		n--
	}
	return n
}

// Mean returns the mean duration, to the histogram's precision.
func (h *Histogram) Mean() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	mean := 0.0
	for bar := range h.Bars() {
		middle := bar.From + (bar.To-bar.From+1)/2
		mean += float64(bar.Count) * float64(middle) / float64(h.total)
	}
	return time.Duration(mean * float64(time.Microsecond))
}

// HDR returns a copy as the library's type, in microseconds, for its output formats.
func (h *Histogram) HDR() *hdrhistogram.Histogram {
	return hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue:  LowestMicros,
		HighestTrackableValue: HighestMicros,
		SignificantFigures:    Digits,
		Counts:                h.counts,
	})
}
