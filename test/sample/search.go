package sample

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/lab/results"
)

// broken is what a searched cell does, for the fixture's arithmetic.
type broken struct {
	procs           string // "": unset
	at, low, high   float64
	by, evidence    string
	shown           finding.Finding // what evidence has in words
	floor, knee     float64         // ms, requests/s
	p50, p99        float64
	hits            int64
	throttling, own float64 // shares of the tail
	stall           float64 // ms of a period in which it is throttled
}

var brokenShapes = []broken{
	{procs: "1", at: 352, low: 338, high: 366, by: summary.ByCPULimit, evidence: "it used 99% of its CPU limit, throttled in 12% of the periods",
		shown: finding.Finding{Kind: finding.LimitUsed, Use: finding.Use{OfLimit: ptr(0.99), Throttled: ptr(0.12)}},
		floor: 9.4, knee: 208, p50: 24.1, p99: 231, hits: 21, throttling: 0.043, own: 0.944, stall: 6},
	{procs: "2", at: 287, low: 274, high: 301, by: summary.ByThrottling, evidence: "it was throttled in 71% of the periods, though it used 83% of its CPU limit on average",
		shown: finding.Finding{Kind: finding.ThrottledInBursts, Use: finding.Use{OfLimit: ptr(0.83), Throttled: ptr(0.71)}},
		floor: 8.7, knee: 139, p50: 12.4, p99: 240, hits: 402, throttling: 0.861, own: 0.127, stall: 48},
	{procs: "6", at: 271, low: 259, high: 284, by: summary.ByThrottling, evidence: "it was throttled in 78% of the periods, though it used 80% of its CPU limit on average",
		shown: finding.Finding{Kind: finding.ThrottledInBursts, Use: finding.Use{OfLimit: ptr(0.80), Throttled: ptr(0.78)}},
		floor: 8.9, knee: 144, p50: 11.2, p99: 244, hits: 445, throttling: 0.923, own: 0.061, stall: 52},
	{procs: "", at: 283, low: 270, high: 297, by: summary.ByThrottling, evidence: "it was throttled in 72% of the periods, though it used 82% of its CPU limit on average",
		shown: finding.Finding{Kind: finding.ThrottledInBursts, Use: finding.Use{OfLimit: ptr(0.82), Throttled: ptr(0.72)}},
		floor: 8.8, knee: 141, p50: 12.5, p99: 239, hits: 411, throttling: 0.858, own: 0.131, stall: 48},
}

// Search has searched four settings six times each.
func Search() results.Results {
	rng := rand.New(rand.NewPCG(23, 29))
	s := &summary.Summary{
		Experiment: summary.Experiment{
			Name: "where-go-breaks", About: "GOMAXPROCS under a limit of one CPU: where does isPrime/666666 break, and why?",
			Started: "2026-09-14T09:12:05Z", Platform: "local", Seed: 815, TrialsPlanned: 24, TrialsDone: 24,
		},
		Host: Host(),
	}
	d := results.Results{Summary: s}
	for i, f := range brokenShapes {
		c := searchedCell(rng, i, f)
		s.Cells = append(s.Cells, c)
		for t := range 2 {
			d.Series = append(d.Series, searchSeries(rng, i, 4*t+i+1, f))
		}
	}
	s.Comparisons, s.Ranking = verdict.Tests(s, verdict.BreakingPointMetric)
	return d
}

