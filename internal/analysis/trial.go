package analysis

import (
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/capacity"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// trial is one trial: its sums over all frames, and by level.
type trial struct {
	attempt  Attempt
	repeated bool // disturbed and repeated, so that it does not count
	measure  *experiment.Measure
	service  string
	staged   *capacity.Levels // nil: constant load

	all    *sums.Total
	levels []*sums.Total      // one per level held
	search *capacity.Replayed // nil: no search
	drift  drift
	began  int64 // unix nanoseconds of the earliest frame
	busy   busyFrames
	kinds  kindFrames
	ending ending

	benchmarks []BenchmarkLine // of a service that measures itself
}

func newTrial(e *experiment.Experiment, plan *experiment.Cell, staged *capacity.Levels, a Attempt, steps []signals.SearchStep) *trial {
	t := &trial{attempt: a, measure: &e.Measure, service: plan.Service.Name, staged: staged, all: sums.New(), began: math.MaxInt64}
	if plan.Load.Find {
		t.search = capacity.Replay(e, plan, steps)
		t.search.Interrupted = a.State == Partial
	}
	if staged != nil {
		for range staged.Held {
			t.levels = append(t.levels, sums.New())
		}
	}
	return t
}

func (t *trial) add(f *signals.Frame) {
	t.began = min(t.began, f.Start)
	if f.Phase == signals.Vary { // no part of the load that was asked for
		t.kinds.add(f, t.service, t.measure)
		return
	}
	t.all.Add(f, t.service)
	t.drift.add(f)
	t.ending.add(f, t.service)
	t.kinds.add(f, t.service, t.measure)
	if f.Of == t.service {
		t.busy.add(f, t.measure.Interval)
	}
	if t.search != nil {
		t.search.Add(f)
	}
	if t.staged != nil && f.Phase != signals.Warmup {
		if n, ok := t.staged.Find(f, t.began); ok {
			t.levels[n].Add(f, t.service)
		}
	}
}

// result returns the sums for a trial's figures: all of a constant load, the level of
// a load that holds only one, or the windows of a search that tested its answer. A
// load with several levels has means over all of it, but no quantiles, because a
// percentile over a ramp describes no level; held is then false. The exception is
// measure.whole, which asks for the whole load.
func (t *trial) result() (of *sums.Total, held bool) {
	switch {
	case t.search != nil:
		if tested := t.search.Tested(); tested != nil {
			return tested, true
		}
		return t.all, false
	case t.staged == nil || t.measure.Whole:
		return t.all, true
	case len(t.levels) == 1:
		return t.levels[0], true
	}
	return t.all, false
}

// ramp returns the sums of the levels that the trial held.
func (t *trial) ramp() capacity.RampTrial {
	return capacity.RampTrial{Number: t.attempt.Trial, Lost: len(t.attempt.Lost), Levels: t.levels}
}

// noise is what influenced the figures of the trial. A search overloads the service on
// purpose, so only the windows that tested its answer count.
func (t *trial) noise() *sums.Total {
	if t.search == nil {
		return t.all
	}
	of, _ := t.result()
	return of
}

// figures returns the trial's measured figures by field path.
func (t *trial) figures() map[string]float64 {
	m := figuresOf(t.result())
	put := func(path string, v *float64) {
		if v != nil {
			m[path] = *v
		}
	}
	put("memory.peak_bytes", float(t.peak()))
	put("cpu.max_cores", t.busy.most())
	if s := t.start(); s != nil {
		m["start.seconds"] = s.Seconds
	}
	for _, b := range t.printed() {
		put(b.Path(), &b.Values[0])
	}
	if t.search != nil {
		if r := t.search.Result(); r.Load > 0 && !r.AtLeast { // a bound is no sample
			m["breaking_point"] = r.Load
		}
	}
	return m
}

// peak is the trial's own highest memory. The kernel's peak covers the replica's whole
// life. For a service that stayed up between its trials, the highest value of the
// frames is used instead.
func (t *trial) peak() *int64 {
	if t.measure.StaysUp() {
		return t.all.Server.MemoryUsed
	}
	return t.all.Server.MemoryPeak
}

// figuresOf returns the figures of any part of a trial. Latencies are included only if
// the part held one load.
func figuresOf(t *sums.Total, held bool) map[string]float64 {
	m := map[string]float64{}
	put := func(path string, v *float64) {
		if v != nil {
			m[path] = *v
		}
	}
	put("rate_rps", t.Client.Rate())
	put("availability", t.Client.Availability())
	for prefix, h := range map[string]*signals.Histogram{"latency_ms.": t.Client.Latency, "service_ms.": t.Client.Service} {
		if q := summary.QuantilesOf(h); held && q != nil {
			for _, one := range q.All() {
				m[prefix+one.Name] = one.Value
			}
		}
	}
	put("cpu.cores", t.Server.Cores())
	put("cpu.of_limit", t.Server.OfLimit())
	if perRequest := sums.Over(t.Server.Cores(), t.Client.Rate()); perRequest != nil {
		put("cpu.per_request_ms", new(1000**perRequest))
	}
	put("cpu.throttled_of_periods", t.Server.ThrottledShare())
	if t.Client.Requests() > 0 {
		m["good"] = float64(t.Client.Good)
	}
	if h := t.Client.Latency; held && h.Count() > 0 {
		m["latency_ms.min"] = summary.MS(h.Min())
	}
	put("waits_ms.mean", t.Waits.Mean())
	put("waits_ms.p50", t.Waits.Quantile(0.5))
	put("waits_ms.p99", t.Waits.Quantile(0.99))
	put("dependencies.cores", t.DependencyCores())
	put("generator.cores", t.Client.Cores())
	return m
}

// trialFigures returns figures in the form of the summary.
func trialFigures(a Attempt, f map[string]float64) summary.TrialFigures {
	get := func(path string) *float64 {
		if v, ok := f[path]; ok {
			return &v
		}
		return nil
	}
	return summary.TrialFigures{Trial: a.Trial, Attempt: a.Attempt, RateRPS: get("rate_rps"), Availability: get("availability"),
		P50: get("latency_ms.p50"), P90: get("latency_ms.p90"), P95: get("latency_ms.p95"),
		P99: get("latency_ms.p99"), P999: get("latency_ms.p999"),
		CPUPerReqMS: get("cpu.per_request_ms"), Throttled: get("cpu.throttled_of_periods"), Breaking: get("breaking_point"),
		Good: get("good"), Min: get("latency_ms.min"), Max: get("latency_ms.max"), CPUMax: get("cpu.max_cores"), CPUOfLimit: get("cpu.of_limit"),
		MemoryPeak: get("memory.peak_bytes"), WaitsP99: get("waits_ms.p99"), Dependencies: get("dependencies.cores"), StartS: get("start.seconds")}
}

// busyFrames sums the CPU of a service's replicas in each frame, to find the busiest.
// It ignores a frame much shorter than the others, because a quota does not bound a
// part of a period.
type busyFrames map[int]float64 // cores by seq

func (b *busyFrames) add(f *signals.Frame, interval time.Duration) {
	if f.Server == nil || f.Server.CPU == nil || f.Phase != signals.Measure || f.End-f.Start < int64(interval)/2 || f.End <= f.Start {
		return
	}
	if *b == nil {
		*b = busyFrames{}
	}
	(*b)[f.Seq] += *f.Server.CPU / f.Seconds()
}

// most is the CPU of the busiest frame in cores; nil if none was measured.
func (b busyFrames) most() *float64 {
	var most *float64
	for _, cores := range b {
		most = sums.Higher(most, &cores)
	}
	return most
}

// BenchmarkLine is one result printed by a service that measures itself.
type BenchmarkLine struct {
	Trial, Cell int
	Name        string // without the word Benchmark
	Procs       int    // GOMAXPROCS at its start
	Values      []BenchmarkValue
}

// BenchmarkValue is one figure with its unit, such as "sec/op".
type BenchmarkValue struct {
	Value float64
	Unit  string
}

// printed returns each figure of one trial with its single value.
func (t *trial) printed() []summary.Benchmark {
	var all []summary.Benchmark
	for i := range t.benchmarks {
		l := &t.benchmarks[i]
		for _, v := range l.Values {
			one := summary.Benchmark{Name: l.Name, Unit: v.Unit, Procs: &l.Procs}
			at := slices.IndexFunc(all, func(s summary.Benchmark) bool { return s.Path() == one.Path() })
			if at < 0 {
				all = append(all, one)
				at = len(all) - 1
			}
			s := &all[at]
			s.Values = append(s.Values, v.Value)
			if s.Procs != nil && *s.Procs != l.Procs {
				s.Procs = nil
			}
		}
	}
	for i := range all {
		all[i].Values = []float64{stats.Median(all[i].Values)}
	}
	return all
}
