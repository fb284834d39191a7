package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/display/digits"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/span"
)

// goal judges sums of frames by the objective. It is the only place that does, for a
// cell, a level, a step and a window alike, and it judges by the same comparison as a
// search: a request that is not good counts as infinitely late.
type goal struct {
	objective *experiment.Objective // nil: none
	timeout   time.Duration         // of a request
}

func goalOf(e *experiment.Experiment, c *experiment.Cell) goal {
	return goal{e.Objective, c.Load.Timeout}
}

// allowed returns the shares of requests that the objective allows to be late and to
// fail; negative: not part of the objective.
func (g goal) allowed() search.Config {
	c := search.Config{AllowedLate: -1, AllowedBad: -1}
	if g.hasLatency() {
		c.AllowedLate, c.Late = 1-summary.QuantileShare(g.objective.Quantile), g.objective.Latency
	}
	if g.objective != nil && g.objective.Availability > 0 {
		c.AllowedBad = 1 - g.objective.Availability/100
	}
	return c
}

// hasLatency reports whether a latency is part of the objective.
func (g goal) hasLatency() bool { return g.objective != nil && g.objective.Quantile != "" }

// quantile is the quantile of the objective, or p99 if it has none.
func (g goal) quantile() string {
	if g.hasLatency() {
		return g.objective.Quantile
	}
	return "p99"
}

// late is the share of requests that may be slower than the quantile: 0.01 for p99.
func (g goal) late() float64 { return 1 - summary.QuantileShare(g.quantile()) }

// allowedErrors is the share of requests that may fail before the failures alone miss
// the objective: a failed request is not available, and it is late.
func (g goal) allowedErrors() float64 {
	c := g.allowed()
	switch {
	case c.AllowedLate < 0:
		return c.AllowedBad
	case c.AllowedBad < 0:
		return c.AllowedLate
	}
	return min(c.AllowedLate, c.AllowedBad)
}

// count returns the requests of a total as the objective counts them: see
// signals.Histogram.Late.
func (g goal) count(t *sums.Total) search.Block {
	k := &t.Client
	b := search.Block{Requests: k.Requests(), Bad: k.Bad()}
	if g.hasLatency() {
		b.Late = k.Latency.Late(g.objective.Latency, g.timeout, b.Bad, k.Errors.Timeouts)
	}
	return b
}

// met reports whether the requests of a total meet the objective: a quantile is met if
// at least that share of all requests had a good answer within the latency.
//
// It returns nil if no request ended. It also returns nil for a latency objective
// under a load that was not held, because a quantile over a ramp describes no load,
// unless the availability is missed.
func (g goal) met(t *sums.Total, held bool) *bool {
	config, b := g.allowed(), g.count(t)
	unknown := !held && config.AllowedLate >= 0
	if unknown {
		config.AllowedLate = -1
	}
	missed := config.Missed([]search.Block{b})
	if g.objective == nil || b.Requests == 0 || unknown && !missed {
		return nil
	}
	return new(!missed)
}

// failed reports whether failed requests, other than timeouts, miss the objective.
func (g goal) failed(t *sums.Total) bool {
	k := &t.Client
	return g.objective != nil && search.Exceeds(float64(k.Failed()), float64(k.Requests()), g.allowedErrors())
}

// missedBy explains why a latency objective was missed although the quantile of the
// answered requests meets it; "" otherwise.
func (g goal) missedBy(t *sums.Total) string {
	o, q, b := g.objective, summary.QuantilesOf(t.Client.Latency), g.count(t)
	switch {
	case o.Quantile == "" || q != nil && q.Named(o.Quantile) > summary.MS(o.Latency):
		return "" // the figures show it
	case !search.Exceeds(float64(b.Late), float64(b.Requests), g.allowed().AllowedLate):
		return "" // only the availability is missed
	case b.Bad == 0:
		return Lateness(b.Late, b.Requests, o.Latency)
	}
	return Failing(b.Bad, b.Requests)
}

// Failing states that failed requests miss a latency objective which the answered ones
// meet.
func Failing(failed, requests int64) string {
	return fmt.Sprintf("%.3g%% of the requests failed, and a failed request counts as infinitely late", 100*float64(failed)/float64(requests))
}

// Lateness states that a latency objective is missed although the quantile, which is
// rounded to one request, meets it.
func Lateness(late, requests int64, limit time.Duration) string {
	return fmt.Sprintf("%.3g%% of the requests were later than %v", 100*float64(late)/float64(requests), span.Text(limit))
}

// objective judges a cell by the sums of its figures. A load with several levels meets
// the objective if every level does. A load without a level has no quantile, so a
// latency cannot be judged.
func (c *cell) objective(s *summary.Cell, t *sums.Total, held bool) *summary.Objective {
	if c.goal.objective == nil {
		return nil
	}
	r := objectiveOf(c.goal.objective)
	if s.Load.Find { // met below the breaking point, if there is one
		found := s.Breaking != nil && s.Breaking.Load() != nil
		if found || s.Trials > 0 && !metSomewhere(s.Steps) {
			r.Met = &found
		}
		return r
	}
	if len(s.Steps) < 2 {
		r.Met = c.goal.met(t, held)
		if r.Met != nil && !*r.Met {
			r.Missed = c.goal.missedBy(t)
			if c.stretch(t).generatorMisses() {
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
