package compare

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
)

func ptr[T any](v T) *T { return &v }

// fixture is a record of one cell a setting of procs, with so many trials whose
// p99 is given and whose other figures follow from it.
func fixture(name string, p99 map[string][]float64) *Selection {
	run := &record.Run{
		Program: "1.0", Platform: "local", Started: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
		Host: record.Host{OS: "linux", Arch: "amd64", Kernel: "6.18.2", HZ: ptr(250), CPUs: 2, CPUModel: "EPYC", Memory: ptr(int64(8 << 30)),
			Cgroup: "v2", Runtimes: map[string]string{"go": "1.26.8"}},
		Experiment: &experiment.Experiment{Name: "procs", Objective: &experiment.Objective{Quantile: "p99", Latency: 250 * time.Millisecond}},
	}
	s := &Selection{Record: name}
	for _, procs := range []string{"1", "2", "6"} {
		trials, ok := p99[procs]
		if !ok {
			continue
		}
		plan := &experiment.Cell{
			Index: len(s.Cells), Service: experiment.Service{Name: "go", Workload: "go", Env: map[string]string{"GOMAXPROCS": procs}},
			Vary:   []experiment.Setting{{Name: "procs", Value: ptr(procs)}},
			Limits: experiment.Limits{CPUMillis: 1000, Period: 100 * time.Millisecond, Memory: 256 << 20, Replicas: 1},
			Load: experiment.Load{Request: experiment.Request{Method: "GET", Path: "/isPrime/666666"}, Users: &experiment.Target{Value: 50},
				Agents: 1, Timeout: 2 * time.Second},
		}
		figures := &summary.Cell{Cell: plan.Index, Label: plan.Label(), Service: "go", Trials: len(trials), Flags: summary.Flags{}}
		for i, v := range trials {
			figures.PerTrial = append(figures.PerTrial, summary.TrialFigures{
				Trial: i + 1, RateRPS: ptr(373 + float64(i)), P50: ptr(v / 3), P90: ptr(v / 2), P95: ptr(v / 1.5), P99: ptr(v), P999: ptr(v * 1.2),
				Availability: ptr(100.0), CPUPerReqMS: ptr(2.6 + float64(i)/100), Throttled: ptr(v / 1000),
			})
		}
		s.Cells = append(s.Cells, Cell{Record: name, Run: run, Plan: plan, Figures: figures})
	}
	return s
}

var (
	quick = []float64{160, 163, 165, 167, 170, 172}
	slow  = []float64{690, 700, 702, 706, 710, 715}
	quite = []float64{161, 162, 166, 168, 169, 173} // like quick
)

// matched pairs two selections and wants no mistake.
func matched(t *testing.T, a, b *Selection) []Match {
	t.Helper()
	matches, _, _, err := Pairs(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return matches
}

func compared(t *testing.T, a, b *Selection) *Result {
	t.Helper()
	r, err := Compare(matched(t, a, b), false)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// one compares a single cell's p99.
func one(t *testing.T, a, b []float64) *Result {
	t.Helper()
	return compared(t, fixture("before", map[string][]float64{"1": a}), fixture("after", map[string][]float64{"1": b}))
}

// searched gives every cell of a selection a breaking point, and no latencies.
func searched(s *Selection, points ...*summary.BreakingPoint) *Selection {
	for i := range s.Cells {
		c := &s.Cells[i]
		c.Plan.Load.Find = true
		c.Plan.Load.Users, c.Plan.Load.Rate = nil, &experiment.Target{Value: 100}
		c.Figures.Breaking = points[i]
		for k := range c.Figures.PerTrial {
			t := &c.Figures.PerTrial[k]
			*t = summary.TrialFigures{Trial: t.Trial, Breaking: points[i].Load()}
		}
	}
	return s
}

// breaking is what one search found.
func breaking(load, low, high float64) *summary.BreakingPoint {
	return &summary.BreakingPoint{RateRPS: &load, Low: &low, High: &high, LimitedBy: summary.ByCPULimit, Searches: 1}
}

// times sets how many searches, or ramps, a breaking point rests on.
func times(n int, b *summary.BreakingPoint) *summary.BreakingPoint {
	b.Searches = n
	return b
}

// perSearch gives each search of a breaking point what is known of it: its ends.
func perSearch(s *Selection) *Selection {
	for i := range s.Cells {
		c := s.Cells[i].Figures
		c.PerTrial = nil
		for range c.Breaking.Searches {
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{BreakingFrom: c.Breaking.Low, BreakingTo: c.Breaking.High})
		}
	}
	return s
}
