// Package sample has results of each kind of record, for tests of what is shown of
// them. They are computed, not measured.
package sample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
)

// The fixtures look like what analysis gives: a comparison of GOMAXPROCS under
// a limit of one CPU, two services on a ramp, and a cell that never answered.

func ptr[T any](v T) *T { return &v }

func Host() record.Host {
	return record.Host{
		OS: "linux", Arch: "amd64", Kernel: "6.18.2", HZ: ptr(250), CPUs: 2, CPUModel: "AMD EPYC 9B14",
		Memory: ptr(int64(8) << 30), Cgroup: "v2",
		Runtimes: map[string]string{"go": "go1.26.8", "node": "v26.1.0"},
	}
}

// Objective is an objective as analysis writes it: 0 and "" are not asked for.
func Objective(quantile string, ms, availability float64) *summary.Objective {
	o := experiment.Objective{Quantile: quantile, Latency: time.Duration(ms * float64(time.Millisecond)), Availability: availability}
	s := &summary.Objective{Text: o.String(), Quantile: quantile}
	if quantile != "" {
		s.LatencyMS = &ms
	}
	if availability > 0 {
		s.Availability = &availability
	}
	return s
}

func judged(o *summary.Objective, met bool) *summary.Objective {
	o.Met, o.Outcome = &met, outcomeOf(&met)
	return o
}

// outcomeOf is the outcome of an objective that is not too close to tell; nil: it is not
// known whether it was met.
func outcomeOf(met *bool) summary.Outcome {
	switch {
	case met == nil:
		return summary.Unknown
	case *met:
		return summary.Met
	}
	return summary.Missed
}

// shape is what a cell of the comparison does, for the fixture's arithmetic.
type shape struct {
	procs              *string
	rate, p50, p99     float64
	throttled          float64 // share of periods
	periods, hits      int64
	memory             float64 // MiB
	p99Spread, stallMS float64
}

var procsShapes = []shape{
	{procs: ptr("1"), rate: 373, p50: 130, p99: 150, throttled: 0.04, periods: 1204, hits: 46, memory: 18.2, p99Spread: 0.03, stallMS: 4},
	{procs: ptr("2"), rate: 381, p50: 78, p99: 560, throttled: 0.91, periods: 1203, hits: 1094, memory: 19.6, p99Spread: 0.07, stallMS: 96},
	{procs: ptr("6"), rate: 374, p50: 70, p99: 419, throttled: 0.88, periods: 1202, hits: 1057, memory: 24.9, p99Spread: 0.08, stallMS: 91},
}

