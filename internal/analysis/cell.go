package analysis

import (
	"maps"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// cell collects the counted trials of one cell.
type cell struct {
	exp       *experiment.Experiment
	plan      *experiment.Cell
	levels    *levels // nil: constant load
	trials    []*trialTally
	blocks    stats.Blocks // of a constant load, for intervals where trials are few
	causes    *causes.Builder
	noWindows bool               // whether throttle windows are unknown
	skipped   string             // why the service was not available; "": it was
	slow      []signals.SlowLine // until it is known which of them count
}

// trialTally is one counted trial: its sums over all frames, and by level.
type trialTally struct {
	attempt Attempt
	all     *tally
	levels  []*tally
	search  *searched // nil: no search
	drift   drift
	began   int64 // unix nanoseconds of the earliest frame
	last    int   // seq of the last measured interval
	busy    busyFrames

	benchmarks []BenchmarkLine // of a service that measures itself
}

func newCell(e *experiment.Experiment, plan *experiment.Cell) *cell {
	return &cell{exp: e, plan: plan, levels: levelsOf(e, plan), causes: newCauses(plan)}
}

func (c *cell) begin(a Attempt, steps []signals.SearchStep) {
	t := &trialTally{attempt: a, all: newTally(), began: math.MaxInt64}
	if c.plan.Load.Find {
		t.search = newSearched(c.exp, c.plan, steps)
	}
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
	if f.Of == c.plan.Service.Name {
		t.busy.add(f, c.exp.Measure.Interval)
	}
	if t.search != nil {
		t.search.add(f)
	}
	c.block(t, f)
	if c.feedsCauses(t, f) {
		c.causes.Frame(f)
	}
	if c.levels != nil && f.Phase != signals.Warmup {
		if n, ok := c.levels.find(f, t.began); ok {
			t.levels[n].add(f, c.plan.Service.Name)
		}
	}
}

// result returns the tally for a trial's figures: all of a constant load, the level of
// a load that holds only one, or the windows of a search that tested its answer. A
// load with several levels has means over all of it, but no quantiles, because a
// percentile over a ramp describes no level. The exception is measure.whole, which
// asks for the whole load.
func (c *cell) result(t *trialTally) (sums *tally, held bool) {
	if t.search != nil {
		if sums := t.search.tested(); sums != nil {
			return sums, true
		}
		return t.all, false
	}
	if c.levels == nil || c.exp.Measure.Whole {
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
		if t.attempt.State == Partial || t.search != nil {
			t.all.client.dropped = 0 // the user ended the load, or the search did, not the service
		}
		sums, ok := c.result(t)
		held = held && ok
		whole.merge(t.all)
		all.merge(sums)
	}
	s := CellSummary{
		Cell: c.plan.Index, Label: c.plan.Label(), Service: c.plan.Service.Name,
		Vary: map[string]*string{}, Limits: limitsOf(c.plan), Load: c.load(),
		Trials: len(c.trials), Requests: all.client.requests(),
		RateRPS: all.client.rate(), Availability: all.client.availability(),
		Errors: errorsOf(&all.client), CPU: cpuOf(&all.server), Replicas: all.server.scaled.summary(), Memory: memoryOf(&whole.server),
		WaitsMS: all.waits.summary(), Restarts: whole.server.restarts, Generator: c.generator(all), Host: hostOf(&all.noise),
		Steps: c.steps(), PerTrial: []TrialFigures{},
	}
	if held {
		s.LatencyMS, s.ServiceMS = quantiles(all.client.latency), quantiles(all.client.service)
	}
	for _, v := range c.plan.Vary {
		s.Vary[v.Name] = v.Value
	}
	s.Dependencies = dependenciesOf(all, whole)
	s.Benchmarks = c.benchmarks()
	figures := make([]map[string]float64, 0, len(c.trials))
	for _, t := range c.trials {
		f := c.figures(t)
		figures = append(figures, f)
		one := trialFigures(t.attempt, f)
		one.OOMKills, one.Restarts = float(t.all.server.oomKills), float(t.all.server.restarts)
		one.Beyond = t.all.client.latency.Beyond()
		s.PerTrial = append(s.PerTrial, one)
	}
	s.Intervals, s.IntervalsOf = intervals(figures), "trials"
	if len(s.Intervals) == 0 {
		s.Intervals, s.IntervalsOf = c.resampled()
	}
	s.Breaking, s.Knee, s.Causes = c.breaking(s.Steps), c.knee(), c.tail(all, held)
	if s.Breaking != nil {
		s.Breaking.DisturbedBy = c.disturbers()
	}
	s.Objective = c.objective(&s, all, held)
	s.Flags = c.flags(&s, whole, attempts)
	return s
}

// steps returns one entry per level that was held, over all trials; nil for a constant
// load. Those of a search are ordered by load.
func (c *cell) steps() []Step {
	var steps []Step
	add := func(target float64, t *tally) {
		if t.client.seconds() == 0 {
			return
		}
		steps = append(steps, Step{
			Target: target, RateRPS: *t.client.rate(), Availability: t.client.availability(),
			LatencyMS: quantiles(t.client.latency), CPUOfLimit: t.server.ofLimit(),
			Throttled: t.server.throttledShare(),
			Seconds:   t.client.seconds(),
			Met:       c.meets(t, true),
		})
	}
	if c.plan.Load.Find {
		byLoad := map[float64]*tally{}
		for _, trial := range c.trials {
			trial.search.windows(byLoad)
		}
		for _, load := range slices.Sorted(maps.Keys(byLoad)) {
			add(load, byLoad[load])
		}
	}
	if c.levels == nil {
		return steps
	}
	for i, h := range c.levels.held {
		t := newTally()
		for _, trial := range c.trials {
			t.merge(trial.levels[i])
		}
		add(h.target, t)
	}
	return steps
}

// figures returns one trial's measured figures by field path.
func (c *cell) figures(t *trialTally) map[string]float64 {
	sums, held := c.result(t)
	m := figuresOf(sums, held)
	put := func(path string, v *float64) {
		if v != nil {
			m[path] = *v
		}
	}
	put("memory.peak_bytes", float(c.peak(t)))
	put("cpu.max_cores", t.busy.most())
	for _, b := range t.printed() {
		put(b.Path(), &b.Values[0])
	}
	if t.search != nil {
		if r := t.search.result(); r.Load > 0 && !r.AtLeast { // a bound is no sample
			m["breaking_point"] = r.Load
		}
	}
	return m
}

// figuresOf returns the figures of any part of a trial. Latencies are included only if
// the part held one load.
func figuresOf(sums *tally, held bool) map[string]float64 {
	m := map[string]float64{}
	put := func(path string, v *float64) {
		if v != nil {
			m[path] = *v
		}
	}
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
	if perRequest := over(sums.server.cores(), sums.client.rate()); perRequest != nil {
		put("cpu.per_request_ms", ptr(1000**perRequest))
	}
	put("cpu.throttled_of_periods", sums.server.throttledShare())
	if sums.client.requests() > 0 {
		m["good"] = float64(sums.client.good)
	}
	if h := sums.client.latency; held && h.Count() > 0 {
		m["latency_ms.min"] = ms(h.Min())
	}
	if w := sums.waits.summary(); w != nil {
		m["waits_ms.mean"] = w.Mean
		put("waits_ms.p50", w.P50)
		put("waits_ms.p99", w.P99)
	}
	put("dependencies.cores", dependencyCores(sums))
	put("generator.cores", sums.client.cores())
	return m
}

// peak is a trial's own highest memory. The kernel's peak covers the replica's whole
// life. For a service that stayed up between its trials, the highest value of the
// frames is used instead.
func (c *cell) peak(t *trialTally) *int64 {
	if c.exp.Measure.StaysUp() {
		return t.all.server.memoryUsed
	}
	return t.all.server.memoryPeak
}

// dependencyCores is the CPU of all dependencies together; nil if none was measured.
func dependencyCores(t *tally) *float64 {
	var all *float64
	for _, d := range t.deps {
		all = signals.Plus(all, d.cores())
	}
	return all
}

func trialFigures(a Attempt, f map[string]float64) TrialFigures {
	get := func(path string) *float64 {
		if v, ok := f[path]; ok {
			return &v
		}
		return nil
	}
	return TrialFigures{Trial: a.Trial, Attempt: a.Attempt, RateRPS: get("rate_rps"), Availability: get("availability"),
		P50: get("latency_ms.p50"), P90: get("latency_ms.p90"), P95: get("latency_ms.p95"),
		P99: get("latency_ms.p99"), P999: get("latency_ms.p999"),
		CPUPerReqMS: get("cpu.per_request_ms"), Throttled: get("cpu.throttled_of_periods"), Breaking: get("breaking_point"),
		Good: get("good"), Min: get("latency_ms.min"), Max: get("latency_ms.max"), CPUMax: get("cpu.max_cores"), CPUOfLimit: get("cpu.of_limit"),
		MemoryPeak: get("memory.peak_bytes"), WaitsP99: get("waits_ms.p99"), Dependencies: get("dependencies.cores")}
}

// fewPeriods is how many CFS periods a p99.9 needs. One stall affects all requests in
// flight, so the sample size is the number of periods, not of requests.
const fewPeriods = 1000

// flags returns warnings as identifiers; internal/narrative explains each.
func (c *cell) flags(s *CellSummary, whole *tally, attempts []Attempt) []string {
	flags := []string{}
	flag := func(word string, when bool) {
		if when && !slices.Contains(flags, word) {
			flags = append(flags, word)
		}
	}
	flag(skippedFlag, c.skipped != "")
	flag("no_trials", len(c.trials) == 0 && c.skipped == "")
	find := c.plan.Load.Find // a search gives its own interval, and overloads on purpose
	flag("few_trials", !find && len(c.trials) > 0 && len(c.trials) < minTrials)
	for _, t := range c.trials {
		noise := &t.all.noise
		if find {
			sums, _ := c.result(t)
			noise = &sums.noise
			flag(searchDisturbed, t.search.disturbers() != 0)
			flag("search_incomplete", t.search.tested() == nil)
		}
		for _, word := range noise.flags() {
			flag(word, true)
		}
		flag("incomplete_trial", t.attempt.State == Partial)
	}
	flag(agentLostFlag, s.Generator.Lost > 0)
	flag(searchDisturbed, c.disturbedRamps() > 0)
	flag(noWindowsFlag, c.noWindows && s.LatencyMS != nil && c.levels == nil && deref(s.CPU.ThrottledPeriods) > 0)
	flag("lower_bound", s.Breaking != nil && s.Breaking.AtLeast && s.Breaking.LimitedBy != "")
	flag("unsteady", c.levels == nil && !find && 2*c.drifts() > len(c.trials))
	for _, d := range s.Dependencies {
		flag("dependency_throttled", d.ThrottledPeriods != nil && *d.ThrottledPeriods > 0)
		flag("dependency_restarted", d.Restarts != nil && *d.Restarts > 0)
	}
	flag("generator_limited", s.Generator.Limited)
	flag("restarted", !find && s.Restarts != nil && *s.Restarts > 0)
	flag("oom_killed", !find && s.Memory.OOMKills != nil && *s.Memory.OOMKills > 0)
	flag("requests_dropped", !find && s.Errors.Dropped > 0)
	flag("few_periods_for_p999", s.LatencyMS != nil && s.CPU.Periods != nil && *s.CPU.Periods < fewPeriods && c.plan.Limits.CPUMillis > 0)
	flag("beyond_range", whole.client.latency.Beyond() > 0)
	flag("moving_load", c.levels != nil && len(c.levels.held) != 1 && !c.exp.Measure.Whole)
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
