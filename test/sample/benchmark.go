package sample

import (
	"math/rand/v2"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/lab/results"
)

// Benchmarks is what analysis makes of two services that measure themselves,
// each with two settings and so many trials, and of one without a result.
func Benchmarks(trials int) results.Results {
	e := &experiment.Experiment{Name: "semaphore", About: "a semaphore as a benchmark"}
	one, two := "1", "2"
	for i, of := range []struct {
		service string
		procs   *string
	}{{"corrected", nil}, {"corrected", &two}, {"corrected", &one}, {"published", nil}, {"published", &one}, {"broken", nil}} {
		cell := experiment.Cell{Index: i, Service: experiment.Service{Name: of.service, Workload: "semaphore"},
			Limits: experiment.Limits{CPUMillis: 1000, Memory: 256 << 20, Replicas: 1}, Load: experiment.Load{Benchmark: true}}
		if of.service != "broken" {
			cell.Vary = []experiment.Setting{{Name: "procs", Value: of.procs}}
		}
		e.Cells = append(e.Cells, cell)
	}
	rng := rand.New(rand.NewPCG(3, 5))
	var attempts []analysis.Attempt
	var lines []analysis.BenchmarkLine
	trial := 0
	for repeat := 1; repeat <= trials; repeat++ {
		for cell, base := range []float64{1.24, 1.26, 1.02, 0.0401e-6, 0.0397e-6, 0} {
			trial++
			a := analysis.Attempt{Trial: trial, Cell: cell, Repeat: repeat}
			if base == 0 {
				a.State, a.Why = analysis.Failed, "it ended with exit status 2"
			}
			attempts = append(attempts, a)
			v := base * (1 + 0.02*rng.Float64())
			switch {
			case base > 0.5:
				lines = append(lines, analysis.BenchmarkLine{Trial: trial, Cell: cell, Name: "Corrected", Procs: []int{2, 2, 1}[cell],
					Values: []analysis.BenchmarkValue{{Value: v, Unit: "sec/op"}, {Value: 48 << 20, Unit: "B/op"}}})
			case base > 0:
				lines = append(lines, analysis.BenchmarkLine{Trial: trial, Cell: cell, Name: "Published", Procs: []int{2, 1}[cell-3],
					Values: []analysis.BenchmarkValue{{Value: v, Unit: "sec/op"}}})
			}
		}
	}
	b := analysis.New(e, attempts)
	for _, l := range lines {
		b.Benchmark(l)
	}
	s := b.Summarize(summary.Experiment{Started: "2026-09-12T10:04:31Z", Platform: "local", Seed: 4711,
		TrialsPlanned: 6 * trials, TrialsDone: 5 * trials}, Host())
	for i := range s.Cells[:5] { // as frames would give them
		c := &s.Cells[i]
		hits := []int64{31, 33, 0, 28, 27}[i]
		c.CPU = summary.CPU{Cores: ptr(0.97), OfLimit: ptr(0.97), Limit: ptr(1.0), Periods: ptr(int64(74)), ThrottledPeriods: &hits, ThrottledMS: ptr(300.0)}
		c.Memory = summary.Memory{PeakBytes: ptr(int64(31 << 20)), OfLimit: ptr(0.12)}
	}
	return results.Results{Summary: s}
}
