package analysis

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/knee"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/sums"
)

// Knee is where latency leaves its floor.
type Knee struct {
	Load        float64  `json:"load"` // requests/s, or users
	Low         float64  `json:"low"`  // of the 95% interval
	High        float64  `json:"high"`
	OfLimit     *float64 `json:"of_limit"` // CPU of limit there, 0..1; null without a limit
	OfLimitLow  *float64 `json:"of_limit_low"`
	OfLimitHigh *float64 `json:"of_limit_high"`
	Quantile    string   `json:"quantile"` // whose floor: "p99"
	FloorMS     float64  `json:"floor_ms"`
}

// knee is where the latency leaves its floor, over all windows of a search or all
// levels of a ramp.
func (c *cell) knee() *Knee {
	name := c.goal.quantile()
	share := shareOf(name)
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
				if step := &t.search.steps[i]; step.used && !step.Cut && step.window.outside() != ByGenerator {
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
	return &Knee{Load: k.Load, Low: k.Low, High: k.High, OfLimit: k.OfLimit, OfLimitLow: k.OfLimitLow, OfLimitHigh: k.OfLimitHigh,
		Quantile: name, FloorMS: k.FloorMS}
}
