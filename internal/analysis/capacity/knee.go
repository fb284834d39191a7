package capacity

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/knee"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
)

// Knee is where the latency leaves its floor, over all windows of the searches; nil if it
// does not. A window in which the generator was the limit has its delay, and is left out. A
// service whose capacity changed has no knee, as it has no breaking point, and none is
// above a breaking point: the latency is above its floor there.
func (s *Searches) Knee(b *summary.BreakingPoint) *summary.Knee {
	if search.Ended(b.Ended).Changed() {
		return nil
	}
	k := floor{quantile: s.Goal.Quantile()}
	for _, one := range s.All {
		for i := range one.steps {
			if step := &one.steps[i]; step.used && !step.Cut && step.window.outside() != summary.ByGenerator {
				k.add(step.Load, step.window.Sums)
			}
		}
	}
	found := k.knee()
	if at := b.Load(); found != nil && at != nil && !b.AtLeast && found.Load > *at {
		return nil
	}
	return found
}

// Knee is where the latency leaves its floor, over all levels of the ramps; nil if it does
// not.
func (r *Ramps) Knee() *summary.Knee {
	k := floor{quantile: r.Goal.Quantile()}
	for _, t := range r.Trials {
		for i := range t.Levels {
			k.add(r.Levels.Held[i].Target, t.Levels[i])
		}
	}
	return k.knee()
}

// floor has the latencies of a quantile by load.
type floor struct {
	quantile string
	points   []knee.Point
}

func (f *floor) add(load float64, t *sums.Total) {
	share := summary.QuantileShare(f.quantile)
	p, ok := knee.PointOf(load, t.Client.Latency, share)
	if !ok {
		return
	}
	p.OfLimit = t.Server.OfLimit()
	if search.Exceeds(float64(t.Client.Failed()), float64(t.Client.Requests()), 1-share) {
		p.Latency = math.Inf(1)
	}
	f.points = append(f.points, p)
}

func (f *floor) knee() *summary.Knee {
	k, _ := knee.Find(f.points, 1)
	if k == nil {
		return nil
	}
	return &summary.Knee{Load: k.Load, Low: k.Low, High: k.High, OfLimit: k.OfLimit, OfLimitLow: k.OfLimitLow, OfLimitHigh: k.OfLimitHigh,
		Quantile: f.quantile, FloorMS: k.FloorMS}
}
