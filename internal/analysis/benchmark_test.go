package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
)

// measuringItself is an experiment with that many cells that measure themselves.
func measuringItself(cells int) *experiment.Experiment {
	e := &experiment.Experiment{Name: "bench"}
	for i := range cells {
		e.Cells = append(e.Cells, experiment.Cell{Index: i, Service: experiment.Service{Name: "mine"},
			Limits: experiment.Limits{CPUMillis: 1000, Replicas: 1}, Load: experiment.Load{Benchmark: true}})
	}
	return e
}

// sec is a result in seconds per operation.
func sec(trial, cell int, name string, procs int, v float64) BenchmarkLine {
	return BenchmarkLine{Trial: trial, Cell: cell, Name: name, Procs: procs, Values: []BenchmarkValue{{v, "sec/op"}}}
}

func summarized(e *experiment.Experiment, attempts []Attempt, lines ...BenchmarkLine) *summary.Summary {
	b := New(e, attempts)
	for _, l := range lines {
		b.Benchmark(l)
	}
	return b.Summarize(summary.Experiment{}, record.Host{})
}

func TestABenchmarkHasAValueATrial(t *testing.T) {
	attempts := []Attempt{{Trial: 1, Repeat: 1}, {Trial: 2, Repeat: 2}, {Trial: 3, Repeat: 3, State: Failed}}
	both := sec(2, 0, "Sort", 2, 3)
	both.Values = append(both.Values, BenchmarkValue{16, "B/op"})
	s := summarized(measuringItself(1), attempts,
		sec(1, 0, "Sort", 2, 1), sec(1, 0, "Sort", 2, 9), sec(1, 0, "Sort", 2, 2), // -test.count=3
		both, sec(2, 0, "Map", 1, 7),
		sec(3, 0, "Sort", 2, 100), // of a trial that failed
	)
	two, one := 2, 1
	want := []summary.Benchmark{
		{Name: "Sort", Unit: "sec/op", Procs: &two, Values: []float64{2, 3}, Median: 2.5},
		{Name: "Sort", Unit: "B/op", Procs: &two, Values: []float64{16}, Median: 16},
		{Name: "Map", Unit: "sec/op", Procs: &one, Values: []float64{7}, Median: 7},
	}
	c := &s.Cells[0]
	if diff := cmp.Diff(want, c.Benchmarks); diff != "" {
		t.Error(diff)
	}
	if c.Load.Kind != "benchmark" || c.RateRPS != nil || c.Availability != nil || c.LatencyMS != nil || c.Requests != 0 {
		t.Errorf("a benchmark has figures of traffic: %+v", c)
	}
}

func TestSixTrialsOfABenchmarkHaveAnInterval(t *testing.T) {
	var attempts []Attempt
	var lines []BenchmarkLine
	for i, v := range []float64{6, 1, 5, 2, 4, 3} {
		attempts = append(attempts, Attempt{Trial: i + 1, Repeat: i + 1})
		lines = append(lines, sec(i+1, 0, "Sort", 2, v))
	}
	s := summarized(measuringItself(1), attempts, lines...)
	c := &s.Cells[0]
	if b := c.Benchmarks[0]; b.Median != 3.5 || b.Low == nil || *b.Low != 1 || *b.High != 6 {
		t.Errorf("median %v, interval %v to %v", b.Median, b.Low, b.High)
	}
	if got := c.Intervals["benchmarks.Sort.sec/op"]; got != [2]float64{1, 6} || c.IntervalsOf != "trials" {
		t.Errorf("interval %v of %q", got, c.IntervalsOf)
	}
}

func TestProcsThatDifferAreNotReported(t *testing.T) {
	s := summarized(measuringItself(1), []Attempt{{Trial: 1, Repeat: 1}, {Trial: 2, Repeat: 2}}, sec(1, 0, "Sort", 2, 1), sec(2, 0, "Sort", 4, 1))
	if b := s.Cells[0].Benchmarks[0]; b.Procs != nil || len(b.Values) != 2 {
		t.Errorf("%+v", b)
	}
}

// Each benchmark is compared with the first cell that has one of its name.
func TestBenchmarksAreComparedByTheirNames(t *testing.T) {
	var attempts []Attempt
	var lines []BenchmarkLine
	for i := range 6 {
		for cell, of := range []struct {
			name string
			base float64
		}{{"Old", 10}, {"New", 20}, {"Old", 11}, {"New", 40}} {
			trial := 4*i + cell + 1
			attempts = append(attempts, Attempt{Trial: trial, Cell: cell, Repeat: i + 1})
			lines = append(lines, sec(trial, cell, of.name, 1+cell, of.base+float64(i)/1000))
		}
	}
	got := summarized(measuringItself(4), attempts, lines...).Comparisons
	if len(got) != 2 {
		t.Fatalf("%d comparisons: %+v", len(got), got)
	}
	for i, want := range []struct {
		cell, base int
		metric     string
		shift      float64
	}{{2, 0, "benchmarks.Old.sec/op", 1}, {3, 1, "benchmarks.New.sec/op", 20}} {
		c := got[i]
		if c.Cell != want.cell || c.Baseline != want.base || c.Metric != want.metric || !c.Significant || c.Trials != [2]int{6, 6} ||
			c.Shift < want.shift-0.01 || c.Shift > want.shift+0.01 {
			t.Errorf("comparison %+v, want %+v", c, want)
		}
	}
}

func TestTooFewTrialsOfABenchmarkAreNotCompared(t *testing.T) {
	attempts := []Attempt{{Trial: 1}, {Trial: 2, Cell: 1}}
	if got := summarized(measuringItself(2), attempts, sec(1, 0, "A", 1, 1), sec(2, 1, "A", 1, 9)).Comparisons; len(got) > 0 {
		t.Errorf("%+v", got)
	}
}
