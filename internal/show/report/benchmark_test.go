package report

import (
	"bytes"
	"encoding/csv"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/narrative"
	"github.com/millicore/millicore/test/sample"
)

func TestTheCSVHasALineAFigureWithItsTest(t *testing.T) {
	var text bytes.Buffer
	if err := CSV(&text, sample.Benchmarks(6).Summary); err != nil {
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

func TestTheTableOfBenchmarksHasNoColumnsOfRequests(t *testing.T) {
	var heads []string
	for _, c := range New(sample.Benchmarks(6).Summary).Cells.Columns {
		heads = append(heads, c.Head)
	}
	want := []string{"service", "procs", "benchmark", "GOMAXPROCS", "median", "unit", "CPU", "throttled", "memory", "flags"}
	if diff := cmp.Diff(want, heads); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
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
		{"allocs/op", 3e6, 1, "allocs/op"}, {"wid\x1b[31mgets", 2, 1, "wid␛[31mgets"},
	} {
		if times, name := narrative.BenchUnit(c.unit, c.typical); times != c.times || name != c.want {
			t.Errorf("%v %s: times %v as %q, want %v as %q", c.typical, c.unit, times, name, c.times, c.want)
		}
	}
}

func TestAnEndFarBelowTheMedianIsNotNothing(t *testing.T) {
	low, high := 4e-10, 1.5
	r := narrative.BenchRow{Of: &summary.Benchmark{Unit: "sec/op", Values: []float64{4e-10, 1.2, 1.5}, Median: 1.2, Low: &low, High: &high}}
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
	d, err := results.Open(record.Own, dir)
	if err != nil {
		t.Fatal(err)
	}
	two := 2
	want := []summary.Benchmark{{Name: "Sort", Unit: "sec/op", Procs: &two, Values: []float64{2}, Median: 2}}
	if diff := cmp.Diff(want, d.Summary.Cells[0].Benchmarks); diff != "" {
		t.Error(diff)
	}
}
