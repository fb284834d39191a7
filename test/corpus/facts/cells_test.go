package facts

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// quantiles are the names of the latencies of a summary.
var quantiles = []string{"p50", "p90", "p95", "p99", "p999"}

// figures checks the figures of a cell over all of its trials. Those of a search are of
// the windows that tested its answer, which breaking checks.
func (e *examined) figures(c *cell, s *summary.Cell) {
	whole := sum(c.trials, nil)
	e.counts(c, "trials", int64(s.Trials), int64(len(c.trials)))
	e.counts(c, "OOM kills", count(s.Memory.OOMKills), whole.kills)
	e.counts(c, "restarts", count(s.Restarts), whole.restarts)
	if c.Load.Find {
		return
	}
	p := newPart()
	for _, t := range c.each() {
		p.merge(t)
	}
	e.counts(c, "requests", s.Requests, p.requests())
	e.is(c, "the rate", s.RateRPS, p.rate())
	e.is(c, "availability", s.Availability, p.availability())
	for what, pair := range map[string][2]int64{"timeouts": {s.Errors.Timeouts, p.timeouts}, "refused requests": {s.Errors.Refused, p.refused},
		"requests cut off": {s.Errors.Cut, p.cut}, "malformed answers": {s.Errors.Malformed, p.malformed}, "failed checks": {s.Errors.Failed, p.failed},
		"bad statuses": {s.Errors.BadStatuses(), p.status}, "dropped requests": {s.Errors.Dropped, p.dropped}} {
		e.counts(c, what, pair[0], pair[1])
	}
	e.is(c, "CPU", s.CPU.Cores, p.cores())
	e.is(c, "CPU of the limit", s.CPU.OfLimit, p.ofLimit())
	e.is(c, "the share of throttled periods", s.ThrottledShare(), p.throttledShare())
	if p.periods > 0 {
		e.counts(c, "periods", count(s.CPU.Periods), p.periods)
		e.is(c, "throttled time", s.CPU.ThrottledMS, 1000*p.stopped)
	}
	e.is(c, "the memory peak", number(s.Memory.PeakBytes), orNone(float64(p.memory)))
	e.is(c, "idle CPU", s.Host.IdleCores, p.idle/p.hostSeconds)
	e.is(c, "CPU of others", s.Host.ForeignCores, p.foreign/p.hostSeconds)
	e.is(c, "stolen CPU", s.Host.StealCores, p.steal/p.hostSeconds)
	if p.lag.Count() > 0 {
		e.is(c, "the send lag", s.Generator.SendLagP99US, float64(p.lag.Quantile(0.99))/1e3)
	}
	if len(c.staged()) > 0 {
		return // a percentile over a ramp describes no load, and its levels are judged
	}
	e.latencies(c, "all trials", s.LatencyMS, s.OfAll, p)
	if s.Objective == nil {
		return
	}
	met, known := p.meets(c.objective)
	if onlyLate := known && !met && late(p) && float64(p.service.Above(c.objective.Latency)) <= (1-shareOf(e.quantile()))*float64(p.requests()); known != (s.Objective.Met != nil) && !onlyLate {
		e.wrong(c, "whether the objective was met is known: %v, by the record: %v", s.Objective.Met != nil, known)
	}
	if s.Objective.Met != nil && *s.Objective.Met != met {
		e.wrong(c, "the objective was met: %v; %d of %d requests failed, %d were later than %v", *s.Objective.Met, p.bad(), p.requests(), p.late(c.objective.Latency), c.objective.Latency)
	}
}

// latencies checks quantiles of the answered requests, and those of all, of which the
// failed ones are infinitely late.
func (e *examined) latencies(c *cell, of string, got *summary.Quantiles, all *summary.AllRequests, p *part) {
	if got == nil {
		if p.latency.Count() > 0 {
			e.wrong(c, "no latency of %s, the record has %d", of, p.latency.Count())
		}
		return
	}
	e.is(c, "the mean latency of "+of, &got.Mean, float64(p.latency.Mean())/1e6)
	e.is(c, "the highest latency of "+of, &got.Max, float64(p.latency.Max())/1e6)
	for _, q := range quantiles {
		v := got.Named(q)
		e.is(c, q+" of "+of, &v, p.ms(q))
		if all != nil {
			e.is(c, q+" of all requests of "+of, ofAll(all, q), p.ofAll(q))
		} else if p.bad() > p.timeouts && p.ofAll(q) != p.ms(q) {
			e.wrong(c, "%s of %s is that of the answered requests, and %d failed", q, of, p.bad())
		}
	}
}

