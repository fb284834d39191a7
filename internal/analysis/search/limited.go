package search

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/finding"
)

// If the generator or the host is the limit, the search gets as close to that load as
// it can. If the service breaks below it, the search continues as usual. Otherwise the
// answer is a lower bound.

const (
	// apart is how close, as a share, the highest load that was met and the lowest
	// load that the generator could not generate are brought.
	apart = 0.05
	// mostBetween is how many loads are tried for that.
	mostBetween = 6
)

// lower limits the search to loads below that of the last step, which the generator
// cannot generate.
func (s *Search) lower() {
	limit := s.step.Load
	met := highestBelow(s.met, limit)
	switch {
	case met == 0 && highestBelow(s.met, math.Nextafter(limit, math.Inf(1))) > 0: // this same load, earlier
		s.limited, s.ceiling = true, limit
		s.atLeast()
		return
	case met == 0 && s.lowest > 0 && s.lowest < limit: // none of the loads below it met the objective
		s.limited, s.limit, s.ceiling, s.missed = true, limit, highestBelow(s.failed, limit), s.lowest
		s.load = s.fit(max(s.lowest/2, s.lowestLoad()))
		return
	case met == 0:
		s.fail(Limited, finding.Finding{Kind: finding.GeneratorLimitAtLowest, Load: limit})
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

// approach looks between the highest load that was met and the load that the generator
// could not generate, as long as none between them was missed. Then it tests the
// highest load that was met.
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

// forget removes the misses from a load on. If the generator was the limit there, it
// may have been in those windows, too, even if they did not show it.
func (s *Search) forget(limit float64) {
	s.failed = below(s.failed, limit)
	s.misses = below(s.misses, limit)
	for _, c := range []*curve{s.late, s.bad} {
		if c != nil {
			c.forget(limit)
		}
	}
}

// below returns the loads below a limit.
func below(loads []float64, limit float64) []float64 {
	var all []float64
	for _, load := range loads {
		if load < limit {
			all = append(all, load)
		}
	}
	return all
}

// highestBelow is the highest load below a limit; 0 if there is none.
func highestBelow(loads []float64, limit float64) float64 {
	highest := 0.0
	for _, load := range below(loads, limit) {
		highest = max(highest, load)
	}
	return highest
}
