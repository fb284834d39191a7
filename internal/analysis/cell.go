package analysis

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// cell gathers the counted trials of one cell.
type cell struct {
	exp    *experiment.Experiment
	plan   *experiment.Cell
	levels *levels // nil: constant load
	trials []*trialTally
}

// trialTally is one counted trial: all of it, and its levels.
type trialTally struct {
	attempt Attempt
	all     *tally
	levels  []*tally
	drift   drift
	began   int64 // unix nanoseconds of the earliest frame
}

func newCell(e *experiment.Experiment, plan *experiment.Cell) *cell {
	return &cell{exp: e, plan: plan, levels: levelsOf(e, plan)}
}

func (c *cell) begin(a Attempt) {
	t := &trialTally{attempt: a, all: newTally(), began: math.MaxInt64}
	if c.levels != nil {
		for range c.levels.held {
			t.levels = append(t.levels, newTally())
		}
	}
	c.trials = append(c.trials, t)
}

func (c *cell) add(f *signals.Frame) {
	i := slices.IndexFunc(c.trials, func(t *trialTally) bool { return t.attempt.Trial == f.Trial })
	if i < 0 {
		return
	}
	t := c.trials[i]
	t.began = min(t.began, f.Start)
	t.all.add(f, c.plan.Service.Name)
	t.drift.add(f)
	if c.levels != nil && f.Phase != signals.Warmup {
		if n, ok := c.levels.find(f, t.began); ok {
			t.levels[n].add(f, c.plan.Service.Name)
		}
	}
}

// result is the tally that a trial's figures come from: all of a constant load,
// the one level of a load that holds only one. A load that moves has means over
// all of it, and no quantiles: a percentile over a ramp describes no level.
func (c *cell) result(t *trialTally) (sums *tally, held bool) {
	if c.levels == nil {
		return t.all, true
	}
	if len(t.levels) == 1 {
		return t.levels[0], true
	}
	return t.all, false
}

func (c *cell) summary(attempts []Attempt) CellSummary {
	whole, all := newTally(), newTally()
	held := true
	for _, t := range c.trials {
		if t.attempt.State == Partial {
			t.all.client.dropped = 0 // the user ended the trial, not the service
		}
		sums, ok := c.result(t)
		held = held && ok
		whole.merge(t.all)
		all.merge(sums)
	}
	s := CellSummary{
		Cell: c.plan.Index, Label: c.plan.Label(), Service: c.plan.Service.Name,
		Vary: map[string]*string{}, Limits: limitsOf(c.plan), Load: loadOf(c.plan),
		Trials: len(c.trials), Requests: all.client.requests(),
		RateRPS: all.client.rate(), Availability: all.client.availability(),
		Errors: errorsOf(&all.client), CPU: cpuOf(&all.server), Memory: memoryOf(&whole.server),
		Restarts: whole.server.restarts, Generator: generatorOf(all), Host: hostOf(&all.noise),
		Steps: c.steps(), PerTrial: []TrialFigures{},
	}
	if held {
		s.LatencyMS, s.ServiceMS = quantiles(all.client.latency), quantiles(all.client.service)
	}
	for _, v := range c.plan.Vary {
		s.Vary[v.Name] = v.Value
	}
	s.Dependencies = dependenciesOf(all, whole)
	figures := make([]map[string]float64, 0, len(c.trials))
	for _, t := range c.trials {
		f := c.figures(t)
		figures = append(figures, f)
		s.PerTrial = append(s.PerTrial, trialFigures(t.attempt, f))
	}
	s.Intervals = intervals(figures)
	s.Objective = objective(c.exp.Objective, &s)
	s.Flags = c.flags(&s, attempts)
	return s
}

