package analysis

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/stats"
)

// bracket returns what is known of the breaking point of a trial that has no value of
// its own: the bound of a search, or the levels of a ramp between which it lies. Both
// are nil if nothing is known, or if there is a value.
func (c *cell) bracket(t *trial) (from, to *float64) {
	var o stats.Observed
	known := false
	switch {
	case t.search != nil:
		o, known = t.search.bracket()
	case c.ramps().judged():
		o, known = c.ramps().bracket(t)
	}
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

// bracket is what a search found: its answer, a lower bound, or that the service breaks
// below a load, because it missed the objective or died at each load tried. It reports
// false if the search could not determine that: others took CPU, or the generator was
// the limit.
func (s *replayed) bracket() (o stats.Observed, known bool) {
	r := s.result()
	switch {
	case r.AtLeast:
		return stats.Observed{Low: r.Load, High: math.Inf(1)}, true
	case r.Load > 0:
		return stats.Known(r.Load), true
	case r.Ended.Generator():
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

// bracket is between which levels the ramp of a trial breaks. Lost agents sent less than
// the level, so it is then a lower bound.
func (r *ramps) bracket(t *trial) (o stats.Observed, known bool) {
	one := r.of(t)
	o.High = math.Inf(1)
	if one.lastMet != nil {
		o.Low = one.lastMet.target
	}
	if one.firstMissed != nil {
		o.High = one.firstMissed.target
	}
	if lost := len(t.attempt.Lost); lost > 0 {
		o.Low *= 1 - float64(lost)/float64(max(r.agents, lost))
		o.High = math.Inf(1)
	}
	return o, one.lastMet != nil || one.firstMissed != nil
}