func ofAll(all *summary.AllRequests, quantile string) *float64 {
	return map[string]*float64{"p50": all.P50, "p90": all.P90, "p95": all.P95, "p99": all.P99, "p999": all.P999}[quantile]
}

// trials checks the figures of each trial, and the intervals over them.
func (e *examined) trials(c *cell, s *summary.Cell) {
	if len(s.PerTrial) != len(c.trials) {
		e.wrong(c, "figures of %d trials, %d count", len(s.PerTrial), len(c.trials))
		return
	}
	for i, t := range c.trials {
		got, p := &s.PerTrial[i], sum([]*trial{t}, nil)
		e.counts(c, "is the number of a trial", int64(got.Trial), int64(t.number))
		if c.Load.Find {
			continue
		}
		e.is(c, "the rate of a trial", got.RateRPS, p.rate())
		e.is(c, "the availability of a trial", got.Availability, p.availability())
		e.is(c, "the throttled periods of a trial", got.Throttled, p.throttledShare())
		e.is(c, "the CPU of the limit of a trial", got.CPUOfLimit, p.ofLimit())
		e.is(c, "the CPU per request of a trial", got.CPUPerReqMS, 1000*p.cores()/p.rate())
		if len(c.staged()) > 0 {
			continue
		}
		for q, v := range map[string]*float64{"p50": got.P50, "p90": got.P90, "p95": got.P95, "p99": got.P99, "p999": got.P999} {
			if p.latency.Count() > 0 {
				e.is(c, q+" of a trial", v, p.ms(q))
			}
			if got.OfAll != nil {
				e.is(c, q+" of all requests of a trial", ofAll(got.OfAll, q), p.ofAll(q))
			} else if p.bad() > p.timeouts {
				e.wrong(c, "%d requests failed, and the latencies of all of them are not stated", p.bad())
			}
		}
	}
	if c.Load.Find || len(c.staged()) > 0 {
		return
	}
	for path, of := range map[string]func(*part) float64{"rate_rps": (*part).rate, "availability": (*part).availability, "latency_ms.p50": answered("p50"),
		"latency_ms.p99": answered("p99"), "latency_ms.p999": answered("p999"), "cpu.throttled_of_periods": (*part).throttledShare} {
		values := slices.DeleteFunc(c.values(of), math.IsNaN)
		low, high, ok := medianEnds(values)
		got, stated := s.Intervals[path]
		switch {
		case stated && s.IntervalsOf != "trials": // a bootstrap of the frames of few trials
			if v := of(c.all()); got[0] > v*1.001 || got[1] < v*0.999 {
				e.wrong(c, "the interval of %s, %v, does not contain it: %.5g", path, got, v)
			}
		case ok != stated:
			e.wrong(c, "%s has an interval: %v; of %d trials", path, stated, len(values))
		case ok:
			e.is(c, "the lower end of "+path, &got[0], low)
			e.is(c, "the higher end of "+path, &got[1], high)
		}
	}
}

func answered(quantile string) func(*part) float64 {
	return func(p *part) float64 {
		if p.latency.Count() == 0 {
			return math.NaN()
		}
		return p.ms(quantile)
	}
}