func searchedCell(rng *rand.Rand, i int, f broken) summary.Cell {
	const periods = 572
	c := summary.Cell{
		Cell: i, Label: "go procs=" + f.procs, Service: "go", Vary: map[string]*string{"procs": nil},
		Limits: summary.Limits{CPUMillis: ptr(int64(1000)), MemoryBytes: ptr(int64(256 << 20)), Replicas: 1},
		Load:   summary.Load{Kind: "open", Rate: ptr(f.at * 0.98)},
		Trials: 6, Requests: int64(f.at * 57), RateRPS: ptr(f.at * 0.98), Availability: ptr(100.0),
		LatencyMS: quantilesOf(f.p50, f.p99), ServiceMS: quantilesOf(f.p50*0.98, f.p99*0.98),
		Errors: summary.ErrorCounts{Status: map[string]int64{}},
		CPU: summary.CPU{Cores: ptr(f.at / 366), OfLimit: ptr(f.at / 366), Periods: ptr(int64(periods)), ThrottledPeriods: ptr(f.hits),
			ThrottledMS: ptr(float64(f.hits) * f.stall), Limit: ptr(1.0)},
		Memory:    summary.Memory{PeakBytes: ptr(int64(21 << 20)), OfLimit: ptr(0.082), OOMKills: ptr(int64(0))},
		Restarts:  ptr(int64(0)),
		Generator: summary.Generator{Cores: ptr(0.05), SendLagP99US: ptr(71.0), RunWaitCores: ptr(0.01)},
		Host:      summary.Host{IdleCores: ptr(0.88), ForeignCores: ptr(0.03), StealCores: ptr(0.0)},
		Objective: judged(Objective("p99", 250, 99.9), true),
		Flags:     summary.Flags{}, Intervals: map[string][2]float64{"breaking_point": {f.low, f.high}},
		Breaking: &summary.BreakingPoint{RateRPS: ptr(f.at), Low: ptr(f.low), High: ptr(f.high), LimitedBy: f.by, Evidence: f.evidence, Shown: []finding.Finding{f.shown}, TrafficS: 54.3, Searches: 6},
		Knee: &summary.Knee{Load: f.knee, Low: f.knee * 0.91, High: f.knee * 1.08, OfLimit: ptr(f.knee / 352), OfLimitLow: ptr(f.knee / 352 * 0.91),
			OfLimitHigh: ptr(f.knee / 352 * 1.08), Quantile: "p99", FloorMS: f.floor},
		Causes: &summary.Causes{Quantile: "p99", FromMS: f.p99, Requests: 312, MeanMS: f.p99 * 1.21, Throttling: 0.8 * f.throttling, ThrottlingHigh: f.throttling, Rest: f.own + 0.2*f.throttling,
			Neighbours: 1 - f.throttling - f.own, ThrottledDirectly: f.throttling * 0.56, Slowest: slowestOf(rng, f)},
	}
	if f.procs == "" {
		c.Label = "go procs=unset"
	} else {
		c.Vary["procs"] = ptr(f.procs)
	}
	for t := range 6 {
		c.PerTrial = append(c.PerTrial, summary.TrialFigures{Trial: 4*t + i + 1, RateRPS: ptr(f.at * (0.96 + 0.04*rng.Float64())),
			P50: ptr(f.p50 * (0.95 + 0.1*rng.Float64())), P99: ptr(f.p99 * (0.9 + 0.15*rng.Float64())), Throttled: ptr(float64(f.hits) / periods)})
	}
	EachTrial(&c, f.low, f.at, f.high, func(t *summary.TrialFigures, v float64) { t.Breaking = &v })
	loads := []float64{50, 100, 200, 400}
	for k := range 9 {
		loads = append(loads, f.at*(0.82+0.045*float64(k)))
	}
	for _, load := range slices.Compact(slices.Sorted(slices.Values(loads))) {
		c.Steps = append(c.Steps, searchedStep(rng, f, load))
	}
	return c
}

// searchedStep is a load with a hockey stick's latency.
func searchedStep(rng *rand.Rand, f broken, load float64) summary.Step {
	p99 := f.floor * (1 + 0.05*(2*rng.Float64()-1))
	if load > f.knee {
		p99 *= math.Pow(250/f.floor, (load-f.knee)/(f.at-f.knee)*(1+0.04*(2*rng.Float64()-1)))
	}
	p99 = math.Min(p99, 2000*(1-0.1*rng.Float64()))
	p50 := math.Max(2.9, p99*0.11)
	available := 100.0
	if load > f.at*1.1 {
		p50, available = p99*0.7, 91.2
	}
	return summary.Step{Target: load, RateRPS: math.Min(load, f.at*1.03), Availability: ptr(available), LatencyMS: quantilesOf(p50, p99),
		CPUOfLimit: ptr(math.Min(1, load/352)), Throttled: ptr(math.Min(1, math.Max(0, float64(f.hits)/572*(load-f.knee/2)/(f.at-f.knee/2)))), Seconds: 18, Met: ptr(p99 <= 250 && available >= 99.9)}
}

// slowestOf are requests that came while the service was throttled, and waited
// in the queue that this had built.
func slowestOf(rng *rand.Rand, f broken) []summary.SlowRequest {
	var all []summary.SlowRequest
	for k := range 10 {
		length := f.p99 * (1.62 - 0.03*float64(k))
		r := summary.SlowRequest{Trial: 4*(k%6) + 1, AtS: 11 + 4*float64(k) + rng.Float64(), SentMS: 0.08 + 0.1*rng.Float64(), DoneMS: length, Windows: []summary.SlowWindow{}}
		if k == 3 {
			r.SentMS = length * 0.18
		}
		if f.throttling > 0.1 {
			phase := 100 * rng.Float64()
			for end := phase; end-f.stall < length; end += 100 {
				if from, to := math.Max(0, end-f.stall), math.Min(length, end); to > from {
					r.Windows = append(r.Windows, summary.SlowWindow{Kind: "throttled", FromMS: from, ToMS: to})
				}
			}
		}
		all = append(all, r)
	}
	return all
}

