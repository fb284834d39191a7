package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/display/digits"
	"github.com/millicore/millicore/internal/experiment"
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

// Infinite reports whether so many of a trial's requests failed that a latency metric
// over all of them is infinite. Its value in t is that of the answered requests, and
// so a lower bound. It returns false for any other metric.
func Infinite(t *summary.TrialFigures, metric string) bool {
	share, ok := summary.ShareOf(metric)
	return ok && t.Availability != nil && search.Exceeds(100-*t.Availability, 100, 1-share)
}

// Together labels a latency of a cell that is not the median over its trials, which tables
// have: " of all requests together"; "" of one trial, where both are the same.
func Together(c *summary.Cell) string {
	if len(c.PerTrial) < 2 {
		return ""
	}
	return " of all requests together"
}

// Outlying explains why all requests of a cell together meet, or miss, the latency of its
// objective, and the median over its trials does not: "the median over 6 trials is 12.5 ms;
// 1 of them misses the objective, with a p99 of 350 ms". It is "" if both agree.
func Outlying(c *summary.Cell) string {
	o := c.Objective
	if o == nil || o.LatencyMS == nil || c.LatencyMS == nil || c.Breaking != nil {
		return ""
	}
	f, ok := FigureOf(c, o.Quantile)
	together, infinite := c.OfAllRequests(o.Quantile)
	if meets := !infinite && together <= *o.LatencyMS; !ok || f.Trials < 2 || f.AtLeast || meets == (f.Value <= *o.LatencyMS) {
		return ""
	}
	m, _ := MetricOf(o.Quantile)
	n, highest, all := 0, 0.0, valuesOf(c, m)
	for _, v := range all {
		if highest = max(highest, v); v > *o.LatencyMS {
			n++
		}
	}
	verb, worst := "miss", "infinite, as too many requests failed"
	if n == 1 {
		verb = "misses"
	}
	if !math.IsInf(highest, 1) {
		worst = digits.Significant(highest, 4) + " ms"
	}
	return fmt.Sprintf("the median over %d trials is %s ms: %d of them %s the objective, and their highest %s is %s",
		len(all), digits.Significant(f.Value, 4), n, verb, o.Quantile, worst)
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
