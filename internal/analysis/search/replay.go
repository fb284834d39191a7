package search

import "slices"

// Took tells the search which step was taken in the place of the one that it
// asked for: that of a record which another version of the search has made.
// What its window showed is as good as any other.
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

// End ends a search that was broken off, with what is known by now; it says why
// where nothing else is to be said. A search that has ended stays as it is.
func (s *Search) End(why string) {
	if s.done {
		return
	}
	_, next := s.lengths()
	s.finish()
	if next <= 0 { // it had its time
		return
	}
	if s.result.Reason == "" || s.result.Load == 0 || s.result.AtLeast {
		s.result.Reason = why
	}
}

// Lost ends a search whose generator lost a part of itself, in words: with what is
// known by now, as a lower bound where no load was seen to miss. The step that was
// under way is as if it had not been given.
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
		r.Reason = "the search ended early, and the service may bear more: " + why
		r.Limited = true
	case r.Reason == "":
		r.Reason = "the search ended early: " + why
	}
}
