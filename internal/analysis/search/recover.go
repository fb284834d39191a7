package search

import (
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
)

// If no request at the end of several windows in a row, or of the last window, had a
// good answer, the search checks whether the service still works: at the lowest load
// that met the objective before. If the service does not, it broke permanently at the
// load of the first of these windows, and later misses show nothing else.

// doubtful is how many such windows in a row are a reason to check. Near a steep
// breaking point two are chance, and a check costs half a window's time.
const doubtful = 3

// mostUnclear is how many disturbed windows in a row are ignored if they indicate that
// the service is lost.
const mostUnclear = 3

// suspicion is the state of the doubt whether the service still works.
type suspicion struct {
	load    float64 // of the first silent window, or of the one before if that missed; 0: none
	n       float64 // requests since then, none of which had a good answer
	windows int     // silent ones in a row
	denied  int     // checks that had no good answer either
	unclear int     // checks without a result
}

// suspect records a window that ended without any good answer, if the service had met
// the objective before.
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

// recovery returns the step that checks whether the service still works. If the budget
// is used up, the traffic counts for Patience, so that a doubt about the last window
// is settled, too.
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

// enoughDenied is how many checks without a good answer settle the doubt. During the
// first one, a service may still work on earlier requests that were given up.
const enoughDenied = 2

// fewAsked is so few requests that all of them may fail by chance.
const fewAsked = 5

// recovered takes what the check has shown.
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
		s.posteriors = nil // they include what was missed since then
		s.gone(d.load, finding.Finding{Kind: finding.StoppedAnswering, Requests: d.n, Again: w.silent, Load: s.step.Load})
	}
}
