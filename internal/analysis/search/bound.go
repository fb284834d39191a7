package search

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
)

// If others take CPU in most windows, the search cannot find the breaking point: a window
// that missed the objective beside them may have missed because of them. One that met it
// beside them is evidence nevertheless, because lost CPU improves nothing. So the search
// then looks for a lower bound. It gets nearer to the lowest load that missed, as long as
// windows meet the objective, and tests a load clearly below it. If that misses, too, it
// tests a lower one.
//
// A bound must not rest on the best of several windows near the breaking point: there
// chance decides, and the misses beside others, which would show that, do not count.

const (
	// support is how many requests beyond the objective's quantile a lower bound needs:
	// 1,000 requests of a p99. Of fewer, chance decides.
	support = 10
	// shows is how long a lower bound is held, in units of the objective's latency. Until
	// then a service that is loaded with a tenth more than it can do hides its queue.
	shows = 10
	// nearer is how close, as a share, the highest load that met the objective and the
	// lowest that missed it beside others are brought.
	nearer = 0.2
	// clearlyBelow is how low a bound is, as a share of the lowest load that missed. With
	// loads nearer to it, up to a third of the bounds were above the breaking point.
	clearlyBelow = 0.7
)

// answered is a load whose windows met the objective: their number, their requests, and the
// longest time that it was held, in s.
type answered struct {
	load, requests, held float64
	windows              int
}

// keep notes a window that took some seconds and met the objective, whether it counts or
// not.
func (s *Search) keep(w window, seconds float64) {
	if w.missed || w.n == 0 {
		s.steady = answered{}
		return
	}
	if s.step.Drain || s.steady.load != s.step.Load {
		s.steady = answered{load: s.step.Load}
	}
	s.steady.held += seconds
	i := slices.IndexFunc(s.kept, func(a answered) bool { return a.load == s.step.Load })
	if i < 0 {
		i, s.kept = len(s.kept), append(s.kept, answered{load: s.step.Load})
	}
	s.kept[i].windows++
	s.kept[i].requests += w.n
	s.kept[i].held = max(s.kept[i].held, s.steady.held)
}

// highestKept is the highest load up to a limit whose windows met the objective.
func (s *Search) highestKept(limit float64, counts func(answered) bool) (highest answered) {
	for _, a := range s.kept {
		if a.load <= limit && a.load > highest.load && counts(a) {
			highest = a
		}
	}
	return highest
}

// supports reports whether a load was held for long enough, and had enough requests, for
// a lower bound. The latency decides, if there is one: a failed request is late, too. A
// failure that is too rare to be seen is no reason to expect one, as for any other answer.
func (s *Search) supports(a answered) bool {
	return s.enough(a) && (s.late == nil || a.held >= shows*s.late.latency)
}

// enough reports whether a load had enough requests for a lower bound.
func (s *Search) enough(a answered) bool {
	allowed := s.bad
	if s.late != nil {
		allowed = s.late
	}
	return a.requests*allowed.allowed*(1+1e-9) >= support
}

// besideOthers takes a window that does not count, because others took CPU. It is repeated.
func (s *Search) besideOthers(by finding.Source, w window) {
	r, load := &s.again, s.step.Load
	switch {
	case s.unsure > 0: // it missed, and its traffic counts
		r.by |= by
		s.unsettle(load)
		return
	case s.stage == Bracket:
		r.early |= by
		s.traffic -= w.took
		if s.wasted += w.took; s.wasted >= s.config.Patience {
			s.unsettle(load)
		}
		return
	}
	r.disturbed++
	r.by |= by
	if w.missed && (r.missed == 0 || load < r.missed) {
		r.missed = load
	}
	switch {
	case s.stage == Narrow:
		s.giveUp()
	case s.tested() == 0 && s.spare(w.took): // the time of a test is reserved
	case s.missed == 0 || s.crowded():
		s.unsettle(s.lowestMiss(true))
	}
}

// crowded reports whether others took CPU in most windows after the bracket was found.
func (s *Search) crowded() bool { return s.again.disturbed > s.again.clean+s.again.weak }

// giveUp looks for a lower bound, if others took CPU in most windows and the time is left
// that tests take. It reports whether it does.
func (s *Search) giveUp() bool {
	left := s.config.Budget - s.traffic - ofNarrow.settle - ofNarrow.window
	if !s.crowded() || left >= tests*(ofTest.settle+ofTest.window) {
		return false
	}
	s.unsettle(s.lowestMiss(true))
	return true
}

// unsettle takes a load that missed beside others, and chooses a load to look for a lower
// bound.
func (s *Search) unsettle(load float64) {
	s.unsure = load
	s.raise()
	met := highestBelow(s.met, load)
	if met == 0 && s.stage == Bracket {
		if s.load = s.fit(max(load/2, s.lowestLoad())); s.load >= load {
			s.disturbed()
		}
		return
	}
	between := s.fit(math.Sqrt(met * load))
	left := s.config.Budget - s.traffic - ofBracket.settle - ofBracket.window - ofTest.settle - ofTest.window
	if s.stage == Bracket && load > met*(1+nearer) && left >= 0 && met < between && between < load {
		s.load = between
		return
	}
	s.stage, s.load = Test, s.fit(clearlyBelow*load)
	if s.load >= load { // one user
		s.disturbed()
	}
}

// raise raises the lower bound to the highest load that is clearly below the one that
// missed beside others.
func (s *Search) raise() {
	if a := s.highestKept(clearlyBelow*s.unsure*(1+1e-9), s.supports); a.load > s.held.load {
		s.held = a
	}
}

// bound takes a test window of a search for a lower bound. If it missed, whoever caused
// that, a lower load is tested.
func (s *Search) bound(w window) {
	if w.missed {
		s.unsettle(s.step.Load)
	} else if s.raise(); s.held.load >= s.step.Load {
		s.disturbed()
	}
}

// lowestMiss is the lowest load that missed after the bracket was found, or that of the
// bracket; beside others too, if so asked.
func (s *Search) lowestMiss(beside bool) float64 {
	lowest := math.Inf(1)
	for _, load := range append(slices.Clone(s.misses), s.missed) {
		if load > 0 {
			lowest = min(lowest, load)
		}
	}
	if beside && s.again.missed > 0 {
		lowest = min(lowest, s.again.missed)
	}
	return lowest
}

// disturbed ends a search in which others took CPU in too many windows: with the load that
// met the objective nevertheless, as a lower bound, if its windows had enough requests.
func (s *Search) disturbed() {
	why := finding.Finding{Kind: finding.BesideOthers, Who: s.again.by | s.again.early}
	if s.wasted >= s.config.Patience && s.missed == 0 {
		why.Time = s.config.Patience
	}
	missed := s.lowestMiss(false)
	if a := s.held; a.load > 0 && a.load < missed {
		why.Kind, why.Load, why.Requests = finding.BoundBesideOthers, a.load, a.requests
		s.result = Result{Load: a.load, Low: a.load, High: math.Inf(1), AtLeast: true, Why: why}
		s.end(Disturbed)
		return
	}
	a := s.highestKept(math.Nextafter(missed, 0), func(answered) bool { return true })
	held := finding.Finding{Load: a.load, Requests: a.requests, Seconds: a.held, N: a.windows}
	switch {
	case s.supports(a):
		held.Kind = finding.MetAndMissedNear
	case a.load > 0 && s.enough(a):
		held.Kind = finding.MetTooBriefly
	case a.load > 0:
		held.Kind = finding.MetByTooFew
	}
	if held.Kind != finding.None {
		why.Because = []finding.Finding{held}
	}
	s.fail(Disturbed, why)
}
