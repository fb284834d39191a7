package analysis

import (
	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/knee"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// Types of package causes.
type (
	Causes      = causes.Causes
	Share       = causes.Share
	SlowRequest = causes.SlowRequest
	SlowWindow  = causes.SlowWindow
)

// Window takes a window of the record, in any order.
func (b *Builder) Window(w *signals.Window) {
	if b.counted[w.Trial] {
		b.cells[w.Cell].causes.Window(*w)
	}
}

// Slow takes a slow request of the record, in any order.
func (b *Builder) Slow(s *signals.SlowLine) {
	if b.counted[s.Trial] {
		b.cells[s.Cell].slow = append(b.cells[s.Cell].slow, *s)
	}
}

// feedsCauses reports whether a frame belongs to the causes: all frames of a trial.
// For a search it is only the warm-up, which shows when the trial began. The frames of
// the windows that tested its answer are added at the end.
func (c *cell) feedsCauses(t *trialTally, f *signals.Frame) bool {
	return t.search == nil || f.Phase == signals.Warmup
}

// tail attributes the slow tail to its causes. It returns nil if no level of load was
// held, no slow request was kept, or the throttle windows are unknown.
func (c *cell) tail(all *tally, held bool) *Causes {
	if !held || c.levels != nil || all.client.latency.Count() == 0 || c.unseen(all) {
		return nil
	}
	for _, t := range c.trials {
		if t.search == nil {
			continue
		}
		for _, step := range t.search.tests() {
			c.causes.Merge(step.causes)
		}
	}
	for i := range c.slow {
		if c.countsForCauses(&c.slow[i]) {
			c.causes.Slow(c.slow[i])
		}
	}
	c.slow = nil
	name := objectiveQuantile(c.exp.Objective)
	if name != "p999" {
		name = "p99" // agents keep requests above their p95, so the tail of a lower quantile is incomplete
	}
	return c.causes.Result(name, all.client.latency.Quantile(shareOf(name)), all.client.service.Quantile(0.5))
}

// countsForCauses reports whether a slow request ended in a window whose causes are
// computed.
func (c *cell) countsForCauses(s *signals.SlowLine) bool {
	for _, t := range c.trials {
		if t.attempt.Trial != s.Trial {
			continue
		}
		if t.search == nil {
			return true
		}
		for _, step := range t.search.tests() {
			if s.Done > step.start && s.Done <= step.end {
				return true
			}
		}
	}
	return false
}

// objectiveQuantile is the quantile of the objective, or p99 if it has none.
func objectiveQuantile(o *experiment.Objective) string {
	if o != nil && o.Quantile != "" {
		return o.Quantile
	}
	return "p99"
}

// knee is where the latency leaves its floor, over all windows of a search or all
// levels of a ramp.
func (c *cell) knee() *Knee {
	name := objectiveQuantile(c.exp.Objective)
	var points []knee.Point
	add := func(load float64, t *tally) {
		q, seconds := quantiles(t.client.latency), t.client.seconds()
		if q == nil || seconds == 0 {
			return
		}
		points = append(points, knee.Point{Load: load, Latency: q.named(name), Weight: seconds, OfLimit: t.server.ofLimit()})
	}
	for _, t := range c.trials {
		if t.search != nil {
			for i := range t.search.steps {
				if step := &t.search.steps[i]; step.used && !step.Cut {
					add(step.Load, step.window.tally)
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

func newCauses(plan *experiment.Cell) *causes.Builder {
	period := plan.Limits.Period
	if period == 0 {
		period = signals.DefaultPeriod
	}
	return causes.New(plan.Service.Name, period)
}
