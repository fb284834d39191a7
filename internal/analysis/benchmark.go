package analysis

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
)

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

// Benchmark takes a result of the record; those of attempts that do not count are
// ignored.
func (b *Builder) Benchmark(l BenchmarkLine) {
	if !b.counted[l.Trial] {
		return
	}
	if t := b.cells[l.Cell].trial(l.Trial); t != nil {
		t.benchmarks = append(t.benchmarks, l)
	}
}

// benchmarks returns each figure that the cell's trials printed, in the order of their
// first appearance.
func (c *cell) benchmarks() []summary.Benchmark {
	var all []summary.Benchmark
	for _, t := range c.trials {
		for _, one := range t.printed() {
			at := slices.IndexFunc(all, func(s summary.Benchmark) bool { return s.Path() == one.Path() })
			if at < 0 {
				all = append(all, one)
				continue
			}
			s := &all[at]
			s.Values = append(s.Values, one.Values...)
			if s.Procs == nil || one.Procs == nil || *s.Procs != *one.Procs {
				s.Procs = nil
			}
		}
	}
	for i := range all {
		s := &all[i]
		s.Median = stats.Median(s.Values)
		sorted := slices.Sorted(slices.Values(s.Values))
		if low, high, ok := stats.MedianInterval(len(sorted)); ok {
			s.Low, s.High = &sorted[low], &sorted[high]
		}
	}
	return all
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

// benchmarkComparisons compares the cells by each figure of a benchmark. The tests of
// one figure are a family.
func benchmarkComparisons(s *summary.Summary) (all []summary.Comparison) {
	var seen []string
	for i := range s.Cells {
		for k := range s.Cells[i].Benchmarks {
			if path := s.Cells[i].Benchmarks[k].Path(); !slices.Contains(seen, path) {
				seen = append(seen, path)
				some, _, _ := tests(s, path)
				all = append(all, some...)
			}
		}
	}
	return all
}
