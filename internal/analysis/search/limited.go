package search

import "math"

// What a search does where the generator, or the host, is the limit: it comes as
// near to that load as it can. Where the service breaks below it, the search goes
// on as any other; only where it does not, the answer is a lower bound.

const (
	// apart is how near to one another, as a share, the highest load that was met
	// and the lowest one that the generator could not make are brought.
	apart = 0.05
	// mostBetween is how many loads are tried for that.
	mostBetween = 6
)

// lower ends the search at the load of the last step, which the generator cannot
// make: all that counts from now on was seen below it.
func (s *Search) lower() {
	limit := s.step.Load
	met := highestBelow(s.met, limit)
	switch {
	case met == 0 && highestBelow(s.met, math.Nextafter(limit, math.Inf(1))) > 0: // this very load, before
		s.limited, s.ceiling = true, limit
		s.atLeast()
		return
	case met == 0:
		s.fail("the generator or the host was the limit already at the lowest load tried, %s: nothing can be said of the service", show(limit))
		s.result.Limited = true
		return
	}
	s.limited, s.limit = true, limit
	s.forget(limit)
	missed := highestBelow(s.failed, limit)
	if missed == 0 {
		s.missed = 0
		s.approach()
		return
	}
	s.ceiling = max(met, missed)
	if s.missed == 0 || s.missed >= limit {
		s.missed = missed
	}
	if s.stage == Test {
		s.look()
		s.load = s.fit(quantile(s.posteriors, 0.5))
		return
	}
	s.stage = Narrow
	s.narrow()
}

// approach looks between the highest load that was met and the one that the
// generator could not make, as long as none between them was missed; then it
// tests the highest one that was met.
func (s *Search) approach() {
	s.posteriors = nil
	met := highestBelow(s.met, s.limit)
	s.ceiling = s.limit
	load := s.fit(math.Sqrt(met * s.limit))
	left := s.config.Budget - s.traffic - 2*(ofBracket.settle+ofBracket.window) - ofTest.settle - ofTest.window
	if s.between == mostBetween || left < 0 || s.limit < met*(1+apart) || load <= met || load >= s.limit {
		s.ceiling = met
		s.stage, s.load = Test, met
		return
	}
	s.between++
	s.ceiling = load
	s.stage, s.load = Bracket, load
}

// forget leaves out the misses from a load on: if the generator was the limit
// there, it may have been in those windows too, however they looked.
func (s *Search) forget(limit float64) {
	s.failed = below(s.failed, limit)
	s.misses = below(s.misses, limit)
	for _, c := range []*curve{s.late, s.bad} {
		if c != nil {
			c.forget(limit)
		}
	}
}

// below gives the loads that lie below a limit.
func below(loads []float64, limit float64) []float64 {
	var all []float64
	for _, load := range loads {
		if load < limit {
			all = append(all, load)
		}
	}
	return all
}

// highestBelow is the highest load below a limit; 0: there is none.
func highestBelow(loads []float64, limit float64) float64 {
	highest := 0.0
	for _, load := range below(loads, limit) {
		highest = max(highest, load)
	}
	return highest
}