// Procs compares three settings over six trials each.
func Procs() results.Results {
	rng := rand.New(rand.NewPCG(7, 11))
	s := &summary.Summary{
		Experiment: summary.Experiment{
			Name: "cpu-limits-and-go", About: "GOMAXPROCS against a CPU limit: isPrime/666666 under one CPU",
			Started: "2026-09-12T10:04:31Z", Platform: "local", Seed: 4711, TrialsPlanned: 18, TrialsDone: 18,
		},
		Host: Host(),
		Findings: []summary.Finding{
			{Level: "result", Title: "The host bounds the parallelism", Text: "2 CPUs: settings above 2 share one ideal stall of 50 ms."},
		},
	}
	d := results.Results{Summary: s}
	for i, f := range procsShapes {
		c := summary.Cell{
			Cell: i, Label: "go procs=" + *f.procs, Service: "go", Vary: map[string]*string{"procs": f.procs},
			Limits: summary.Limits{CPUMillis: ptr(int64(1000)), MemoryBytes: ptr(int64(256 << 20)), Replicas: 1},
			Load:   summary.Load{Kind: "closed", Users: ptr(50.0)},
			Trials: 6, Requests: int64(f.rate * 120), RateRPS: ptr(f.rate), Availability: ptr(100.0),
			LatencyMS: quantilesOf(f.p50, f.p99), ServiceMS: quantilesOf(f.p50*0.99, f.p99*0.99),
			Errors: summary.ErrorCounts{Status: map[string]int64{}},
			CPU: summary.CPU{Cores: ptr(0.985), OfLimit: ptr(0.985), Periods: ptr(f.periods), ThrottledPeriods: ptr(f.hits),
				ThrottledMS: ptr(float64(f.hits) * f.stallMS), Limit: ptr(1.0)},
			Memory:    summary.Memory{PeakBytes: ptr(int64(f.memory * (1 << 20))), OfLimit: ptr(f.memory / 256), OOMKills: ptr(int64(0))},
			Restarts:  ptr(int64(0)),
			Generator: summary.Generator{Cores: ptr(0.06), SendLagP99US: ptr(84.0), RunWaitCores: ptr(0.01)},
			Host:      summary.Host{IdleCores: ptr(0.91), ForeignCores: ptr(0.03), StealCores: ptr(0.0)},
			Objective: judged(Objective("p99", 250, 99.9), f.p99 <= 250),
			Flags:     summary.Flags{},
			Intervals: map[string][2]float64{
				"latency_ms.p50": {f.p50 * 0.97, f.p50 * 1.02}, "latency_ms.p99": {f.p99 * (1 - f.p99Spread), f.p99 * (1 + f.p99Spread)},
				"rate_rps": {f.rate - 2, f.rate + 3}, "availability": {100, 100},
			},
		}
		if i == 2 {
			c.Flags = summary.Flags{"busy_neighbour", "hot_<moon>"}
		}
		for t := range 6 {
			trial := t*3 + i + 1
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{
				Trial: trial, RateRPS: ptr(f.rate + rng.Float64()*6 - 3), P50: ptr(f.p50 * (0.97 + 0.05*rng.Float64())),
				P99: ptr(f.p99 * (1 - f.p99Spread + 2*f.p99Spread*rng.Float64())), Throttled: ptr(f.throttled), Attempt: 0,
			})
			d.Series = append(d.Series, constantSeries(rng, i, trial, f))
		}
		s.Cells = append(s.Cells, c)
	}
	return d
}

// constantSeries is a trial of 5 s of warm-up, 20 s of load, and a drain.
func constantSeries(rng *rand.Rand, cell, trial int, f shape) summary.Series {
	out := summary.Series{Cell: cell, Trial: trial}
	wobble := func(v, part float64) *float64 { return ptr(v * (1 + part*(2*rng.Float64()-1))) }
	for k := 1; k <= 26; k++ {
		p := summary.Point{
			T: float64(k) + math.Round(rng.Float64()*8)/1000, Phase: "measure", Target: ptr(50.0),
			CPU: wobble(0.985, 0.01), CPUOfLimit: ptr(0.985), Memory: ptr(f.memory * (0.8 + 0.2*math.Min(1, float64(k)/12)) * (1 << 20)),
			MemoryLimit: ptr(float64(256 << 20)), Throttled: ptr(math.Min(1, math.Round(10*f.throttled*(0.8+0.4*rng.Float64()))/10)),
			Idle: wobble(0.91, 0.1), Foreign: wobble(0.03, 0.6),
		}
		if f.throttled < 0.1 && rng.Float64() < 10*f.throttled {
			p.Throttled = ptr(0.1)
		}
		if *p.Throttled > 0 {
			p.ThrottledMS = wobble(f.stallMS, 0.1)
		}
		switch {
		case k <= 5:
			p.Phase = "warmup"
		case k == 26:
			p.Phase = "drain"
		default:
			p.AgentCPU = wobble(0.06, 0.2)
		}
		if k < 26 {
			p.RateRPS, p.Availability = wobble(f.rate, 0.05), ptr(100.0)
			p.P50 = wobble(f.p50, 0.12)
			p.P99 = wobble(f.p99*0.86, 0.22)
			p.P999 = ptr(*p.P99 * 1.1)
		} else {
			p.RateRPS = ptr(12.0)
		}
		out.Points = append(out.Points, p)
	}
	return out
}

