package search

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
)

// Took replaces the step that the search requested, or its end, by the step that was
// taken, in a record of another version of the search. What its window showed is
// equally valid.
func (s *Search) Took(step Step) {
	s.given, s.steps = true, max(s.steps, step.Number+1)
	if step.Stage.After() {
		if s.after == nil && !s.done {
			s.finish()
		}
		if s.after != nil {
			s.after.stage, s.after.load = step.Stage, step.Load
		}
		s.step = step
		return
	}
	if s.done || s.after != nil { // that search went on
		s.done, s.after, s.result = false, nil, Result{}
	}
	switch {
	case step.Stage != Recover:
		s.stage, s.doubt = step.Stage, suspicion{}
		if settle, _ := s.lengths(); settle > 0 {
			step.Settle = settle
		}
		step.Drain = s.drain
	case s.doubt.windows == 0:
		s.doubt = suspicion{load: step.Load, windows: 1}
		if len(s.failed) > 0 {
			s.doubt.load = slices.Min(s.failed)
		}
	}
	s.step = step
}

// End ends a search whose record ends, with what is known so far: because it was
// interrupted, or because an earlier version may have ended it here.
func (s *Search) End(interrupted bool) {
	if s.done {
		return
	}
	why := finding.Finding{Kind: finding.NotMeasured}
	if interrupted {
		why.Kind = finding.Interrupted
	}
	if s.after != nil {
		s.stop(why)
		return
	}
	_, next := s.lengths()
	s.finish()
	if s.after != nil {
		s.stop(why)
	}
	if r := &s.result; next > 0 && interrupted && !r.Ended.Changed() && (r.Why.Kind == finding.None || r.Load == 0 || r.AtLeast) {
		r.Why = why
		if r.Load == 0 || r.AtLeast {
			r.Ended = Interrupted
		}
	}
}

// Lost ends a search whose generator lost an agent: with what is known so far, as a
// lower bound if no load missed the objective. The step in progress does not count. why
// is what the agent reported.
func (s *Search) Lost(why string) {
	if s.done {
		return
	}
	s.given = false
	reported := finding.Finding{Kind: finding.Recorded, Text: why}
	if s.after != nil {
		s.stop(reported)
		return
	}
	s.finish()
	r := &s.result
	if s.after != nil {
		s.stop(reported)
	}
	early := finding.Finding{Kind: finding.EndedEarly, Text: why}
	switch {
	case r.Ended.Changed():
	case r.Load == 0:
		r.Ended, r.Why = AgentLost, early
	case r.AtLeast:
		early.Kind = finding.BoundEndedEarly
		r.Ended, r.Why = AgentLost, early
	case r.Why.Kind == finding.None:
		r.Why = early
	}
}
