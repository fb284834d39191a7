package search

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
)

// A service that warms up, leaks or is slowed has no breaking point: it has one at each
// time, and the search followed it. So once all windows are measured, those of the overload
// included, accounts of a capacity that changes are compared with a steady one, by how
// probable the windows are under each.

// account is a capacity over the time, in s since the search began, as a share of any;
// nil: it stays as it is.
type account func(at float64) float64

// every is how often, in s, a service may pause that is steady otherwise. A pause spoils the
// window that it falls into, and looks like a fall if it comes late.
var every = []float64{4, 8, 16, 32}

// of is the capacity at the time of each look.
func (a account) of(looks []*look) []float64 {
	all := make([]float64, len(looks))
	for i, l := range looks {
		if all[i] = 1; a != nil {
			all[i] = a(l.at)
		}
	}
	return all
}

// growing is a capacity that changes by e in some seconds; negative: it falls.
func growing(seconds float64) account {
	return func(at float64) float64 { return math.Exp(at / seconds) }
}

// warming is that of a service that takes several times as long at first; what that is
// above 1 falls by e in some seconds.
func warming(times, seconds float64) account {
	return func(at float64) float64 { return 1 / (1 + (times-1)*math.Exp(-at/seconds)) }
}

// changes are the accounts that a steady capacity is compared with.
var changes = func() (all []account) {
	for _, seconds := range []float64{25, 50, 100, 200} {
		all = append(all, growing(seconds), growing(-seconds))
	}
	for _, seconds := range []float64{5, 10, 20, 40} {
		all = append(all, warming(2, seconds), warming(5, seconds))
	}
	return all
}()

const (
	// changed is from which gain, in ln of the probability of all windows, the best of the
	// changes is stated. Of stationary services 0.5% have that much; docs/statistics.md has
	// the figures.
	changed = 4
	// without is what must be left of it without any one of the windows: a single wrong
	// window is no change.
	without = 1.5
	// likelier is how much more a change must explain, in ln, than what else a service may do
	// that is steady.
	likelier = 3
)

// change returns how the capacity changed during the search; none: it did not, as far as the
// windows show.
func (s *Search) change() (found finding.Finding) {
	most := 0.0
	for _, c := range []*curve{s.late, s.bad} {
		if c == nil || !c.missed() {
			continue
		}
		c = c.undisturbed()
		c.settle(s.missed / 4)
		low, high := s.lowest/2, s.highest*2
		fits := c.between(low, high, nil).fits
		least := max(changed, s.stays(c)-fits+likelier)
		for _, a := range changes {
			end := a(s.elapsed)
			share := func(at float64) float64 { return a(at) / end }
			p := c.between(low, high, share)
			if gain := p.fits - fits; gain > max(most, least) && c.robust(low, high, share) {
				most = gain
				to := math.Exp(p.quantile(0.5))
				found = finding.Finding{Kind: finding.CapacityRose, Load: to * a(c.looks[0].at) / end, Other: to, Seconds: s.elapsed}
				if found.Load > to {
					found.Kind = finding.CapacityFell
				}
			}
		}
	}
	return found
}

// stays is how well a steady capacity explains the windows, as ln of their probability, if
// the service pauses, or if some requests are late at any load. Light loads have too few to
// show these.
func (s *Search) stays(c *curve) float64 {
	return max(s.floored(c), s.paused(c))
}

// floored is that of a service of which some requests are late at any load.
func (s *Search) floored(c *curve) float64 {
	other := c.undisturbed()
	other.expect([]float64{.2 * c.allowed, .4 * c.allowed, .6 * c.allowed, mostFloor * c.allowed})
	return other.between(s.lowest/2, s.highest*2, nil).fits
}

// paused is that of a service that pauses; -Inf: no window shows a pause.
func (s *Search) paused(c *curve) float64 {
	best := math.Inf(-1)
	if !slices.ContainsFunc(c.looks, func(l *look) bool { return l.burst }) {
		return best
	}
	for _, seconds := range every {
		other := c.undisturbed()
		other.every = seconds
		other.expect(c.floors)
		best = max(best, other.between(s.lowest/2, s.highest*2, nil).fits)
	}
	return best
}

// undisturbed is the curve without the windows in which others took CPU: those that missed
// were repeated until one passed.
func (c *curve) undisturbed() *curve {
	own := &curve{allowed: c.allowed, latency: c.latency, users: c.users}
	for _, l := range c.looks {
		if !l.beside {
			copied := *l
			copied.likelihood = nil
			own.looks = append(own.looks, &copied)
		}
	}
	return own
}

// robust reports whether every window may be left out, and the others still show a change.
func (c *curve) robust(low, high float64, a account) bool {
	for i := range c.looks {
		others := *c
		others.looks = slices.Delete(slices.Clone(c.looks), i, i+1)
		if others.between(low, high, a).fits-others.between(low, high, nil).fits < without {
			return false
		}
	}
	return true
}

// withdraw takes back an answer that the windows contradict: the capacity changed, a load far
// above the answer met the objective, or no load meets it.
func (s *Search) withdraw() {
	why := s.change()
	if why.None() {
		why = s.full.trend(s.elapsed)
	}
	if why.None() {
		why = s.costChange()
	}
	if why.None() {
		why = s.uneven()
	}
	if why.None() {
		why = s.lateAtAnyLoad()
	}
	if ended, withdrawn := withdrawals[why.Kind]; withdrawn {
		s.result = Result{Ended: ended, Why: why, Traffic: s.result.Traffic}
	}
}

// withdrawals are how a search ends whose answer is withdrawn, by the reason.
var withdrawals = map[finding.Kind]Ended{
	finding.CapacityRose: Rose, finding.CapacityFell: Fell, finding.MetFarAbove: Uneven,
	finding.LateAtAnyLoad: Lowest, finding.PerhapsLateAtAnyLoad: Time,
}

// above is how far above its interval a service meets the objective for an overload to refute
// the answer.
const above = 1.25

// farAbove reports whether the service answered so many requests of an overload that, if it
// could answer no more than the interval says, the last ones would have waited for longer than
// the objective's latency.
func (s *Search) farAbove(w window) bool {
	if s.config.Whole {
		return s.step.Load >= above*s.result.High
	}
	seconds := float64(w.blocks)*s.config.Block.Seconds() + s.config.Late.Seconds()
	return w.n >= above*s.result.High*seconds
}

// uneven returns that an overload met the objective, far above the interval, though lower loads
// missed it; none: no overload did. A service that stands still now and then does that, one
// whose few slow requests came by chance, and one that still warms up.
func (s *Search) uneven() finding.Finding {
	if s.after == nil || s.after.met == 0 || len(s.failed) == 0 {
		return finding.Finding{}
	}
	return finding.Finding{Kind: finding.MetFarAbove, Load: slices.Min(s.failed), Other: s.after.met}
}
