package report

import (
	"bytes"
	"encoding/csv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/file"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/record"
	"github.com/millicore/millicore/internal/report/sample"
	"github.com/millicore/millicore/internal/results"
)

// benchFixture is what analysis makes of two services that measure themselves,
// each with two settings and so many trials, and of one without a result.
func benchFixture(trials int) results.Results {
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
	s := b.Summarize(analysis.SummaryExperiment{Started: "2026-09-12T10:04:31Z", Platform: "local", Seed: 4711,
		TrialsPlanned: 6 * trials, TrialsDone: 5 * trials}, sample.Host())
	for i := range s.Cells[:5] { // as frames would give them
		c := &s.Cells[i]
		hits := []int64{31, 33, 0, 28, 27}[i]
		c.CPU = analysis.CPUSummary{Cores: ptr(0.97), OfLimit: ptr(0.97), Limit: ptr(1.0), Periods: ptr(int64(74)), ThrottledPeriods: &hits, ThrottledMS: ptr(300.0)}
		c.Memory = analysis.MemorySummary{PeakBytes: ptr(int64(31 << 20)), OfLimit: ptr(0.12)}
	}
	return results.Results{Summary: s}
}

func TestBenchmarksReadAsExpected(t *testing.T) {
	at := func(width int) func(io.Writer, *analysis.Summary) error {
		return func(w io.Writer, s *analysis.Summary) error { return Table(w, s, display.Terminal{Width: width}) }
	}
	for name, c := range map[string]struct {
		trials int
		write  func(io.Writer, *analysis.Summary) error
	}{
		"benchmark-wide.txt":   {6, at(130)},
		"benchmark-narrow.txt": {6, at(72)},
		"benchmark-few.txt":    {2, at(130)},
		"benchmark.md":         {6, Markdown},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := c.write(&got, benchFixture(c.trials).Summary); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; run go test -update and read what it writes", err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("differs from %s (-want +got):\n%s", file, diff)
			}
		})
	}
}

func TestTheCSVHasALineAFigureWithItsTest(t *testing.T) {
	var text bytes.Buffer
	if err := CSV(&text, benchFixture(6).Summary); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range lines[1:] {
		var fields []string
		for _, name := range []string{"cell", "benchmark", "benchmark_unit", "benchmark_procs", "benchmark_trials", "compared_with", "compared_metric", "periods", "vary_procs"} {
			fields = append(fields, line[slices.Index(lines[0], name)])
		}
		got = append(got, strings.Join(fields, " "))
	}
	want := []string{
		"0 Corrected sec/op 2 6   74 unset",
		"0 Corrected B/op 2 6   74 unset",
		"1 Corrected sec/op 2 6 0 benchmarks.Corrected.sec/op 74 2",
		"1 Corrected B/op 2 6 0 benchmarks.Corrected.B/op 74 2",
		"2 Corrected sec/op 1 6 0 benchmarks.Corrected.sec/op 74 1",
		"2 Corrected B/op 1 6 0 benchmarks.Corrected.B/op 74 1",
		"3 Published sec/op 2 6   74 unset",
		"4 Published sec/op 1 6 3 benchmarks.Published.sec/op 74 1",
		"5    0    ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNoLineOfBenchmarksIsWiderThanTheTerminal(t *testing.T) {
	for _, limit := range []int{40, 60, 80, 120} {
		var text bytes.Buffer
		if err := Table(&text, benchFixture(6).Summary, display.Terminal{Width: limit}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			if line = strings.TrimSuffix(line, "\n"); display.Width(line) > limit {
				t.Errorf("at %d columns a line takes %d: %q", limit, display.Width(line), line)
			}
		}
	}
}

func TestThePageOfBenchmarksHasNoColumnsOfRequests(t *testing.T) {
	var page bytes.Buffer
	if err := HTML(&page, benchFixture(6)); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	results := text[strings.Index(text, `<section id="results">`):strings.Index(text, `<section id="charts-section"`)]
	for _, want := range []string{"GOMAXPROCS<small>as it began", "1.03\u00a0s/op", "40.4\u00a0ns/op", "48.0\u00a0MiB/op", "31 of 74"} {
		if !strings.Contains(results, want) {
			t.Errorf("no %q in the results", want)
		}
	}
	for _, not := range []string{"p99", "per second", "available"} {
		if strings.Contains(results, not) {
			t.Errorf("%q in the results of a benchmark", not)
		}
	}
	if !strings.Contains(text, "data-benchmark") || strings.Contains(text, "Against the rate</h2>") {
		t.Error("the charts are those of requests")
	}
}

func TestBenchUnit(t *testing.T) {
	for _, c := range []struct {
		unit    string
		typical float64
		times   float64
		want    string
	}{
		{"sec/op", 1.5, 1, "s/op"}, {"sec/op", 0.999, 1e3, "ms/op"}, {"sec/op", 2e-6, 1e6, "µs/op"}, {"sec/op", 4e-10, 1e9, "ns/op"}, {"sec/op", 0, 1e9, "ns/op"},
		{"p99-sec/op", 0.01, 1e3, "p99-ms/op"}, {"sec", 3, 1, "s"},
		{"B/op", 512, 1, "B/op"}, {"B/s", 3 << 20, 1.0 / (1 << 20), "MiB/s"}, {"B/op", 5 << 30, 1.0 / (1 << 30), "GiB/op"}, {"B/op", 2048, 1.0 / 1024, "KiB/op"},
		{"allocs/op", 3e6, 1, "allocs/op"}, {"wid\x1b[31mgets", 2, 1, "widgets"},
	} {
		if times, name := narrative.BenchUnit(c.unit, c.typical); times != c.times || name != c.want {
			t.Errorf("%v %s: times %v as %q, want %v as %q", c.typical, c.unit, times, name, c.times, c.want)
		}
	}
}

func TestAnEndFarBelowTheMedianIsNotNothing(t *testing.T) {
	low, high := 4e-10, 1.5
	r := narrative.BenchRow{Of: &analysis.BenchmarkSummary{Unit: "sec/op", Values: []float64{4e-10, 1.2, 1.5}, Median: 1.2, Low: &low, High: &high}}
	if got := r.Spread(); got != "<0.001–1.50" {
		t.Errorf("spread %q", got)
	}
}

func TestARecordsBenchmarksAreReadAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	e, err := file.Parse("x.yaml", []byte("name: x\nservices: {mine: {command: [./x]}}\nload: {benchmark: true}\nmeasure: {repeats: 1}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(dir, record.Run{Version: record.Version, Experiment: e, Plan: e.Plan(1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		w.Trial(record.Trial{Trial: 1, Repeat: 1, Outcome: record.Started}),
		w.Benchmark(&record.Benchmark{Trial: 1, Name: "Sort", Procs: 2, Iterations: 9, Values: []record.BenchmarkValue{{Value: 2, Unit: "sec/op"}}}),
		w.Trial(record.Trial{Trial: 1, Repeat: 1, Outcome: record.Done}),
		w.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := results.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	two := 2
	want := []analysis.BenchmarkSummary{{Name: "Sort", Unit: "sec/op", Procs: &two, Values: []float64{2}, Median: 2}}
	if diff := cmp.Diff(want, d.Summary.Cells[0].Benchmarks); diff != "" {
		t.Error(diff)
	}
}
