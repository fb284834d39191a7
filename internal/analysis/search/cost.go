package search

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/cost"
	"github.com/millicore/millicore/internal/analysis/finding"
)

// costs adds a window, if it met the objective: where requests wait, what they cost may depend
// on how many wait.
func (s *Search) costs(o Observation, w window) {
	one, known := cost.Of(s.elapsed-float64(w.blocks)*s.config.Block.Seconds()/2, s.step.Load, o.Costs)
	if known && !w.beside && !w.missed {
		s.cost = append(s.cost, one)
	}
}

// costChange returns how the capacity changed, if the CPU time of a request did, and if a
// capacity that changed by as much explains late requests no less than a steady one.
func (s *Search) costChange() (found finding.Finding) {
	share, changed := s.cost.Changed(s.result.Load)
	if !changed || s.late == nil || !s.late.missed() {
		return found
	}
	c := s.late.undisturbed()
	c.settle(s.missed / 4)
	p := c.between(s.lowest/2, s.highest*2, share)
	if p.fits < c.between(s.lowest/2, s.highest*2, nil).fits {
		return found
	}
	to := math.Exp(p.quantile(0.5))
	found = finding.Finding{Kind: finding.CapacityRose, Load: to * share(0), Other: to, Seconds: s.elapsed}
	if found.Load > to {
		found.Kind = finding.CapacityFell
	}
	return found
}
