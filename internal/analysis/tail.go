package analysis

import (
	"time"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/knee"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// What the causes are made of is package causes' own.
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

// tells reports whether a frame belongs to what the causes are asked of, as far
// as is known when it comes: all of a trial; of a search the warm-up only, which
// tells when the trial began, until it is known which windows tested its answer.
func (c *cell) tells(t *trialTally, f *signals.Frame) bool {
	return t.search == nil || f.Phase == signals.Warmup
}

// tail divides the slow tail over its causes; nil where no level of load was
// held, no slow request was kept, or nobody saw the service's throttling.
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
		if c.asked(&c.slow[i]) {
			c.causes.Slow(c.slow[i])
		}
	}
	c.slow = nil
	name := objectives(c.exp.Objective)
	if name != "p999" {
		name = "p99" // agents keep what lies above their p95: no tail below is whole
	}
	return c.causes.Result(name, all.client.latency.Quantile(shareOf(name)), all.client.service.Quantile(0.5))
}

// asked reports whether a slow request ended in a window that the causes are
// asked of.
func (c *cell) asked(s *signals.SlowLine) bool {
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

// objectives is the quantile of the objective, p99 where it names none.
func objectives(o *experiment.Objective) string {
	if o != nil && o.Quantile != "" {
		return o.Quantile
	}
	return "p99"
}

// knee is where the latency leaves its floor, over all windows of a search or
// all levels of a load raised in steps.
func (c *cell) knee() *Knee {
	name := objectives(c.exp.Objective)
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
		period = 100 * time.Millisecond
	}
	return causes.New(plan.Service.Name, period)
}
