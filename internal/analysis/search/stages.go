package search

import (
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
)

// How long windows are. Settling and windows become longer towards the answer. A window
// begins in the state that the load before has left, and closer loads leave a steadier
// state.
var (
	ofBracket = lengths{settle: 500 * time.Millisecond, window: time.Second}
	ofNarrow  = lengths{settle: time.Second, window: 3 * time.Second}
	ofTest    = lengths{settle: time.Second, window: 6 * time.Second}
)

type lengths struct{ settle, window time.Duration }

// afterDrain is added to settling if the step begins with an idle service.
const afterDrain = 500 * time.Millisecond

const (
	mostSteps = 200
	// sure is the width of the interval, as a share of the answer, below which no
	// further window is measured.
	sure = 0.05
	// tests is the number of test windows for which the budget reserves time.
	tests = 2
	// lowestShare of the first load is the lowest load that is tried.
	lowestShare = 1.0 / 64
	// mostEmpty is how many windows in a row without a request end the search.
	mostEmpty = 3
	// enoughDue is how many requests must have been due in them on average: that none is by
	// chance happens once in 150 times.
	enoughDue = 5
	// alike is the difference, as a share, up to which another load confirms a load.
	alike = 0.03
	// mostConfirmed is how many loads are tried again for that.
	mostConfirmed = 2
	// near is a change of load, as a share, that hardly changes a steady state.
	near = 0.1
)

// lengths returns the next step's, cut to the budget; window is 0 if nothing useful
// fits.
func (s *Search) lengths() (settle, window time.Duration) {
	l, least := ofBracket, ofBracket.window
	switch s.stage {
	case Narrow:
		l, least = ofNarrow, ofNarrow.window/2
	case Test:
		l, least = ofTest, ofTest.window/3
		switch {
		case len(s.bursts.loads) > 0:
			l.window, least = s.bursts.each, s.bursts.each
		case s.missed == 0 && s.late != nil: // it may be the answer, as a lower bound
			l.window = max(l.window, time.Duration(shows*s.late.latency*float64(time.Second)))
		}
	}
	if s.drain && s.stage != Bracket {
		l.settle += afterDrain
	}
	settle, window = s.whole(l.settle), s.whole(l.window)
	left := (s.config.Budget - s.traffic).Truncate(s.config.Block)
	window = min(window, left-settle)
	if window < s.whole(least) {
		return 0, 0
	}
	return settle, window
}

// whole rounds up to whole blocks.
func (s *Search) whole(d time.Duration) time.Duration {
	b := s.config.Block
	return max(1, (d+b-1)/b) * b
}

// mustRepeat reports whether a window says nothing about the service, so that it is
// left out and its step, which used that traffic, is repeated. Too many of them end
// the search.
func (s *Search) mustRepeat(o Observation, w window) bool {
	r := &s.again
	if w.n == 0 {
		s.empty(w)
		return true
	}
	r.empty, r.waited = 0, 0
	if o.Limited && w.missed {
		if s.stage != Bracket {
			r.weak++
		}
		if r.limited++; r.limited > 1 {
			r.limited = 0
			s.lower()
		}
		return true
	}
	r.limited = 0
	counts := s.stage == Bracket || s.stage == Test && (s.unsure > 0 || s.missed == 0 && r.disturbed == 0)
	if !w.beside || counts && !w.missed { // a disturbance never improves the result
		return false
	}
	s.besideOthers(o.Disturbed, w)
	return true
}

// looked adds a window to the curves.
func (s *Search) looked(w window) look {
	seconds := (time.Duration(w.blocks) * s.config.Block).Seconds()
	l := look{load: s.step.Load, n: w.n, window: seconds, at: s.elapsed - seconds/2, held: s.step.Settle.Seconds() + seconds,
		single: w.cut && w.missed, beside: w.beside, slow: s.late != nil && Exceeds(w.late-w.bad, w.n, s.late.allowed)}
	if !s.step.Drain && s.before.load > 0 && math.Abs(l.load/s.before.load-1) < near {
		l.held += s.before.held
	}
	s.before = l
	if s.late != nil {
		l.k = w.late
		l.burst = s.late.burst(w.seen)
		s.late.saw(l)
	}
	if s.bad != nil {
		l.k, l.burst = w.bad, false
		s.bad.saw(l)
	}
	return l
}

