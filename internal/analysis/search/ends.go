package search

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/stats"
)

// Ended is why a search ended.
type Ended string

const (
	Broke       Ended = "broke"       // the service broke: its load is in the result
	Time        Ended = "time"        // the search time was used up
	Most        Ended = "most"        // the highest load allowed met the objective
	Limited     Ended = "limited"     // the generator or the host was the limit
	AgentLost   Ended = "agent lost"  // so the generator was the limit
	Lowest      Ended = "lowest"      // the objective was missed at the lowest load tried
	Disturbed   Ended = "disturbed"   // others took CPU in too many windows
	Rose        Ended = "rose"        // its capacity, during the search
	Fell        Ended = "fell"        // likewise
	Uneven      Ended = "uneven"      // an overload met the objective that lower loads missed
	Gone        Ended = "gone"        // the service became unavailable
	Silent      Ended = "silent"      // no request ended
	Interrupted Ended = "interrupted" // from outside
	NoObjective Ended = "no objective"
)

// Changed reports whether the capacity of the service changed during the search, or looks as
// if it did.
func (e Ended) Changed() bool { return e == Rose || e == Fell || e == Uneven }

// Generator reports whether the generator or the host, rather than the service, ended
// the search.
func (e Ended) Generator() bool { return e == Limited || e == AgentLost }

// wide is a width of the interval, as a share of the answer, that is mentioned in the
// reason.
const wide = 0.3

// finish ends the search with what is known.
func (s *Search) finish() {
	if s.crowded() || s.unsure > 0 {
		s.disturbed()
		return
	}
	if s.missed == 0 || len(s.met) == 0 && s.stage == Bracket {
		s.unbroken()
		return
	}
	s.look()
	if len(s.posteriors) == 0 {
		s.unbroken()
		return
	}
	if s.burst() {
		return
	}
	low, load, high := s.interval()
	if s.anyLoadFails(load) {
		return
	}
	if load >= s.ceiling && len(s.met) > 0 {
		s.atLeast()
		return
	}
	low, load = s.within(low, load)
	if s.bursts.met > 0 { // longer than any other load
		low = min(low, s.bursts.met)
	}
	if tested := s.tested(); s.enough(answered{requests: s.testedRequests(tested)}) { // it is not above the breaking point
		load = max(load, tested)
	}
	s.result.Load, s.result.Low, s.result.High = load, low, max(high, load)
	switch {
	case s.limited && high > s.ceiling:
		s.result.High = math.Inf(1) // nothing was measured there
		s.result.Why = finding.Finding{Kind: finding.UpperEndUnknown, Load: s.limit}
	case high-low > wide*load:
		s.result.Why = finding.Finding{Kind: finding.WideInterval, Seconds: s.traffic.Seconds(), Load: load}
	}
	s.end(Broke)
}

// anyLoadFails ends the search if as many requests get no good answer below a load as
// from it on, and more than the objective allows, or too few of them to decide that.
func (s *Search) anyLoadFails(at float64) bool {
	if s.bad == nil {
		return false
	}
	if _, n := s.bad.divided(at); n[0] == 0 { // nothing was tried below the answer
		at = math.Sqrt(s.lowest * s.highest)
	}
	failed, all, constant := s.bad.constant(at)
	if !constant {
		return false
	}
	why := finding.Finding{Kind: finding.FailsAtAnyLoad, Share: failed / all, Allowed: s.bad.allowed}
	switch low, _ := stats.Proportion(failed, all); {
	case low > s.bad.allowed, Exceeds(failed, all, s.bad.allowed) && all*s.bad.allowed >= support:
		s.fail(Lowest, why)
	case all*s.bad.allowed < support && s.bad.missed() && !s.bad.more(failed/all):
		why.Kind, why.Requests, why.Again = finding.TooFewToDecide, all, support/s.bad.allowed
		s.fail(Time, why)
	default:
		return false
	}
	return true
}

