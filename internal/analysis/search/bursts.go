package search

import (
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/stats"
)

// A service that pauses, or is slow from time to time, meets its objective between these
// moments. Windows of some seconds then meet it or miss it by chance, at any load, and the
// curve takes the chance for a breaking point. If pauses explain the windows better than a
// steady service does, lower loads are held for a while before the search ends: the
// first that meets the objective is a lower end, and the last that missed it an upper one.
// A load that meets it with a few bursts, of which as many more by chance would miss it,
// decides nothing.

const (
	// suspected is from which gain, in ln of the probability of all windows, pauses are
	// looked for. That costs a steady service time, and no answer.
	suspected = 2
	// holding is how long a load is held at least, or half of the search's time. How often the
	// service pauses is not known: most windows are near to the answer, where a queue has
	// bursts of its own.
	holding = 30 * time.Second
	// mostHolds is the highest traffic of all holds at least, beyond the search's, or as much.
	mostHolds = 70 * time.Second
	// undecided is the chance of so few bursts, of a service that just misses its objective,
	// from which they do not decide whether it does.
	undecided = 0.05
)

// holds are the shares of the answer that are held.
var holds = []float64{0.75, 0.5, 0.25}

// bursts is the state of looking for them.
type bursts struct {
	done   bool          // or not needed
	loads  []float64     // still to be held; the first is held now
	each   time.Duration // how long a load is held
	until  time.Duration // the traffic that all may use
	met    float64       // the load that was held and met the objective nevertheless; 0: none, or it had no burst
	missed finding.Finding
	open   finding.Finding // the load that was held met the objective, by chance or not
}

// conclude ends the search, unless its windows show bursts: these are looked for first.
func (s *Search) conclude() {
	if b := &s.bursts; b.done || !s.pauses() {
		b.done, b.loads = true, nil
		s.finish()
	}
}

// pauses reports whether the windows show pauses, and then begins to look for them.
func (s *Search) pauses() bool {
	b := &s.bursts
	b.done = true
	if s.late == nil || s.missed == 0 || len(s.met) == 0 || s.limited || s.unsure > 0 || s.crowded() || s.doubt.windows > 0 {
		return false
	}
	if s.look(); len(s.posteriors) == 0 {
		return false
	}
	_, answer, _ := s.interval()
	c := s.late.undisturbed()
	c.settle(s.missed / 4)
	steady := max(c.between(s.lowest/2, s.highest*2, nil).fits, s.floored(c))
	if s.paused(c)-steady < suspected {
		return false
	}
	for _, share := range holds {
		if load := s.fit(share * answer); load < answer && !slices.Contains(b.loads, load) {
			b.loads = append(b.loads, load)
		}
	}
	b.each = max(holding, s.config.Budget/2)
	b.until = s.traffic + max(mostHolds, s.config.Budget)
	return s.hold()
}

// hold begins to hold the next load, if the time for it is left.
func (s *Search) hold() bool {
	b := &s.bursts
	needed := s.traffic + s.whole(ofTest.settle+afterDrain) + s.whole(b.each)
	if len(b.loads) == 0 || needed > b.until {
		return false
	}
	s.stage, s.load, s.drain = Test, b.loads[0], true
	s.config.Budget = max(s.config.Budget, needed)
	return true
}

// heldLong takes the window of a load that was held for some periods.
func (s *Search) heldLong(w window) {
	b := &s.bursts
	b.loads = b.loads[1:]
	if !w.missed {
		if b.loads = nil; !b.missed.None() || s.late.burst(w.seen) {
			b.met = s.step.Load
		}
		b.open = s.undecided(w)
		s.finish()
		return
	}
	if !s.late.recovers(w.seen) { // it misses from some time on, as a service that leaks does
		b.loads, b.missed = nil, finding.Finding{}
		s.finish()
		return
	}
	b.missed = finding.Finding{Kind: finding.MissesInBursts, Load: s.step.Load, Share: w.late / w.n, Allowed: s.late.allowed}
	if n := s.late.bursts(w.seen); n > 1 {
		b.missed.Seconds = (time.Duration(w.blocks) * s.config.Block).Seconds() / float64(n)
	}
	if !s.hold() {
		b.loads = nil
		s.finish()
	}
}

// undecided returns why a load that was held and met the objective does not decide whether
// it does: its requests were late in so few bursts that as many are not rare where the
// objective is just missed. None if it decides.
func (s *Search) undecided(w window) finding.Finding {
	n := s.late.bursts(w.seen)
	if n == 0 || w.late == 0 {
		return finding.Finding{}
	}
	share := w.late / w.n
	if stats.AtMost(n, float64(n)*s.late.allowed/share) < undecided {
		return finding.Finding{}
	}
	return finding.Finding{Kind: finding.BurstsUndecided, Load: s.step.Load, N: n, Share: share, Allowed: s.late.allowed,
		Seconds: (time.Duration(w.blocks) * s.config.Block).Seconds()}
}

// bursts counts the times at which blocks that met the latency are followed by some that
// miss it by far.
func (c *curve) bursts(seen []Block) (n int) {
	calm := true
	for _, b := range seen {
		switch all, late, failed := b.counts(); {
		case calm && Exceeds(late-failed, all, far(c.allowed)):
			calm = false
			n++
		case !Exceeds(late-failed, all, c.allowed):
			calm = true
		}
	}
	return n
}

// recovers reports whether a window misses the latency only from time to time: most blocks of
// its second half meet it.
func (c *curve) recovers(seen []Block) bool {
	half, calm := seen[len(seen)/2:], 0
	for _, b := range half {
		if all, late, failed := b.counts(); !Exceeds(late-failed, all, c.allowed) {
			calm++
		}
	}
	return 2*calm > len(half)
}

// burst ends a search that found bursts, and reports whether it did: with the loads
// between which it breaks, or without an answer.
func (s *Search) burst() bool {
	b := &s.bursts
	switch {
	case !b.open.None():
		s.fail(Time, b.open)
	case b.missed.None():
		return false
	case b.met == 0:
		s.fail(Lowest, b.missed)
	default:
		s.result.Load, s.result.Low, s.result.High = math.Sqrt(b.met*b.missed.Load), b.met, b.missed.Load
		s.result.Why = b.missed
		s.end(Broke)
	}
	return true
}