// learn takes a window that counts for the answer.
func (s *Search) learn(w window) {
	l := s.looked(w)
	if s.lowest == 0 {
		s.lowest = l.load
	}
	s.lowest, s.highest = min(s.lowest, l.load), max(s.highest, l.load)
	if w.missed {
		s.failed = append(s.failed, l.load)
	} else {
		s.met = append(s.met, l.load)
	}
	if s.stage == Bracket {
		return
	}
	s.longest = max(s.longest, l.held)
	if !w.beside {
		s.again.clean++
	}
	if w.clearly {
		s.misses = append(s.misses, l.load)
	}
	if s.stage == Test {
		i := slices.IndexFunc(s.tests, func(t tested) bool { return t.load == l.load })
		if i < 0 {
			i, s.tests = len(s.tests), append(s.tests, tested{load: l.load})
		}
		s.tests[i].seen = append(s.tests[i].seen, w.seen...)
	}
}

// decide chooses the next load.
func (s *Search) decide(w window) {
	switch s.stage {
	case Bracket:
		s.bracket(w)
	case Narrow:
		s.narrowed++
		s.narrow()
	case Test:
		s.test(w)
	}
}

// bracket doubles the load until it clearly misses the objective, or halves it until
// it meets the objective. The first windows of a service that is cold may miss: if the
// load was halved, the lowest that missed is tried again. If it meets the objective
// now, the windows that missed are forgotten.
func (s *Search) bracket(w window) {
	load := s.step.Load
	if w.clearly || w.missed && s.limited { // below the generator's limit no clearer miss is possible
		s.missed = load
	}
	if s.retried && !w.missed && s.missed > 0 && load >= s.missed { // a cold start, no limit
		s.forget(0)
		s.missed = 0
	}
	switch {
	case s.missed > load && len(s.met) == 1 && !s.retried && !s.limited:
		s.retried = true
		s.load = s.missed
	case s.missed > 0 && len(s.met) > 0:
		s.stage, s.unsure = Narrow, 0
		s.narrow()
	case s.missed > 0:
		s.lowerBracket(w)
	case s.limited:
		s.approach()
	case s.unsure > 0 && w.missed:
		s.unsettle(load)
	case s.unsure > 0 && w.beside:
		s.unsettle(s.unsure)
	case s.unsure > 0: // the others have gone
		s.load, s.unsure = s.unsure, 0
	case load >= s.ceiling:
		s.stage = Test
	case s.config.Budget-s.traffic < ofBracket.settle+ofBracket.window+ofTest.settle+ofTest.window/3:
		s.stage = Test // of the highest load that was met: no time is left for a higher one
	default:
		s.load = s.fit(2 * load)
	}
}

// spread are the quantiles of the breaking point at which windows are measured, in
// turn. Most are above the middle, where more requests fail, so a window shows more.
var spread = []float64{.5, .8, .4, .8, .5, .8}

// narrow looks where the breaking point may be. It goes on to testing if the breaking
// point is known well, or if no time is left for more.
func (s *Search) narrow() {
	s.look()
	if s.giveUp() {
		return
	}
	settled := ofTest.settle + ofTest.window
	left := s.config.Budget - s.traffic - ofNarrow.settle - ofNarrow.window
	if s.width() < sure || left < tests*settled {
		if load := s.unconfirmed(); load > 0 && left >= settled {
			s.load = load
			return
		}
		s.stage = Test
		s.load = s.fit(quantile(s.posteriors, 0.5))
		return
	}
	s.load = s.fit(min(quantile(s.posteriors, spread[s.narrowed%len(spread)]), 2*s.highest))
}

// unconfirmed is the lowest load that clearly missed the objective, if no other window
// confirms it: a single one may have been wrong, and all windows since then were at
// lower loads. 0 if there is none, or after mostConfirmed tries.
func (s *Search) unconfirmed() float64 {
	if len(s.misses) == 0 || s.confirmed == mostConfirmed {
		return 0
	}
	lowest, same := slices.Min(s.misses), 0
	for _, load := range s.misses {
		if load <= lowest*(1+alike) {
			same++
		}
	}
	if same > 1 {
		return 0
	}
	s.confirmed++
	return s.fit(lowest)
}