// searchSeries is a search's traffic: doubling, narrowing, and a test.
func searchSeries(rng *rand.Rand, cell, trial int, f broken) summary.Series {
	out := summary.Series{Cell: cell, Trial: trial}
	loads := []float64{50, 100, 200, 400, 300, 350, 325, f.at, f.at, f.at, f.at}
	for k := 1; k <= 5*len(loads); k++ {
		load := loads[(k-1)/5]
		step := searchedStep(rng, f, load)
		p := summary.Point{T: float64(k), Phase: "measure", Target: ptr(load), RateRPS: ptr(step.RateRPS), Availability: step.Availability,
			P50: ptr(step.LatencyMS.P50), P99: ptr(step.LatencyMS.P99), P999: ptr(step.LatencyMS.P999), CPU: step.CPUOfLimit, CPUOfLimit: step.CPUOfLimit,
			Memory: ptr(21.0 * (1 << 20)), MemoryLimit: ptr(float64(256 << 20)), Throttled: step.Throttled, AgentCPU: ptr(0.05), Idle: ptr(0.9), Foreign: ptr(0.03)}
		if *p.Throttled > 0 {
			p.ThrottledMS = ptr(f.stall)
		}
		out.Points = append(out.Points, p)
	}
	return out
}

// Bounds has searched servers of which one was faster than the
// generator, one never met the objective, and one was disturbed.
func Bounds() results.Results {
	s := &summary.Summary{
		Experiment: summary.Experiment{Name: "servers", Started: "2026-09-14T11:00:00Z", Platform: "local", Seed: 3, TrialsPlanned: 4, TrialsDone: 4},
		Host:       Host(),
	}
	rng := rand.New(rand.NewPCG(31, 37))
	for i, f := range []struct {
		service string
		point   summary.BreakingPoint
		causes  *summary.Causes
		flags   summary.Flags
	}{
		{"nginx", summary.BreakingPoint{RateRPS: ptr(40000.0), Low: ptr(38900.0), AtLeast: true, LimitedBy: summary.ByGenerator,
			Evidence: "1% of the requests were sent more than 2.4 ms late", Reason: "the generator sends no more than this", TrafficS: 31, Searches: 1}, nil,
			nil},
		{"python", summary.BreakingPoint{RateRPS: ptr(1240.0), Low: ptr(1130.0), High: ptr(1420.0), LimitedBy: summary.ByService, TrafficS: 58, Searches: 1,
			Evidence: "neither its CPU limit, nor memory, nor errors: its own parallelism, locks or queues; it used 61% of its CPU limit",
			Reason:   "other processes took CPU in 3 of 14 windows, so the interval is wide", DisturbedBy: []string{summary.Neighbours}},
			&summary.Causes{Quantile: "p99", FromMS: 44, Requests: 88, MeanMS: 61, Dependency: 0.31, Rest: 0.38, Neighbours: 0.2, Restart: 0.07, Generator: 0.04},
			summary.Flags{"search_disturbed"}},
		{"java", summary.BreakingPoint{LimitedBy: summary.ByMemory, Evidence: "7 OOM kills in the windows above it", TrafficS: 22,
			Reason: "the service died 3 times in a row at 20 requests/s, the lowest load tried."}, nil, summary.Flags{"search_incomplete"}},
	} {
		c := summary.Cell{
			Cell: i, Label: f.service, Service: f.service, Vary: map[string]*string{}, Limits: summary.Limits{CPUMillis: ptr(int64(500)), MemoryBytes: ptr(int64(256 << 20)), Replicas: 1},
			Load: summary.Load{Kind: "open"}, Trials: 1, Objective: judged(Objective("p99", 50, 0), f.point.RateRPS != nil),
			Flags: f.flags, Intervals: map[string][2]float64{}, Breaking: &f.point, Causes: f.causes,
		}
		if at := f.point.RateRPS; at != nil {
			c.RateRPS, c.LatencyMS, c.Availability, c.Requests = ptr(*at*0.99), quantilesOf(3, 41), ptr(100.0), int64(*at*20)
			c.CPU = summary.CPU{Cores: ptr(0.31), OfLimit: ptr(0.62), Periods: ptr(int64(200)), ThrottledPeriods: ptr(int64(9)), Limit: ptr(0.5)}
			shape := broken{at: *at, floor: 2.1, knee: *at * 0.6, hits: 9}
			if f.point.AtLeast {
				shape.at, shape.knee = 2*shape.at, 1.5*shape.at
			}
			for _, part := range []float64{0.1, 0.2, 0.4, 0.8, 0.95, 1, 1.06, 1.6} {
				if f.point.AtLeast && part > 1 {
					break
				}
				step := searchedStep(rng, shape, *at*part)
				step.Met = ptr(step.LatencyMS.P99 <= 50)
				c.Steps = append(c.Steps, step)
			}
		}
		s.Cells = append(s.Cells, c)
	}
	s.Cells[1].Causes.Slowest = []summary.SlowRequest{
		{Trial: 2, Replica: 1, AtS: 12.5, SentMS: 3, DoneMS: 2003, TimedOut: true, Windows: []summary.SlowWindow{{Kind: "down", FromMS: 120, ToMS: 1650}}},
		{Trial: 2, AtS: 44.25, SentMS: 40, DoneMS: 61, Windows: []summary.SlowWindow{}},
	}
	return results.Results{Summary: s}
}