func quantilesOf(p50, p99 float64) *summary.Quantiles {
	return &summary.Quantiles{P50: p50, P90: p50 + 0.6*(p99-p50), P95: p50 + 0.8*(p99-p50), P99: p99, P999: p99 * 1.18, Max: p99 * 1.31, Mean: p50 * 1.1, Min: p50 * 0.3}
}

// Ramp is a staged open loop on two services with a database: eight
// levels of 60 s with ramps of 30 s between them, one point a second.
func Ramp() results.Results {
	rng := rand.New(rand.NewPCG(3, 5))
	s := &summary.Summary{
		Experiment: summary.Experiment{
			Name: "go-against-bun", About: "GET /devices on a ramp, two replicas of each",
			Started: "2026-09-12T14:00:00Z", Platform: "kubernetes", Seed: 1, TrialsPlanned: 4, TrialsDone: 3, Interrupted: true,
		},
		Host: Host(),
		Findings: []summary.Finding{
			{Level: "warning", Cell: ptr(0), Title: "Killed for memory", Text: "go was killed at its memory limit 2 times above 70,000 requests/s."},
		},
	}
	d := results.Results{Summary: s}
	for i, f := range []struct {
		service        string
		capacity, base float64
		memory         float64
	}{{"go", 69000, 1.1, 40}, {"bun", 90000, 1.6, 70}} {
		c := summary.Cell{
			Cell: i, Label: f.service, Service: f.service, Vary: map[string]*string{},
			Limits: summary.Limits{CPUMillis: ptr(int64(1000)), MemoryBytes: ptr(int64(256 << 20)), Replicas: 2},
			Load:   summary.Load{Kind: "open", Rate: ptr(96000.0), Stages: true},
			Trials: 2 - i, Requests: 26_400_123, RateRPS: ptr(f.capacity * 0.7), Availability: ptr(97.5 + float64(i)),
			Errors: summary.ErrorCounts{Timeouts: 120_400, Refused: 2_210, Status: map[string]int64{"503": 41, "500": 7}},
			CPU: summary.CPU{Cores: ptr(1.42), OfLimit: ptr(0.71), Periods: ptr(int64(14_402)), ThrottledPeriods: ptr(int64(6_001)),
				ThrottledMS: ptr(300_000.0), Limit: ptr(2.0)},
			Memory:       summary.Memory{PeakBytes: ptr(int64(250 << 20)), OfLimit: ptr(0.977), OOMKills: ptr(int64(2 - 2*i))},
			Restarts:     ptr(int64(2 - 2*i)),
			Dependencies: []summary.Dependency{{Name: "mongodb", Cores: ptr(0.4), PeakBytes: ptr(int64(300 << 20))}},
			Generator:    summary.Generator{Cores: ptr(1.9), SendLagP99US: ptr(410.0), Limited: i == 1},
			Host:         summary.Host{IdleCores: ptr(2.2), ForeignCores: ptr(0.1)},
			Flags:        summary.Flags{"few_trials", "moving_load"}, Intervals: map[string][2]float64{},
		}
		if i == 0 {
			c.Flags = append(c.Flags, "oom_killed", "restarted")
		} else {
			c.Flags = append(c.Flags, "generator_limited")
		}
		for level := 1; level <= 8; level++ {
			target := 12000 * float64(level)
			u := target / f.capacity
			step := summary.Step{Target: target, RateRPS: math.Min(target, f.capacity), Availability: ptr(100.0),
				LatencyMS: quantilesOf(f.base, f.base*(2+3*u/math.Max(0.04, 1.04-u))), CPUOfLimit: ptr(math.Min(1, u)),
				Throttled: ptr(math.Max(0, math.Min(1, 2.2*(u-0.5)))), Seconds: 60}
			if u > 1 {
				step.Availability = ptr(100 / (u * u * u))
				step.LatencyMS = quantilesOf(60, 100)
			}
			c.Steps = append(c.Steps, step)
		}
		for t := range c.Trials {
			trial := 2*t + i + 1
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{Trial: trial, RateRPS: ptr(f.capacity * 0.7)})
			d.Series = append(d.Series, rampSeries(rng, i, trial, f.capacity, f.base, f.memory))
		}
		s.Cells = append(s.Cells, c)
	}
	return d
}

