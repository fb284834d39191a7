package analysis

import (
	"slices"
	"time"

	"github.com/millicore/millicore/internal/signals"
)

// waitSums sums the histograms in which a service reports how long it waited for its
// dependency.
type waitSums struct {
	sum    float64   // seconds
	count  int64     // waits
	bounds []float64 // upper bounds in seconds; nil: no data
	counts []int64   // one per bound, and one above all
	mixed  bool      // histograms with different bounds: no quantile is known
}

func (w *waitSums) add(one *signals.Waits) {
	w.merge(&waitSums{sum: one.Sum, bounds: one.Bounds, counts: one.Counts})
	for _, n := range one.Counts {
		w.count += n
	}
}

func (w *waitSums) merge(o *waitSums) {
	w.sum, w.count, w.mixed = w.sum+o.sum, w.count+o.count, w.mixed || o.mixed
	switch {
	case o.bounds == nil:
	case w.bounds == nil:
		w.bounds, w.counts = o.bounds, slices.Clone(o.counts)
	case !slices.Equal(w.bounds, o.bounds) || len(w.counts) != len(o.counts):
		w.mixed = true
	default:
		for i, n := range o.counts {
			w.counts[i] += n
		}
	}
}

// summary returns nil if nothing waited, or nothing was reported.
func (w *waitSums) summary() *WaitsSummary {
	if w.count == 0 {
		return nil
	}
	return &WaitsSummary{P50: w.quantile(0.5), P99: w.quantile(0.99), Mean: 1e3 * w.sum / float64(w.count)}
}

// quantile returns milliseconds, interpolated as Prometheus' histogram_quantile does:
// waits are assumed to be spread evenly within a bucket, from 0 in the lowest. Above
// the highest bound nothing is known, so that bound is returned.
func (w *waitSums) quantile(q float64) *float64 {
	if w.mixed || w.count == 0 || len(w.bounds) == 0 || len(w.counts) != len(w.bounds)+1 {
		return nil
	}
	rank, below := q*float64(w.count), 0.0
	for i, bound := range w.bounds {
		n := float64(w.counts[i])
		if n > 0 && below+n >= rank {
			from := 0.0
			if i > 0 {
				from = w.bounds[i-1]
			}
			return ptr(1e3 * (from + (bound-from)*(rank-below)/n))
		}
		below += n
	}
	return ptr(1e3 * w.bounds[len(w.bounds)-1])
}

// busyFrames sums the CPU of a service's replicas in each frame, to find the busiest.
// It ignores a frame much shorter than the others, because a quota does not bound a
// part of a period.
type busyFrames map[int]float64 // cores by seq

func (b *busyFrames) add(f *signals.Frame, interval time.Duration) {
	if f.Server == nil || f.Server.CPU == nil || f.Phase != signals.Measure || f.End-f.Start < int64(interval)/2 || f.End <= f.Start {
		return
	}
	if *b == nil {
		*b = busyFrames{}
	}
	(*b)[f.Seq] += *f.Server.CPU / f.Seconds()
}

// most is the CPU of the busiest frame in cores; nil if none was measured.
func (b busyFrames) most() *float64 {
	var most *float64
	for _, cores := range b {
		most = higher(most, &cores)
	}
	return most
}
