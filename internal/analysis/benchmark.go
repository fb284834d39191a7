package analysis

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/stats"
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

// BenchmarkSummary is one figure of one benchmark over a cell's trials. A trial that
// printed it several times (-test.count) counts once, with their median.
type BenchmarkSummary struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`   // "sec/op"
	Procs  *int      `json:"procs"`  // GOMAXPROCS at the start; null: it differed
	Values []float64 `json:"values"` // one per trial that printed it, in the order of the trials
	Median float64   `json:"median"` // of them
	Low    *float64  `json:"low"`    // of the median's 95% interval; null: too few trials
	High   *float64  `json:"high"`
}

// Path is the figure's field path in the cell's intervals and in comparisons.
func (b *BenchmarkSummary) Path() string { return benchmarksPath + b.Name + "." + b.Unit }

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
func (c *cell) benchmarks() []BenchmarkSummary {
	var all []BenchmarkSummary
	for _, t := range c.trials {
		for _, one := range t.printed() {
			at := slices.IndexFunc(all, func(s BenchmarkSummary) bool { return s.Path() == one.Path() })
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
func (t *trial) printed() []BenchmarkSummary {
	var all []BenchmarkSummary
	for i := range t.benchmarks {
		l := &t.benchmarks[i]
		for _, v := range l.Values {
			one := BenchmarkSummary{Name: l.Name, Unit: v.Unit, Procs: &l.Procs}
			at := slices.IndexFunc(all, func(s BenchmarkSummary) bool { return s.Path() == one.Path() })
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
func (s *Summary) benchmarkComparisons() (all []Comparison) {
	var seen []string
	for i := range s.Cells {
		for k := range s.Cells[i].Benchmarks {
			if path := s.Cells[i].Benchmarks[k].Path(); !slices.Contains(seen, path) {
				seen = append(seen, path)
				some, _, _ := s.tests(path)
				all = append(all, some...)
			}
		}
	}
	return all
}
