package sums

import (
	"slices"

	"github.com/millicore/millicore/internal/data/signals"
)

// Waits sums the histograms in which a service reports how long it waited for its
// dependency.
type Waits struct {
	sum    float64   // seconds
	count  int64     // waits
	bounds []float64 // upper bounds in seconds; nil: no data
	counts []int64   // one per bound, and one above all
	mixed  bool      // histograms with different bounds: no quantile is known
}

func (w *Waits) add(one *signals.Waits) {
	w.merge(&Waits{sum: one.Sum, bounds: one.Bounds, counts: one.Counts})
	for _, n := range one.Counts {
		w.count += n
	}
}

func (w *Waits) merge(o *Waits) {
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

// Mean is the mean wait in milliseconds; nil if nothing waited, or nothing was reported.
func (w *Waits) Mean() *float64 {
	if w.count == 0 {
		return nil
	}
	return new(1e3 * w.sum / float64(w.count))
}

// Seconds is the sum of all waits.
func (w *Waits) Seconds() float64 { return w.sum }

// Quantile returns milliseconds, interpolated as Prometheus' histogram_quantile does:
// waits are assumed to be spread evenly within a bucket, from 0 in the lowest. Above
// the highest bound nothing is known, so that bound is returned.
func (w *Waits) Quantile(q float64) *float64 {
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
			return new(1e3 * (from + (bound-from)*(rank-below)/n))
		}
		below += n
	}
	return new(1e3 * w.bounds[len(w.bounds)-1])
}
