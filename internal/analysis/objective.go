package analysis

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
)

// objective judges a cell by the sums of its figures. A load with several levels meets
// the objective if every level does. A load without a level has no quantile, so a
// latency cannot be judged.
func (c *cell) objective(s *summary.Cell, t *sums.Total, held bool) *summary.Objective {
	if c.goal.Objective == nil {
		return nil
	}
	r := objectiveOf(c.goal.Objective)
	if s.Load.Find { // met below the breaking point, if there is one
		found := s.Breaking != nil && s.Breaking.Load() != nil
		if found || s.Trials > 0 && !metSomewhere(s.Steps) {
			r.Met = &found
		}
		return r
	}
	if len(s.Steps) < 2 {
		r.Met = c.goal.Met(t, held)
		if r.Met != nil && *r.Met && c.goal.HasLatency() {
			r.LateAtMost = c.blocks.lateAtMost(c.goal, t)
		}
		if r.Met != nil && !*r.Met {
			r.MissedBy = c.goal.MissedBy(t)
			if c.stretch(t).GeneratorMisses() {
				r.Met, r.MissedBy = nil, finding.Finding{Kind: finding.OnlyGeneratorMisses}
			}
		}
		return r
	}
	all := true
	for _, step := range s.Steps {
		if step.Met == nil {
			return r
		}
		all = all && *step.Met
	}
	r.Met = &all
	return r
}

// objectiveOf returns the objective before it is known whether it was met.
func objectiveOf(o *experiment.Objective) *summary.Objective {
	r := &summary.Objective{Text: o.String()}
	if o.Quantile != "" {
		latency := summary.MS(o.Latency)
		r.Quantile, r.LatencyMS = o.Quantile, &latency
	}
	if o.Availability > 0 {
		availability := o.Availability
		r.Availability = &availability
	}
	return r
}

// metSomewhere reports whether the objective was met at any load that was held. A
// search may know that without knowing where the service breaks.
func metSomewhere(steps []summary.Step) bool {
	return slices.ContainsFunc(steps, func(s summary.Step) bool { return s.Met != nil && *s.Met })
}