// levels checks the levels that a ramp held.
func (e *examined) levels(c *cell, s *summary.Cell) {
	at := 0
	for _, l := range c.staged() {
		p := newPart()
		for _, h := range c.loads() {
			if h.load == l.target {
				p.merge(h.part)
			}
		}
		if p.seconds == 0 {
			continue
		}
		if at >= len(s.Steps) || s.Steps[at].Target != l.target {
			e.wrong(c, "the level %g is missing", l.target)
			return
		}
		step := &s.Steps[at]
		at++
		e.is(c, "the rate of a level", &step.RateRPS, p.rate())
		e.is(c, "the availability of a level", step.Availability, p.availability())
		e.is(c, "the CPU of the limit of a level", step.CPUOfLimit, p.ofLimit())
		e.is(c, "the throttled periods of a level", step.Throttled, p.throttledShare())
		e.latencies(c, "a level", step.LatencyMS, step.OfAll, p)
		if met, known := p.meets(c.objective); c.objective != nil && known && (step.Met == nil || *step.Met != met) {
			e.wrong(c, "the level %g met the objective: %v", l.target, met)
		}
	}
	if at != len(s.Steps) && !c.Load.Find {
		e.wrong(c, "%d levels, the record has %d", len(s.Steps), at)
	}
}

// disturbance checks in how many trials others disturbed a cell, their latencies, and who.
func (e *examined) disturbance(c *cell, s *summary.Cell) {
	d := s.Disturbance
	for _, who := range []string{summary.Neighbours, summary.Hypervisor} {
		if d != nil && slices.Contains(d.By, who) && !c.disturbedBy(who) {
			e.wrong(c, "%s did not disturb it", who)
		}
	}
	if c.Load.Find {
		return
	}
	var quiet, noisy []float64
	for _, t := range e.attempts {
		if t.cell != c.Index || t.outcome != "done" && t.outcome != "disturbed" {
			continue
		}
		p := sum([]*trial{t}, nil)
		switch v := p.ms(e.quantile()); {
		case t.outcome == "disturbed":
			noisy = append(noisy, v)
		default:
			quiet = append(quiet, v)
		}
	}
	kept := 0
	for _, t := range c.trials {
		if t.outcome == "disturbed" {
			kept++
		}
	}
	if d == nil {
		if len(quiet)+len(noisy) > 0 {
			e.wrong(c, "nothing is stated of %d trials that ended", len(quiet)+len(noisy))
		}
		return
	}
	e.counts(c, "trials that ended", int64(d.Trials), int64(len(quiet)+len(noisy)))
	e.counts(c, "disturbed trials", int64(d.Disturbed), int64(len(noisy)))
	e.counts(c, "disturbed trials that count", int64(d.Kept), int64(kept))
	if len(noisy) == 0 || len(c.staged()) > 0 {
		return
	}
	for i, pair := range [][2][]float64{{d.Quiet, quiet}, {d.Noisy, noisy}} {
		if got, want := median(pair[0]), median(pair[1]); len(pair[0]) != len(pair[1]) || len(pair[0]) > 0 && math.Abs(got-want) > 1e-6*want {
			e.wrong(c, "latencies of quiet (0) and disturbed (1) trials differ: %d: %v, the record has %v", i, pair[0], pair[1])
		}
	}
}

// disturbedBy reports whether others took CPU in a trial, a window or a frame of a cell.
func (c *cell) disturbedBy(who string) bool {
	parts := c.each()
	for _, h := range c.loads() {
		parts = append(parts, h.part)
	}
	return slices.ContainsFunc(parts, func(p *part) bool { return slices.Contains(disturbed(p), who) }) ||
		slices.ContainsFunc(c.trials, (*trial).taken)
}

// disturbed is who took CPU in a part of a record.
func disturbed(p *part) (who []string) {
	least := max(0.2, 0.05*float64(p.cpus))
	if p.foreign/p.hostSeconds >= least {
		who = append(who, summary.Neighbours)
	}
	if p.steal/p.hostSeconds >= least {
		who = append(who, summary.Hypervisor)
	}
	return who
}

// taken reports whether others took CPU in a frame.
func (t *trial) taken() bool {
	return slices.ContainsFunc(t.frames, func(f *signals.Frame) bool { return f.Host != nil && f.Host.Foreign+f.Host.Steal >= 0.2 })
}

func count(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

func number(v *int64) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}

// orNone is a value that the record does not have if it is 0.
func orNone(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}
