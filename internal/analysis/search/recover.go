package search

import (
	"fmt"
	"slices"
	"time"
)

// What a search does where at the end of some windows, one after the other, no
// request at all had a good answer, or at the end of its last one: it asks
// whether the service still works, at the lowest load that it held before. Where
// it does not, it broke at the load of the first of them, and for good: all that
// was missed since tells nothing but that.

// doubtful is how many such windows in a row are a reason to ask. Near a wall two
// are chance, and asking costs half a window's time.
const doubtful = 3

// mostUnclear is how many windows in a row that others disturbed are not
// believed when they say that the service is lost.
const mostUnclear = 3

// suspicion is that the service no longer works.
type suspicion struct {
	load    float64 // since which: of the first of its windows, or of the one before, if that missed; 0: none
	n       float64 // requests since, none of which had a good answer
	windows int     // in a row of that kind
	denied  int     // that were to settle it, and had no good answer either
	unclear int     // that were to, and said nothing
}

// suspect notes a window at whose end nothing had a good answer, where the
// service had met the objective before.
func (s *Search) suspect(w window) {
	d := &s.doubt
	if w.silent == 0 || !w.missed || len(s.met) == 0 {
		*d = suspicion{}
		if w.missed {
			d.load = s.step.Load
		}
		return
	}
	if d.load == 0 {
		d.load = s.step.Load
	}
	d.windows++
	d.n += w.silent
}

// recovery gives the step that asks whether the service still works. Where the
// budget is spent, patience pays: the last window's doubt is settled too.
func (s *Search) recovery(last bool) (Step, bool) {
	if w := s.doubt.windows; w == 0 || w < doubtful && !last {
		return Step{}, false
	}
	settle, window := s.whole(ofNarrow.settle), s.whole(ofBracket.window)
	if s.traffic+settle+window > s.config.Budget && s.wasted+settle+window > s.config.Patience {
		return Step{}, false
	}
	return Step{Stage: Recover, Load: slices.Min(s.met), Drain: true, Settle: settle, Window: window}, true
}

// enoughDenied is how many windows without a good answer settle it: after the first
// a service may still work at what was asked of it before, and given up.
const enoughDenied = 2

// fewAsked is so few requests that all of them may fail by chance.
const fewAsked = 5

// recovered takes what that step has shown.
func (s *Search) recovered(o Observation, w window, took time.Duration) {
	if s.traffic+took <= s.config.Budget {
		s.traffic += took
	} else {
		s.wasted += took
	}
	s.before = look{}
	switch d := &s.doubt; {
	case w.n > w.silent:
		s.doubt = suspicion{}
	case w.n < fewAsked || o.Limited || o.Disturbed != 0:
		if d.unclear++; d.unclear == mostUnclear {
			s.doubt = suspicion{}
		}
	case d.denied+1 < enoughDenied:
		d.denied++
	default:
		s.posteriors = nil // they hold what was missed since
		s.gone(d.load, fmt.Sprintf("the service stopped answering: none of %.0f requests had a good answer, nor one of %.0f at %s, which it had held before",
			d.n, w.silent, show(s.step.Load)))
	}
}