func rampSeries(rng *rand.Rand, cell, trial int, capacity, base, memory float64) summary.Series {
	out := summary.Series{Cell: cell, Trial: trial}
	for k := 1; k <= 720; k++ {
		level := float64((k - 1) / 90)
		target := 12000 * (level + math.Min(1, float64((k-1)%90)/30))
		u := target / capacity * (1 + 0.02*(2*rng.Float64()-1))
		p := summary.Point{
			T: float64(k), Phase: "measure", Target: ptr(target), RateRPS: ptr(math.Min(target, capacity) * (1 + 0.01*(2*rng.Float64()-1))),
			P50: ptr(base), P99: ptr(math.Min(100, base*(2+3*u/math.Max(0.04, 1.04-u)))), Availability: ptr(100.0),
			CPU: ptr(2 * math.Min(1, u)), CPUOfLimit: ptr(math.Min(1, u)), MemoryLimit: ptr(float64(256 << 20)),
			Memory:    ptr((memory + 200*math.Max(0, math.Min(1, 3*(u-0.9)))) * (1 << 20)),
			Throttled: ptr(math.Max(0, math.Min(1, 2.2*(u-0.5)))), AgentCPU: ptr(target / 45000), Idle: ptr(4 - 2*math.Min(1, u)),
			Foreign: ptr(0.1), Dependencies: map[string]summary.DependencyPoint{"mongodb": {CPU: ptr(0.4 * math.Min(1, u)), Memory: ptr((200 + 100*u) * (1 << 20))}},
			WaitP50: ptr(0.4 + 0.2*u), WaitP99: ptr(1 + 4*u*u), WaitMean: ptr(0.5 + 0.4*u),
		}
		if *p.Throttled > 0 {
			p.ThrottledMS = ptr(30 + 20*rng.Float64())
		}
		if u > 1 {
			p.P50, p.Availability = ptr(60.0), ptr(100/(u*u*u))
		}
		p.P999 = ptr(math.Min(100, *p.P99*1.4))
		if cell == 0 && (k == 600 || k == 601 || k == 660) {
			p = summary.Point{T: float64(k), Phase: "measure", Target: ptr(target), RateRPS: ptr(0.0), Availability: ptr(0.0)}
		}
		out.Points = append(out.Points, p)
	}
	return out
}

// Failed is one cell whose service never answered.
func Failed() results.Results {
	s := &summary.Summary{
		Experiment: summary.Experiment{Name: "broken", Started: "2026-09-12T10:04:31Z", Platform: "docker", TrialsPlanned: 6, TrialsDone: 6},
		Cells: []summary.Cell{{
			Label: "api", Service: "api", Limits: summary.Limits{Replicas: 1},
			Load: summary.Load{Kind: "open", Rate: ptr(200.0)}, Trials: 6, Requests: 1200,
			Errors: summary.ErrorCounts{Refused: 1188, Timeouts: 12}, Flags: summary.Flags{"trial_failed"},
		}},
	}
	return results.Results{Summary: s}
}

// Hostile has text that would break out of every form, were it not
// escaped.
func Hostile() results.Results {
	d := Procs()
	evil := `</script><script>window.hacked=1</script>`
	d.Summary.Experiment.Name = evil
	d.Summary.Experiment.About = `<img src=x onerror="window.hacked=1">` + "\x1b[31mred|`tick"
	d.Summary.Findings = append(d.Summary.Findings, summary.Finding{Level: "warning", Title: evil, Text: "a | b\nc"})
	for i := range d.Summary.Cells {
		c := &d.Summary.Cells[i]
		c.Service = evil
		c.Label = fmt.Sprintf("%s procs=%d", evil, i)
		c.Flags = summary.Flags{`"><script>window.hacked=1</script>`}
		c.Errors.Status = map[string]int64{evil: 3}
	}
	return d
}
