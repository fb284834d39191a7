package analysis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/experiment"
)

// allowed returns the shares of requests that an objective allows to be late and to
// fail; negative: not part of the objective.
func allowed(o *experiment.Objective) search.Config {
	c := search.Config{AllowedLate: -1, AllowedBad: -1}
	if o != nil && o.Quantile != "" {
		c.AllowedLate, c.Late = 1-shareOf(o.Quantile), o.Latency
	}
	if o != nil && o.Availability > 0 {
		c.AllowedBad = 1 - o.Availability/100
	}
	return c
}

// allowedErrors is the share of requests that may fail before the failures alone miss
// the objective: a failed request is not available, and it is late.
func allowedErrors(o *experiment.Objective) float64 {
	c := allowed(o)
	switch {
	case c.AllowedLate < 0:
		return c.AllowedBad
	case c.AllowedBad < 0:
		return c.AllowedLate
	}
	return min(c.AllowedLate, c.AllowedBad)
}

// judged returns the requests of a tally as the objective counts them: see
// signals.Histogram.Late.
func (c *cell) judged(sums *tally) search.Block {
	k := &sums.client
	b := search.Block{Requests: k.requests(), Bad: k.requests() - k.good}
	if o := c.exp.Objective; o != nil && o.Quantile != "" {
		b.Late = k.latency.Late(o.Latency, c.plan.Load.Timeout, b.Bad, k.timeouts)
	}
	return b
}

// meets reports whether the requests of a tally meet the objective, by the same
// comparison as a search: a quantile is met if at least that share of all requests had
// a good answer within the latency.
//
// It returns nil if no request ended. It also returns nil for a latency objective
// under a load that was not held, because a quantile over a ramp describes no load,
// unless the availability is missed.
func (c *cell) meets(sums *tally, held bool) *bool {
	config, b := allowed(c.exp.Objective), c.judged(sums)
	unknown := !held && config.AllowedLate >= 0
	if unknown {
		config.AllowedLate = -1
	}
	missed := config.Missed([]search.Block{b})
	if c.exp.Objective == nil || b.Requests == 0 || unknown && !missed {
		return nil
	}
	return ptr(!missed)
}

// objective judges a cell by the sums of its figures. A load with several levels meets
// the objective if every level does. A load without a level has no quantile, so a
// latency cannot be judged.
func (c *cell) objective(s *CellSummary, sums *tally, held bool) *ObjectiveSummary {
	o := c.exp.Objective
	if o == nil {
		return nil
	}
	r := objectiveOf(o)
	if s.Load.Find { // met below the breaking point, if there is one
		found := s.Breaking != nil && s.Breaking.Load() != nil
		if found || s.Trials > 0 && !metSomewhere(s.Steps) {
			r.Met = &found
		}
		return r
	}
	if len(s.Steps) < 2 {
		r.Met = c.meets(sums, held)
		if r.Met != nil && !*r.Met {
			r.Missed = c.missedBy(sums)
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

// missedBy explains why a latency objective was missed although the quantile of the
// answered requests meets it.
func (c *cell) missedBy(sums *tally) string {
	o, q, b := c.exp.Objective, quantiles(sums.client.latency), c.judged(sums)
	switch {
	case o.Quantile == "" || q != nil && q.named(o.Quantile) > ms(o.Latency):
		return "" // the figures show it
	case !search.Exceeds(float64(b.Late), float64(b.Requests), allowed(o).AllowedLate):
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
	return fmt.Sprintf("%.3g%% of the requests were later than %v", 100*float64(late)/float64(requests), limit)
}

// objectiveOf returns the objective before it is known whether it was met.
func objectiveOf(o *experiment.Objective) *ObjectiveSummary {
	r := &ObjectiveSummary{Text: o.String()}
	if o.Quantile != "" {
		latency := ms(o.Latency)
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
func metSomewhere(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Met != nil && *s.Met })
}

// Infinite reports whether so many of a trial's requests failed that a latency metric
// over all of them is infinite. Its value in t is that of the answered requests, and
// so a lower bound. It returns false for any other metric.
func (t *TrialFigures) Infinite(metric string) bool {
	share, ok := ShareOf(metric)
	return ok && t.Availability != nil && search.Exceeds(100-*t.Availability, 100, 1-share)
}

// ShareOf returns the share of requests that a latency metric means: 0.99 for p99, and
// 1 for max. It returns false for any other metric.
func ShareOf(metric string) (float64, bool) {
	switch metric {
	case "p50", "p90", "p95", "p99", "p999":
		return shareOf(metric), true
	case "max":
		return 1, true
	}
	return 0, false
}

// measuredText describes the measured figures that belong to an objective.
func measuredText(o *experiment.Objective, q *Quantiles, availability *float64) string {
	var parts []string
	if o.Quantile != "" {
		text := "no " + o.Quantile + " of a single load level"
		if q != nil {
			text = fmt.Sprintf("%s %.4g ms", o.Quantile, q.named(o.Quantile))
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