// within corrects the low end and the middle of the interval if every load up to one met
// the objective, and none from a higher one on that clearly missed it. The breaking point
// is between the two, which a curve whose shape does not fit cannot overrule.
func (s *Search) within(low, load float64) (_, _ float64) {
	if len(s.misses) == 0 || len(s.met) == 0 {
		return low, load
	}
	met, missed := slices.Max(s.met), slices.Min(s.misses)
	if met >= missed {
		return low, load
	}
	return min(low, met), min(load, missed)
}

// unbroken ends a search whose budget was used up before it found two loads: one that
// meets the objective and one that misses it.
func (s *Search) unbroken() {
	switch {
	case len(s.met) > 0:
		s.atLeast()
	case s.missed > 0 && s.anyLoadFails(math.Sqrt(s.lowest*s.highest)):
	case s.missed > 0:
		s.fail(Time, finding.Finding{Kind: finding.MissedAtEveryLoad, Load: s.lowest})
	default:
		s.fail(Time, finding.Finding{Kind: finding.TooShort, Time: s.config.Budget})
	}
}

// atLeast ends a search with a lower bound: the highest load that met the objective, and
// that no later window missed because of the generator.
func (s *Search) atLeast() {
	load := highestBelow(s.met, math.Nextafter(s.ceiling, math.Inf(1)))
	if below := highestBelow(s.met, s.step.Load); s.again.limited > 0 && s.step.Load <= load && below > 0 {
		load = below
	}
	s.result.Load, s.result.Low, s.result.High = load, load, math.Inf(1)
	if s.limited && len(s.posteriors) > 0 { // a window below it missed, but others outweigh it
		low, _, _ := s.interval()
		s.result.Low = min(low, load)
	}
	s.result.AtLeast = true
	ended := Time
	switch {
	case s.limited:
		ended = Limited
		s.result.Why = finding.Finding{Kind: finding.GeneratorLimitAbove, Load: load}
	case load >= s.config.Most:
		ended = Most
		s.result.Why = finding.Finding{Kind: finding.MetAtHighestAllowed, Load: load}
	default:
		s.result.Why = finding.Finding{Kind: finding.NothingMissed, Load: s.highest}
	}
	s.end(ended)
}

// gone ends a search whose service can no longer be measured from a load on.
func (s *Search) gone(load float64, because finding.Finding) {
	why := finding.Finding{Kind: finding.Unavailable, Load: load, Because: []finding.Finding{because}}
	below := 0.0
	for _, met := range s.met {
		if met < load {
			below = max(below, met)
		}
	}
	if below == 0 {
		s.fail(Gone, why)
		return
	}
	s.result.Load, s.result.Low, s.result.High = below, below, load
	if s.stage != Bracket && len(s.posteriors) > 0 {
		low, middle, high := s.interval()
		s.result.Low = min(low, below)
		s.result.Load = max(min(middle, load), s.result.Low)
		s.result.High = max(min(high, load), s.result.Load)
	}
	why.Kind = finding.EndedUnavailable
	s.result.Why = why
	s.end(Gone)
}

// fail ends a search that found nothing.
func (s *Search) fail(ended Ended, why finding.Finding) {
	s.result = Result{Ended: ended, Why: why}
	s.result.Traffic = s.traffic + s.wasted
	s.stop(finding.Finding{Kind: finding.NoBreakingPoint})
}

// end completes the answer. If the service broke, the stages after it follow.
func (s *Search) end(ended Ended) {
	r := &s.result
	r.Ended, r.Tested, r.Traffic = ended, s.tested(), s.traffic+s.wasted
	r.Load = min(r.Load, s.config.Most)
	if s.config.Whole {
		r.Load, r.Low = math.Max(1, math.Floor(r.Load)), math.Max(1, math.Floor(r.Low))
		r.High = max(math.Floor(r.High), r.Load)
	}
	r.Low = min(r.Low, r.Load)
	switch ended {
	case Broke:
		s.follow()
	case Gone:
		s.stop(finding.Finding{Kind: finding.UnavailableBefore})
	case Disturbed:
		s.stop(finding.Finding{Kind: finding.OthersTookCPU, Who: s.again.by | s.again.early})
	default:
		s.stop(finding.Finding{Kind: finding.NotBroken})
	}
}
