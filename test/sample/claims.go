package sample

import (
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/lab/results"
)

// WithClaims adds claims of every form and verdict to the comparison.
func WithClaims(d results.Results) results.Results {
	cell := func(i int, value, low, high float64) summary.ClaimedCell {
		return summary.ClaimedCell{Cell: &i, Label: d.Summary.Cells[i].Label, Value: &value, Low: &low, High: &high, IntervalOf: summary.ByTrials, Trials: 6}
	}
	d.Summary.Claims = []summary.Claim{
		{Says: "With as many threads as the host has CPUs, p99 is about four times that of a GOMAXPROCS that matches the limit", Published: "809 ms against 205 ms",
			Metric: "p99", Unit: "ms", Cells: []summary.ClaimedCell{cell(2, 419, 385, 453), cell(0, 150, 146, 154)}, Ratio: true, Above: ptr(1.5),
			Value: ptr(2.79), Low: ptr(2.5), High: ptr(3.1), IntervalOf: summary.ByTrials,
			Verdict: summary.Reproduced, Reason: "the 95% interval lies above 1.5"},
		{Says: "It serves half as much", Published: "134.4 against 262.1 requests/s", Metric: "rate", Unit: "requests/s",
			Cells: []summary.ClaimedCell{cell(2, 374, 372, 377), cell(0, 373, 371, 376)}, Ratio: true, Below: ptr(0.7),
			Value: ptr(1.003), Low: ptr(0.989), High: ptr(1.016), IntervalOf: summary.ByTrials,
			Verdict: summary.NotReproduced, Reason: "the 95% interval lies above 0.7"},
		{Says: "A GOMAXPROCS that matches the limit is hardly throttled", Metric: "throttled", Unit: "share",
			Cells: []summary.ClaimedCell{cell(0, 0.04, 0.02, 0.12)}, Below: ptr(0.1), Value: ptr(0.04), Low: ptr(0.02), High: ptr(0.12), IntervalOf: summary.ByRange,
			Verdict: summary.Inconclusive, Reason: "the range of 3 trials, too few for a 95% interval, contains 10%; the hypervisor took some CPU during the trials of go procs=1"},
		{Says: "Go breaks before Bun does", Published: "69,000 and 90,000 requests/s", Metric: "breaking_point", Unit: "requests/s",
			Cells:   []summary.ClaimedCell{{Label: "go", Value: ptr(6900.0), Low: ptr(6800.0), IntervalOf: summary.BySearch, Trials: 1}, {Label: "bun"}},
			Verdict: summary.Inconclusive, Reason: "nothing was measured for bun: bun is not installed"},
	}
	return d
}

// Runs is the published experiment of a loop over workers, with a
// database: three runs of each service, which stayed up between them, and ended
// after so many requests.
func Runs() results.Results {
	s := &summary.Summary{
		Experiment: summary.Experiment{Name: "workers-vs-goroutines", Started: "2026-09-12T10:04:31Z", Platform: "local", TrialsPlanned: 6, TrialsDone: 6, Kept: true},
		Host:       Host(),
		Findings: []summary.Finding{{Level: "result", Cell: ptr(0), Title: "memory grows from run to run",
			Text: "peaks of 80, 144, 224 MiB: 2.8 times in 3 runs without a restart"}},
	}
	for i, f := range []struct {
		service       string
		good          float64
		min, p95, max float64 // s
		memory        []float64
	}{{"node", 40, 8.25, 8.5, 8.6, []float64{80, 144, 224}}, {"go", 90, 3.1, 3.55, 3.6, []float64{12.1, 12.3, 12.2}}} {
		c := summary.Cell{
			Cell: i, Label: f.service, Service: f.service, Limits: summary.Limits{Replicas: 1},
			Load:   summary.Load{Kind: "closed", Users: ptr(10.0), Requests: ptr(int64(f.good))},
			Trials: 3, Requests: int64(3 * f.good), RateRPS: ptr(f.good / 30), Availability: ptr(100.0),
			LatencyMS: &summary.Quantiles{P50: 1000 * (f.min + f.p95) / 2, P90: 990 * f.p95, P95: 1000 * f.p95, P99: 995 * f.max, P999: 1000 * f.max, Max: 1000 * f.max,
				Mean: 1000 * (f.min + f.p95) / 2, Min: 1000 * f.min},
			CPU: summary.CPU{Cores: ptr(1.9)}, Memory: summary.Memory{PeakBytes: ptr(int64(f.memory[2] * (1 << 20)))},
			Dependencies: []summary.Dependency{{Name: "postgres", Cores: ptr(0.21), PeakBytes: ptr(int64(96 << 20)), Periods: ptr(int64(900)), ThrottledPeriods: ptr(int64(45)), Restarts: ptr(int64(0))}},
			WaitsMS:      &summary.Waits{P50: ptr(0.62), P99: ptr(4.1), Mean: 0.83},
			Flags:        summary.Flags{"few_trials"},
		}
		for t, memory := range f.memory {
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{Trial: 3*i + t + 1, Good: ptr(f.good + float64(t)), RateRPS: ptr(f.good / 30), P50: ptr(c.LatencyMS.P50),
				P95: ptr(1000 * f.p95), P99: ptr(c.LatencyMS.P99), Min: ptr(1000 * f.min), Max: ptr(1000 * f.max), CPUMax: ptr(1.98 + 0.01*float64(t)), MemoryPeak: ptr(memory * (1 << 20))})
		}
		s.Cells = append(s.Cells, c)
	}
	return results.Results{Summary: s}
}