// test measures longer windows at the current answer. They count like all other
// windows: one that misses the objective moves the answer down according to its
// weight.
func (s *Search) test(w window) {
	if len(s.bursts.loads) > 0 {
		s.heldLong(w)
		return
	}
	if s.unsure > 0 {
		s.bound(w)
		return
	}
	if s.missed == 0 && !w.missed {
		s.finish()
		return
	}
	if s.missed == 0 { // the highest load is too high after all
		s.missed = s.step.Load
		s.stage = Narrow
		s.narrow()
		return
	}
	s.look()
	middle := quantile(s.posteriors, 0.5)
	if s.width() < sure && s.tested() > 0 && s.doubt.windows == 0 || s.limited && !w.missed && s.step.Load == s.ceiling && middle >= s.ceiling {
		s.conclude()
		return
	}
	if s.tested() == 0 { // the answer must not rest on windows that missed alone
		middle = quantile(s.posteriors, lowerTest)
	}
	s.load = s.fit(middle)
}

// lowerTest is the quantile of the breaking point at which it is tested as long as every
// test window missed the objective. At the median every second window misses.
const lowerTest = 0.1

// look computes what is known about the breaking point. A part of the objective that
// no window has missed says nothing: too few requests to see a rare failure are no
// reason to expect one.
func (s *Search) look() {
	s.posteriors = s.posteriors[:0]
	for _, c := range []*curve{s.late, s.bad} {
		if c == nil || !c.missed() {
			continue
		}
		c.settle(s.missed / 4)
		s.posteriors = append(s.posteriors, c.between(s.lowest/2, s.highest*2, nil))
	}
}

// forget removes what was missed from a load on.
func (c *curve) forget(limit float64) {
	c.looks = slices.DeleteFunc(c.looks, func(l *look) bool { return l.load >= limit && Exceeds(l.k, l.n, c.allowed) })
}

// missed reports whether any window's share was above the allowed one.
func (c *curve) missed() bool {
	for _, l := range c.looks {
		if Exceeds(l.k, l.n, c.allowed) {
			return true
		}
	}
	return false
}

// interval is the 95% interval of the breaking point, and its middle.
//
// Two things widen it that the curve cannot know. Downwards: what the windows could
// not show, which is a queue that grows to the objective's latency only after the
// longest time that a load was held. Upwards: a steep breaking point between it and
// the lowest load that clearly missed. Nothing was measured there, whatever the shape
// of the curve.
func (s *Search) interval() (low, middle, high float64) {
	low, middle, high = quantile(s.posteriors, 0.025), quantile(s.posteriors, 0.5), quantile(s.posteriors, 0.975)
	if s.late != nil && s.longest > 0 {
		low /= 1 + s.late.latency/s.longest
	}
	unseen := s.missed
	for _, load := range s.misses {
		if load > high {
			unseen = min(unseen, load)
		}
	}
	return low, middle, max(high, min(unseen, high*(1+unknown)))
}

// unknown is how far above the interval, as a share, a steep breaking point may lie. With 1%
// eight of 211 intervals of test/rates ended below the breaking point, six of them by less
// than 1% of it.
const unknown = 0.02

func (s *Search) width() float64 {
	low, middle, high := s.interval()
	return (high - low) / middle
}

// fit returns the nearest load that is allowed.
func (s *Search) fit(load float64) float64 {
	if s.config.Whole {
		load = max(1, math.Round(load))
	}
	return min(load, s.ceiling)
}

// misses returns by which shares a window missed the objective.
func (w window) misses(s *Search) (all []finding.Finding) {
	if s.late != nil && Exceeds(w.late, w.n, s.late.allowed) {
		all = append(all, finding.Finding{Kind: finding.LateOrFailed, Share: w.late / w.n, Allowed: s.late.allowed})
	}
	if s.bad != nil && Exceeds(w.bad, w.n, s.bad.allowed) {
		all = append(all, finding.Finding{Kind: finding.WithoutGoodAnswer, Share: w.bad / w.n, Allowed: s.bad.allowed})
	}
	return all
}
