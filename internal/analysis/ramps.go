package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/display/phrase"
)

// ramps are the ramps of a cell's trials, and the breaking point that they show.
type ramps struct {
	goal   objective.Goal
	users  bool // the load is a number of users, not a rate
	agents int
	levels *levels
	trials []rampTrial
}

// rampTrial is the ramp of one trial.
type rampTrial struct {
	number int           // of the trial
	lost   int           // agents that stopped before the load ended
	levels []*sums.Total // of each level held
}

// judged reports whether there is a ramp, and an objective to judge it by.
func (r *ramps) judged() bool { return r.goal.Objective != nil && r.levels != nil }

// of reads the ramp of one trial.
func (r *ramps) of(t rampTrial) ramp {
	return r.read(func(level int) *sums.Total { return t.levels[level] })
}

// merged reads the ramps of all trials together.
func (r *ramps) merged() ramp {
	return r.read(r.level)
}

// level returns the sums of a level over all trials.
func (r *ramps) level(level int) *sums.Total {
	all := sums.New()
	for _, t := range r.trials {
		all.Merge(t.levels[level])
	}
	return all
}

// steps returns one entry per level that was held, over all trials; nil for a constant
// load.
func (r *ramps) steps() (steps []summary.Step) {
	if r.levels == nil {
		return nil
	}
	for i, h := range r.levels.held {
		if t := r.level(i); t.Client.Seconds() > 0 {
			steps = append(steps, r.goal.Step(h.target, t))
		}
	}
	return steps
}

// decisive returns the targets of the levels that decide, of all trials together: the last
// that met the objective and the first that missed it. nil: there is none.
func (r *ramps) decisive() (met, missed *float64) {
	all := r.merged()
	if all.lastMet != nil {
		met = &all.lastMet.target
	}
	if all.firstMissed != nil {
		missed = &all.firstMissed.target
	}
	return met, missed
}

// breakingPoint reads the breaking point from a load that was raised in steps, as
// published comparisons do: the last level that meets the objective before the first
// level that misses it, over all trials together. The true value lies between these
// two levels, so they are the ends, widened to where the single trials put them. It
// makes no assumption about loads between levels. It returns nil if there is no
// objective or the load was not raised.
func (r *ramps) breakingPoint(steps []summary.Step) *summary.BreakingPoint {
	if !r.judged() || len(steps) == 0 {
		return nil
	}
	all := r.merged()
	if len(all.levels) < 2 {
		return nil
	}
	b := &summary.BreakingPoint{Reason: all.reason()}
	for _, step := range steps {
		b.TrafficS += step.Seconds / float64(len(r.trials))
	}
	why := all.firstMissed
	if all.lastMet != nil {
		if r.users {
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
		b.LimitedBy, b.Evidence = why.by, why.evidence
	}
	r.widen(b)
	r.subtractLost(b)
	if all.firstMissed != nil && b.LimitedBy != "" && !b.AtLeast {
		b.EvidenceAt = []float64{all.firstMissed.target, all.firstMissed.target}
	}
	return b
}

// disturbed returns in how many trials others took CPU at the level that would have
// decided the breaking point.
func (r *ramps) disturbed() int {
	if !r.judged() {
		return 0
	}
	n := 0
	for _, t := range r.trials {
		if r.of(t).disturbed != nil {
			n++
		}
	}
	return n
}

// sources returns who took CPU at these levels.
func (r *ramps) sources() (by disturbance.Source) {
	if !r.judged() {
		return 0
	}
	for _, t := range r.trials {
		one := r.of(t)
		for i, level := range r.levels.held {
			if one.disturbed != nil && level.target == one.disturbed.target {
				by |= t.levels[i].Noise.Sources()
			}
		}
	}
	return by
}

// widen moves the ends of a breaking point to where the single trials put them: the
// lowest and the highest, or from six trials on those of the 95% interval of a median.
// A trial that never meets the objective moves the lower end to 0. One that never
// misses it leaves the upper end open.
func (r *ramps) widen(b *summary.BreakingPoint) {
	if len(r.trials) == 1 && b.Load() != nil {
		b.Searches = 1 // its ends are set already
		return
	}
	var lows, highs []float64
	for _, t := range r.trials {
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
		if n := r.disturbed(); n > 0 {
			b.Reason = phrase.Join(b.Reason, fmt.Sprintf("in %d of %d trials others took CPU at the level that missed the objective", n, len(lows)))
		}
	} else if b.High != nil {
		b.High = new(max(high, *b.High))
	}
}

// subtractLost turns a breaking point into a lower bound if agents stopped early. The
// load was then lower than its level by at most their part, and so is the load that the
// service is known to handle.
func (r *ramps) subtractLost(b *summary.BreakingPoint) {
	there, at := 1.0, 0
	for _, t := range r.trials {
		if share := 1 - float64(t.lost)/float64(max(r.agents, 1)); share < there {
			there, at = share, t.number
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
	b.Evidence = fmt.Sprintf("%.0f of %d agents ran until the end of trial %d", there*float64(r.agents), r.agents, at)
	b.Reason = phrase.Join(fmt.Sprintf("agents stopped early, and up to %.0f%% of the load was missing", 100*(1-there)), b.Reason)
}
