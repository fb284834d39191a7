package capacity

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/stats"
)

// bracket is what a search found: its answer, a lower bound, or that the service breaks
// below a load, because it missed the objective or died at each load tried. It reports
// false if the search could not determine that: others took CPU, or the generator was
// the limit.
func (s *Replayed) bracket() (o stats.Observed, known bool) {
	r := s.Result()
	switch {
	case r.AtLeast:
		return stats.Observed{Low: r.Load, High: math.Inf(1)}, true
	case r.Load > 0:
		return stats.Known(r.Load), true
	case r.Ended.Generator(), r.Ended.Changed():
		return o, false
	}
	lowest := math.Inf(1)
	for i := range s.steps {
		step := &s.steps[i]
		if step.measured() && !s.misses(step) && step.used {
			return o, false // it met the objective, and where it breaks is not known
		}
		if s.misses(step) {
			lowest = min(lowest, step.Load)
		}
	}
	return stats.Observed{Low: 0, High: lowest}, !math.IsInf(lowest, 1)
}

// Ends returns the ends of a breaking point that has no value of its own.
func (s *Replayed) Ends() (from, to *float64) { return bounds(s.bracket()) }

// bracket is between which levels the ramp of a trial breaks. Lost agents sent less than
// the level, so it is then a lower bound.
func (r *Ramps) bracket(t RampTrial) (o stats.Observed, known bool) {
	one := r.of(t)
	o.High = math.Inf(1)
	if one.lastMet != nil {
		o.Low = one.lastMet.target
	}
	if one.firstMissed != nil {
		o.High = one.firstMissed.target
	}
	if t.Lost > 0 {
		o.Low *= 1 - float64(t.Lost)/float64(max(r.Agents, t.Lost))
		o.High = math.Inf(1)
	}
	return o, one.lastMet != nil || one.firstMissed != nil
}

// Ends returns the ends of a trial's breaking point. Both are nil without an objective.
func (r *Ramps) Ends(t RampTrial) (from, to *float64) {
	if !r.Judged() {
		return nil, nil
	}
	return bounds(r.bracket(t))
}

// bounds returns the ends of what is known of a breaking point that has no value of its
// own: the bound of a search, or the levels of a ramp between which it lies. Both are nil
// if nothing is known, or if there is a value.
func bounds(o stats.Observed, known bool) (from, to *float64) {
	if !known || o.Known() {
		return nil, nil
	}
	if o.Low > 0 {
		from = &o.Low
	}
	if !math.IsInf(o.High, 0) {
		to = &o.High
	}
	return from, to
}
