package analysis

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
)

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
