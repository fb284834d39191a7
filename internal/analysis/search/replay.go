package search

import "slices"

// Took replaces the step that the search requested by the one that was taken, in a
// record of another version of the search. What its window showed is equally valid.
func (s *Search) Took(step Step) {
	if s.done {
		return
	}
	s.step, s.given = step, true
	if step.Stage != Recover {
		s.stage, s.doubt = step.Stage, suspicion{}
	} else if s.doubt.windows == 0 {
		s.doubt = suspicion{load: step.Load, windows: 1}
		if len(s.failed) > 0 {
			s.doubt.load = slices.Min(s.failed)
		}
	}
	s.steps = max(s.steps, step.Number+1)
}

// End ends a search that was interrupted, with what is known so far. It uses why as
// the reason if there is no other. A search that has ended does not change.
func (s *Search) End(why string) {
	if s.done {
		return
	}
	_, next := s.lengths()
	s.finish()
	if next <= 0 { // its time was used up
		return
	}
	if s.result.Reason == "" || s.result.Load == 0 || s.result.AtLeast {
		s.result.Reason = why
	}
}

// Lost ends a search whose generator lost an agent: with what is known so far, as a
// lower bound if no load missed the objective. The step in progress does not count.
func (s *Search) Lost(why string) {
	if s.done {
		return
	}
	s.given = false
	s.finish()
	r := &s.result
	switch {
	case r.Load == 0:
		r.Reason = "the search ended early: " + why
		r.Limited = true
	case r.AtLeast:
		r.Reason = "the search ended early, and the service may handle more: " + why
		r.Limited = true
	case r.Reason == "":
		r.Reason = "the search ended early: " + why
	}
}
