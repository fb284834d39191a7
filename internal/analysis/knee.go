package analysis

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/knee"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
)

// knee is where the latency leaves its floor, over all windows of a search or all
// levels of a ramp.
func (c *cell) knee() *summary.Knee {
	name := c.goal.quantile()
	share := summary.QuantileShare(name)
	var points []knee.Point
	add := func(load float64, t *sums.Total) {
		p, ok := knee.PointOf(load, t.Client.Latency, share)
		if !ok {
			return
		}
		p.OfLimit = t.Server.OfLimit()
		if search.Exceeds(float64(t.Client.Failed()), float64(t.Client.Requests()), 1-share) {
			p.Latency = math.Inf(1)
		}
		points = append(points, p)
	}
	for _, t := range c.trials {
		if t.search != nil { // a window in which the generator was the limit has its delay
			for i := range t.search.steps {
				if step := &t.search.steps[i]; step.used && !step.Cut && step.window.outside() != summary.ByGenerator {
					add(step.Load, step.window.sums)
				}
			}
		}
		for i := range t.levels {
			add(c.levels.held[i].target, t.levels[i])
		}
	}
	k, _ := knee.Find(points, 1)
	if k == nil {
		return nil
	}
	return &summary.Knee{Load: k.Load, Low: k.Low, High: k.High, OfLimit: k.OfLimit, OfLimitLow: k.OfLimitLow, OfLimitHigh: k.OfLimitHigh,
		Quantile: name, FloorMS: k.FloorMS}
}
