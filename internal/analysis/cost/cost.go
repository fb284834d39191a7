// Package cost reports whether a request costs more CPU time at some time than at another.
// Of a service that its CPU limits the capacity changed by as much. It is pure, and knows no
// search: what a change means is the caller's.
package cost

import (
	"math"
	"slices"
)

// Block is a part of a window.
type Block struct {
	CPU   float64 // s of the service; 0: not measured
	Ended int64   // requests that ended
}

// Window is what a window shows of the CPU time of a request.
type Window struct {
	At, Load float64 // s since the search began, of its middle; the load held
	cpu      float64 // s of the service
	requests float64 // that ended
	// spread sums the squares by which its blocks differ from that cost, in requests, per
	// request; free is the number of blocks less one.
	spread, free float64
}

// Of returns a window; false: its CPU time, or its requests, are not known in each of two blocks
// or more.
func Of(at, load float64, blocks []Block) (w Window, known bool) {
	w = Window{At: at, Load: load, free: float64(len(blocks) - 1)}
	for _, b := range blocks {
		if !(b.CPU > 0) || b.Ended <= 0 {
			return w, false
		}
		w.cpu += b.CPU
		w.requests += float64(b.Ended)
	}
	for _, b := range blocks {
		off := b.CPU/w.Each() - float64(b.Ended)
		w.spread += off * off / float64(b.Ended)
	}
	return w, len(blocks) > 1
}

// Each is the CPU time of a request, s.
func (w Window) Each() float64 { return w.cpu / w.requests }

// Windows are in the order of their time.
type Windows []Window

const (
	// likeLoads is the largest ratio of two loads whose costs are compared, and apartInTime
	// the least time between them, s.
	likeLoads, apartInTime = 1.25, 8
	// answerNear is the lowest load whose cost matters, as a share of the answer: what a
	// service needed while it was cold, at a tenth of it, changed no answer.
	answerNear = 0.5
	// costlier is the least ratio of two costs that differ, and surelyCostlier the standard
	// errors: windows are compared in many pairs. docs/statistics.md has how often steady
	// services differ so.
	costlier, surelyCostlier = 1.15, 4
)

// Changed returns the capacity at a time as a share of that at last, if the costs of two windows
// differ, and those of others without any one of the windows: one dear request may last for a
// whole window. It is as if the cost changed between the two that differ most.
func (all Windows) Changed(answer float64) (share func(at float64) float64, changed bool) {
	a, b, changed := all.apart(answer)
	for i := 0; changed && i < len(all); i++ {
		_, _, changed = slices.Delete(slices.Clone(all), i, i+1).apart(answer)
	}
	return func(at float64) float64 {
		part := min(max((at-a.At)/(b.At-a.At), 0), 1)
		return math.Pow(b.Each()/a.Each(), 1-part)
	}, changed
}

// apart returns the two windows whose costs differ most, of those near the answer at like loads.
// Work without requests is shared by more of them at the higher load, so that the ratio of the
// loads explains as much of that of the costs.
func (all Windows) apart(answer float64) (a, b Window, differ bool) {
	spread, free, most := 0.0, 0.0, 0.0
	for _, w := range all {
		spread, free = spread+w.spread, free+w.free
	}
	for i, first := range all {
		for _, then := range all[i+1:] {
			loads := math.Abs(math.Log(then.Load / first.Load))
			by := math.Abs(math.Log(then.Each() / first.Each()))
			wrong := math.Sqrt(spread / free * (1/first.requests + 1/then.requests))
			if then.At-first.At < apartInTime || loads > math.Log(likeLoads) || min(first.Load, then.Load) < answerNear*answer ||
				by-loads < math.Log(costlier) || by < surelyCostlier*wrong || by <= most {
				continue
			}
			a, b, differ, most = first, then, true, by
		}
	}
	return a, b, differ
}
