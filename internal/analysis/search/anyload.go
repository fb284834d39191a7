package search

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/finding"
)

// Of some services more requests are late than allowed, however low the load is: single
// requests take too long, or sleep. A search doubles the load past that, because a window of a
// second shows too few requests, and then finds a breaking point where a queue adds a few late
// ones to them. A curve that begins at an allowed share cannot show that. So the windows are
// compared with a service of which a larger share is late at any load, by how probable they
// are under each.

// lateAnyway are the shares that may be late at any load, as multiples of the allowed one.
var lateAnyway = []float64{1.1, 1.3, 1.6, 2, 3, 5, 8}

const (
	// surely is from which gain, in ln of the probability of all windows, that is stated. Of
	// test/rates' services that meet their objective at a low load, none had more than 3.3
	// whose capacity did not change.
	surely = 4
	// perhaps is from which gain an answer that no test window met is none. Four of six such
	// answers of test/rates were false.
	perhaps = 0.5
	// mostAnyway is the largest share that is considered.
	mostAnyway = 0.9
	// overloaded is the share of late requests that shows an overload.
	overloaded = 0.2
)

// lateAtAnyLoad returns that more requests are late than allowed, whatever the load, or that
// this is as likely as an answer that no test window met; none: neither.
func (s *Search) lateAtAnyLoad() finding.Finding {
	if s.late == nil || !s.late.missed() || s.bursts.met > 0 {
		return finding.Finding{}
	}
	c, low, high := s.late.undisturbed(), s.lowest/2, s.highest*2
	c.settle(s.missed / 4)
	answer := max(c.between(low, high, nil).fits, s.floored(c))
	shares := make([]float64, len(lateAnyway))
	for i, times := range lateAnyway {
		shares[i] = min(times*c.allowed, mostAnyway)
	}
	c = s.late.undisturbed()
	c.expect(shares)
	gain := c.between(low, high, nil).fits - answer
	kind := finding.LateAtAnyLoad
	switch {
	case gain >= surely:
	case gain >= perhaps && s.tested() == 0:
		kind = finding.PerhapsLateAtAnyLoad
	default:
		return finding.Finding{}
	}
	if load, share := c.lateBelowOverload(); share > c.allowed {
		return finding.Finding{Kind: kind, Load: load, Share: share, Allowed: c.allowed}
	}
	return finding.Finding{}
}

// lateBelowOverload is the share of the requests that failed in the windows below the lowest
// load of an overload, and the highest load of these windows.
func (c *curve) lateBelowOverload() (highest, share float64) {
	overload := math.Inf(1)
	for _, l := range c.looks {
		if Exceeds(l.k, l.n, max(overloaded, far(c.allowed))) {
			overload = min(overload, l.load)
		}
	}
	k, n := 0.0, 0.0
	for _, l := range c.looks {
		if l.load < overload {
			k, n, highest = k+l.k, n+l.n, max(highest, l.load)
		}
	}
	return highest, k / max(n, 1)
}