// steps gives one entry a level, over all trials; nil for a constant load.
func (c *cell) steps() []Step {
	if c.levels == nil {
		return nil
	}
	var steps []Step
	for i, h := range c.levels.held {
		t := newTally()
		for _, trial := range c.trials {
			t.merge(trial.levels[i])
		}
		if t.client.seconds() == 0 {
			continue
		}
		steps = append(steps, Step{
			Target: h.target, RateRPS: *t.client.rate(), Availability: t.client.availability(),
			LatencyMS: quantiles(t.client.latency), CPUOfLimit: t.server.ofLimit(),
			Throttled: t.server.throttledShare(),
			Seconds:   t.client.seconds(),
		})
	}
	return steps
}

// figures are one trial's figures by field path, those that were measured.
func (c *cell) figures(t *trialTally) map[string]float64 {
	m := map[string]float64{}
	put := func(path string, v *float64) {
		if v != nil {
			m[path] = *v
		}
	}
	sums, held := c.result(t)
	put("rate_rps", sums.client.rate())
	put("availability", sums.client.availability())
	for prefix, h := range map[string]*signals.Histogram{"latency_ms.": sums.client.latency, "service_ms.": sums.client.service} {
		if q := quantiles(h); held && q != nil {
			for _, one := range q.All() {
				m[prefix+one.Name] = one.Value
			}
		}
	}
	put("cpu.cores", sums.server.cores())
	put("cpu.of_limit", sums.server.ofLimit())
	put("cpu.throttled_of_periods", sums.server.throttledShare())
	if p := t.all.server.memoryPeak; p != nil {
		m["memory.peak_bytes"] = float64(*p)
	}
	put("generator.cores", sums.client.cores())
	return m
}

func trialFigures(a Attempt, f map[string]float64) TrialFigures {
	get := func(path string) *float64 {
		if v, ok := f[path]; ok {
			return &v
		}
		return nil
	}
	return TrialFigures{Trial: a.Trial, Attempt: a.Attempt, RateRPS: get("rate_rps"),
		P50: get("latency_ms.p50"), P99: get("latency_ms.p99"), Throttled: get("cpu.throttled_of_periods")}
}

// fewPeriods is how many CFS periods a p99.9 wants to see: one stall hits all
// requests in flight, so its sample is counted in periods, not in requests.
const fewPeriods = 1000

// flags are warnings as words; internal/report explains each.
func (c *cell) flags(s *CellSummary, attempts []Attempt) []string {
	flags := []string{}
	flag := func(word string, when bool) {
		if when && !slices.Contains(flags, word) {
			flags = append(flags, word)
		}
	}
	flag("no_trials", len(c.trials) == 0)
	flag("few_trials", len(c.trials) > 0 && len(c.trials) < minTrials)
	for _, t := range c.trials {
		flag("busy_neighbour", t.all.noise.Neighbour() != "")
		flag("agent_waited", t.all.noise.AgentWaited() != "")
		flag("low_idle", t.all.noise.lowIdle())
		flag("cpu_stolen", t.all.noise.stolen())
		flag("incomplete_trial", t.attempt.State == Partial)
	}
	flag("unsteady", c.levels == nil && 2*c.drifts() > len(c.trials))
	for _, d := range s.Dependencies {
		flag("dependency_throttled", d.ThrottledPeriods != nil && *d.ThrottledPeriods > 0)
		flag("dependency_restarted", d.Restarts != nil && *d.Restarts > 0)
	}
	flag("generator_limited", s.Generator.Limited)
	flag("restarted", s.Restarts != nil && *s.Restarts > 0)
	flag("oom_killed", s.Memory.OOMKills != nil && *s.Memory.OOMKills > 0)
	flag("requests_dropped", s.Errors.Dropped > 0)
	flag("few_periods_for_p999", s.LatencyMS != nil && s.CPU.Periods != nil && *s.CPU.Periods < fewPeriods && c.plan.Limits.CPUMillis > 0)
	flag("moving_load", c.levels != nil && len(c.levels.held) != 1)
	for _, a := range attempts {
		flag("trial_failed", a.Cell == c.plan.Index && a.State == Failed)
	}
	return flags
}

// drifts counts the trials that had not settled.
func (c *cell) drifts() int {
	n := 0
	for _, t := range c.trials {
		if t.drift.unsteady() {
			n++
		}
	}
	return n
}
