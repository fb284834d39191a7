package capacity

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// Steps returns one entry per level that was held, over all trials; nil for a constant
// load.
func (r *Ramps) Steps() (steps []summary.Step) {
	if r.Levels == nil {
		return nil
	}
	for i, h := range r.Levels.Held {
		if t := r.level(i); t.Client.Seconds() > 0 {
			steps = append(steps, r.Goal.Step(h.Target, t))
		}
	}
	return steps
}

// Decisive returns the targets of the levels that decide, of all trials together: the last
// that met the objective and the first that missed it. nil: there is none.
func (r *Ramps) Decisive() (met, missed *float64) {
	all := r.merged()
	if all.lastMet != nil {
		met = &all.lastMet.target
	}
	if all.firstMissed != nil {
		missed = &all.firstMissed.target
	}
	return met, missed
}

// BreakingPoint reads the breaking point from a load that was raised in steps, as
// published comparisons do: the last level that meets the objective before the first
// level that misses it, over all trials together. The true value lies between these
// two levels, so they are the ends, widened to where the single trials put them. It
// makes no assumption about loads between levels. It returns nil if there is no
// objective or the load was not raised.
func (r *Ramps) BreakingPoint(steps []summary.Step) *summary.BreakingPoint {
	if !r.Judged() || len(steps) == 0 {
		return nil
	}
	all := r.merged()
	if len(all.levels) < 2 {
		return nil
	}
	b := &summary.BreakingPoint{Why: all.reason()}
	for _, step := range steps {
		b.TrafficS += step.Seconds / float64(len(r.Trials))
	}
	why := all.firstMissed
	if all.lastMet != nil {
		if r.Users {
			b.Users = &all.lastMet.target
		} else {
			b.RateRPS = &all.lastMet.target
		}
		b.Low, b.AtLeast = &all.lastMet.target, all.firstMissed == nil
	}
	if all.firstMissed != nil {
		b.High = &all.firstMissed.target
	} else {
		why = all.limitedLevel()
	}
	if why != nil {
		b.LimitedBy, b.Shown = why.by, why.shown
	}
	r.widen(b)
	r.subtractLost(b)
	if all.firstMissed != nil && b.LimitedBy != "" && !b.AtLeast {
		b.EvidenceAt = []float64{all.firstMissed.target, all.firstMissed.target}
	}
	return b
}

// Disturbed returns in how many trials others took CPU at the level that would have
// decided the breaking point.
func (r *Ramps) Disturbed() int {
	if !r.Judged() {
		return 0
	}
	n := 0
	for _, t := range r.Trials {
		if r.of(t).disturbed != nil {
			n++
		}
	}
	return n
}

// Sources returns who took CPU at these levels.
func (r *Ramps) Sources() (by finding.Source) {
	if !r.Judged() {
		return 0
	}
	for _, t := range r.Trials {
		one := r.of(t)
		for i, level := range r.Levels.Held {
			if one.disturbed != nil && level.Target == one.disturbed.target {
				by |= t.Levels[i].Noise.Sources()
			}
		}
	}
	return by
}

// widen moves the ends of a breaking point to where the single trials put them: the
// lowest and the highest, or from six trials on those of the 95% interval of a median.
// A trial that never meets the objective moves the lower end to 0. One that never
// misses it leaves the upper end open.
func (r *Ramps) widen(b *summary.BreakingPoint) {
	if len(r.Trials) == 1 && b.Load() != nil {
		b.Searches = 1 // its ends are set already
		return
	}
	var lows, highs []float64
	for _, t := range r.Trials {
		one := r.of(t)
		if one.lastMet == nil && one.firstMissed == nil {
			continue // no level was judged
		}
		low, high := 0.0, math.Inf(1)
		if one.lastMet != nil {
			low = one.lastMet.target
		}
		if one.firstMissed != nil {
			high = one.firstMissed.target
		}
		lows, highs = append(lows, low), append(highs, high)
	}
	if b.Load() == nil || len(lows) == 0 {
		return
	}
	b.Searches = len(lows)
	slices.Sort(lows)
	slices.Sort(highs)
	low, high := lows[0], highs[len(highs)-1]
	if l, h, ok := stats.MedianInterval(len(lows)); ok {
		low, high = lows[l], highs[h]
	}
	b.Low = new(min(low, *b.Low))
	if b.High != nil && math.IsInf(high, 1) {
		b.High = nil
		if n := r.Disturbed(); n > 0 {
			b.Why = append(b.Why, finding.Finding{Kind: finding.TrialsBesideOthers, N: n, Of: len(lows)})
		}
	} else if b.High != nil {
		b.High = new(max(high, *b.High))
	}
}

// subtractLost turns a breaking point into a lower bound if agents stopped early. The
// load was then lower than its level by at most their part, and so is the load that the
// service is known to handle.
func (r *Ramps) subtractLost(b *summary.BreakingPoint) {
	there, at := 1.0, 0
	for _, t := range r.Trials {
		if share := 1 - float64(t.Lost)/float64(max(r.Agents, 1)); share < there {
			there, at = share, t.Number
		}
	}
	if there == 1 || b.Load() == nil {
		return
	}
	less := func(v *float64) *float64 {
		if v == nil {
			return nil
		}
		return new(*v * there)
	}
	b.RateRPS, b.Users, b.Low, b.High = less(b.RateRPS), less(b.Users), less(b.Low), nil
	b.AtLeast, b.LimitedBy = true, summary.ByGenerator
	b.Shown = []finding.Finding{{Kind: finding.AgentsRan, Value: there * float64(r.Agents), Of: r.Agents, N: at}}
	b.Why = append([]finding.Finding{{Kind: finding.AgentsStopped, Share: 1 - there}}, b.Why...)
}
