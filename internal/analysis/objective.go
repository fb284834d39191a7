package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/base/digits"
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
		if r.Met != nil && !*r.Met {
			r.Missed = c.goal.MissedBy(t)
			if c.stretch(t).GeneratorMisses() {
				r.Met, r.Missed = nil, "only the generator's delay misses it: done − sent meets it"
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

// measuredText describes the measured figures that belong to an objective: q of the
// answered requests, all of all of them. of labels the latency: see Together.
func measuredText(o *experiment.Objective, q *summary.Quantiles, all *summary.AllRequests, availability *float64, of string) string {
	var parts []string
	if o.Quantile != "" {
		text := "no " + o.Quantile + " of a single load level"
		if q != nil {
			v, atLeast := all.Named(o.Quantile, q)
			text = fmt.Sprintf("%s %s ms%s", o.Quantile, bounded(v, atLeast), of)
		}
		parts = append(parts, text)
	}
	if o.Availability > 0 {
		text := "no request ended"
		if availability != nil {
			text = fmt.Sprintf("availability %.5g%%", *availability)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// bounded writes a figure that may be a lower bound.
func bounded(v float64, atLeast bool) string {
	if atLeast {
		return "≥" + digits.Significant(v, 4)
	}
	return digits.Significant(v, 4)
}
