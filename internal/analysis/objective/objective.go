// Package objective judges sums of frames by the objective of an experiment. It is the
// only place that does, for a cell, a level, a step and a window alike. It does not say
// which of them counts, nor what made the service miss it.
package objective

import (
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
)

// Goal judges by the same comparison as a search: a request that is not good counts as
// infinitely late.
type Goal struct {
	Objective *experiment.Objective // nil: none
	Timeout   time.Duration         // of a request
}

// Of returns the goal of a cell.
func Of(e *experiment.Experiment, c *experiment.Cell) Goal {
	return Goal{e.Objective, c.Load.Timeout}
}

// HasLatency reports whether a latency is part of the objective.
func (g Goal) HasLatency() bool { return g.Objective != nil && g.Objective.Quantile != "" }

// Quantile is the quantile of the objective, or p99 if it has none.
func (g Goal) Quantile() string {
	if g.HasLatency() {
		return g.Objective.Quantile
	}
	return "p99"
}

// Late is the share of requests that may be slower than the quantile: 0.01 for p99.
func (g Goal) Late() float64 { return 1 - summary.QuantileShare(g.Quantile()) }

// Allowed returns the shares of requests that the objective allows to be late and to
// fail; negative: not part of the objective.
func (g Goal) Allowed() search.Config {
	c := search.Config{AllowedLate: -1, AllowedBad: -1}
	if g.HasLatency() {
		c.AllowedLate, c.Late = 1-summary.QuantileShare(g.Objective.Quantile), g.Objective.Latency
	}
	if g.Objective != nil && g.Objective.Availability > 0 {
		c.AllowedBad = 1 - g.Objective.Availability/100
	}
	return c
}

// AllowedErrors is the share of requests that may fail before the failures alone miss
// the objective: a failed request is not available, and it is late.
func (g Goal) AllowedErrors() float64 {
	c := g.Allowed()
	switch {
	case c.AllowedLate < 0:
		return c.AllowedBad
	case c.AllowedBad < 0:
		return c.AllowedLate
	}
	return min(c.AllowedLate, c.AllowedBad)
}

// Count returns the requests of a total as the objective counts them: see
// signals.Histogram.Late.
func (g Goal) Count(t *sums.Total) search.Block {
	k := &t.Client
	b := search.Block{Requests: k.Requests(), Bad: k.Bad()}
	if g.HasLatency() {
		b.Late = k.Latency.Late(g.Objective.Latency, g.Timeout, b.Bad, k.Errors.Timeouts)
	}
	return b
}

// Met reports whether the requests of a total meet the objective: a quantile is met if
// at least that share of all requests had a good answer within the latency.
//
// It returns nil if no request ended. It also returns nil for a latency objective
// under a load that was not held, because a quantile over a ramp describes no load,
// unless the availability is missed.
func (g Goal) Met(t *sums.Total, held bool) *bool {
	config, b := g.Allowed(), g.Count(t)
	unknown := !held && config.AllowedLate >= 0
	if unknown {
		config.AllowedLate = -1
	}
	missed := config.Missed([]search.Block{b})
	if g.Objective == nil || b.Requests == 0 || unknown && !missed {
		return nil
	}
	return new(!missed)
}

// Failed reports whether failed requests, other than timeouts, miss the objective.
func (g Goal) Failed(t *sums.Total) bool {
	k := &t.Client
	return g.Objective != nil && search.Exceeds(float64(k.Failed()), float64(k.Requests()), g.AllowedErrors())
}

// MissedBy returns why a latency objective was missed although the quantile of the answered
// requests meets it; none otherwise.
func (g Goal) MissedBy(t *sums.Total) (none finding.Finding) {
	o, q, b := g.Objective, summary.QuantilesOf(t.Client.Latency), g.Count(t)
	switch {
	case o.Quantile == "" || q != nil && q.Named(o.Quantile) > summary.MS(o.Latency):
		return none // the figures show it
	case !search.Exceeds(float64(b.Late), float64(b.Requests), g.Allowed().AllowedLate):
		return none // only the availability is missed
	case b.Bad == 0:
		return Lateness(b.Late, b.Requests, o.Latency)
	}
	return Failing(b.Bad, b.Requests)
}

// Failing returns that failed requests miss a latency objective which the answered ones
// meet.
func Failing(failed, requests int64) finding.Finding {
	return finding.Finding{Kind: finding.FailedRequests, Share: float64(failed) / float64(requests)}
}

// Lateness returns that a latency objective is missed although the quantile, which is
// rounded to one request, meets it.
func Lateness(late, requests int64, limit time.Duration) finding.Finding {
	return finding.Finding{Kind: finding.LateRequests, Share: float64(late) / float64(requests), Time: limit}
}

// Step returns the figures of a load that was held.
func (g Goal) Step(target float64, t *sums.Total) summary.Step {
	return summary.Step{
		Target: target, RateRPS: *t.Client.Rate(), Availability: t.Client.Availability(),
		LatencyMS: summary.QuantilesOf(t.Client.Latency), OfAll: OfAll(t, true), CPUOfLimit: t.Server.OfLimit(),
		Throttled: t.Server.ThrottledShare(),
		Seconds:   t.Client.Seconds(),
		Met:       g.Met(t, true),
	}
}

// OfAll returns the quantiles of all requests of a part of a trial, of which the failed
// ones count as infinitely late; nil if none failed. The latencies include those of
// timeouts, which are the highest: a request that was given up is later than that.
func OfAll(t *sums.Total, held bool) *summary.AllRequests {
	k := &t.Client
	requests, n := float64(k.Requests()), float64(k.Latency.Count())
	switch {
	case !held || requests <= n && k.Bad() == 0:
		return nil
	case n == 0: // none was answered
		return &summary.AllRequests{}
	}
	of := func(name string) *float64 {
		q := summary.QuantileShare(name)
		if search.Exceeds(float64(k.Bad()), requests, 1-q) {
			return nil
		}
		return new(summary.MS(k.Latency.Quantile(min(1, q*requests/n))))
	}
	return &summary.AllRequests{P50: of("p50"), P90: of("p90"), P95: of("p95"), P99: of("p99"), P999: of("p999")}
}
