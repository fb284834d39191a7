package sample

import (
	"math/rand/v2"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/lab/results"
)

// tried is a setting of a server under a limit: where it breaks, and its p99 at the
// common load.
type tried struct {
	service, label string
	millis         int64 // 0: no limit
	broken
	p99At, cpu float64 // ms
}

// triedLimits are a Go server under two limits, with a setting under the lower one.
var triedLimits = []tried{
	{"as-is-500m", "as it is", 500, broken{at: 143, low: 137, high: 151, by: summary.ByThrottling, p50: 12.4, p99: 96, hits: 402, throttling: 0.86, own: 0.127, stall: 48,
		floor: 8.7, knee: 70, evidence: "it was throttled in 71% of the periods, though it used 83% of its CPU limit on average"}, 61.4, 2.91},
	{"gomaxprocs-1-500m", "GOMAXPROCS=1", 500, broken{at: 171, low: 164, high: 180, by: summary.ByCPULimit, p50: 14.1, p99: 97, hits: 21, throttling: 0.04, own: 0.94, stall: 6,
		floor: 9.4, knee: 104, evidence: "it used 99% of its CPU limit"}, 38.2, 2.84},
	{"as-is-1", "as it is", 1000, broken{at: 287, low: 274, high: 301, by: summary.ByThrottling, p50: 12.4, p99: 98, hits: 402, throttling: 0.86, own: 0.127, stall: 48,
		floor: 8.7, knee: 139, evidence: "it was throttled in 68% of the periods, though it used 84% of its CPU limit on average"}, 11.6, 2.88},
	{"no-limit", "without the CPU limit", 0, broken{at: 610, low: 588, high: 633, by: summary.ByHost, p50: 11.4, p99: 95, floor: 8.2, knee: 410, own: 0.99,
		evidence: "the host's CPUs were 97% busy"}, 9.2, 2.86},
}

// Settings is what `millicore try --cpu 500m,1` records: searches of one server in
// several settings, and their latencies at a common load.
func Settings() results.Results {
	rng := rand.New(rand.NewPCG(41, 43))
	at := &summary.Summary{Experiment: summary.Experiment{Name: "try-api", Platform: "local", Seed: 7, TrialsPlanned: 24, TrialsDone: 24}, Host: Host()}
	server := &experiment.Server{Name: "api (Go 1.26.8)"}
	s := &summary.Summary{Experiment: summary.Experiment{Name: "try-api", About: "Where ./api breaks", Started: "2026-09-14T09:12:05Z",
		Platform: "local", Seed: 7, TrialsPlanned: 28, TrialsDone: 28, Server: server}, Host: Host(), Common: at}
	load := 100.0
	for i, f := range triedLimits {
		server.Settings = append(server.Settings, experiment.Setup{Service: f.service, Label: f.label})
		limits := summary.Limits{CPUMillis: ptr(f.millis), Replicas: 1}
		if f.millis == 0 {
			limits.CPUMillis = nil
		}
		c := searchedCell(rng, i, f.broken)
		c.Label, c.Service, c.Limits, c.Vary, c.Trials, c.PerTrial = f.service, f.service, limits, map[string]*string{}, 1, c.PerTrial[:1]
		c.Intervals, c.Breaking.Searches = map[string][2]float64{}, 1
		c.Breaking.Held = ptr(c.Steps[5])
		s.Cells = append(s.Cells, c)

		tail := *c.Causes // below the breaking point queues are short
		tail.FromMS, tail.MeanMS = f.p99At, 1.2*f.p99At
		tail.Throttling, tail.ThrottledDirectly, tail.Rest = tail.Throttling/2, tail.Throttling/2, tail.Rest+tail.Throttling/2
		c.Load, c.Breaking, c.Steps, c.Knee, c.Causes, c.PerTrial = summary.Load{Kind: "open", Rate: &load}, nil, nil, nil, &tail, nil
		c.Trials, c.LatencyMS = 6, quantilesOf(f.p50/2, f.p99At)
		EachTrial(&c, f.p99At*0.92, f.p99At, f.p99At*1.07, func(t *summary.TrialFigures, v float64) {
			t.P99 = &v
			t.CPUPerReqMS = ptr(f.cpu * v / f.p99At)
			if f.millis > 0 {
				t.Throttled = ptr(float64(f.hits) / 1000 * v / f.p99At)
			}
		})
		at.Cells = append(at.Cells, c)
	}
	at.Comparisons, at.Ranking = verdict.Tests(at, "latency_ms.p99")
	return results.Results{Summary: s}
}
