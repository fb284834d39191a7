package record

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadBenchmarksAsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	w, err := Create(dir, testRun())
	if err != nil {
		t.Fatal(err)
	}
	want := []Benchmark{
		{Trial: 1, Name: "Sort/n=10", Procs: 2, Iterations: 500, Values: []BenchmarkValue{{1.25e-6, "sec/op"}, {16, "B/op"}}},
		{Trial: 2, Name: "Sort/n=10", Procs: 1, Iterations: 400, Values: []BenchmarkValue{{1.5e-6, "sec/op"}}},
	}
	for i := range want {
		if err := w.Benchmark(&want[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, benchmarksOf(t, &Record{Dir: dir, Run: testRun()})); diff != "" {
		t.Error(diff)
	}
}

func TestAnOlderRecordHasNoBenchmarks(t *testing.T) {
	if got := benchmarksOf(t, &Record{Dir: t.TempDir(), Run: testRun()}); len(got) > 0 {
		t.Errorf("read %v", got)
	}
}

func TestABenchmarkOfACellThatIsNotInThePlanIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, BenchmarksFile), []byte(`{"trial":1,"cell":7,"name":"X"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := &Record{Dir: dir, Run: testRun()}
	for _, err := range r.Benchmarks() {
		if err == nil {
			t.Error("no error")
		}
	}
}

func benchmarksOf(t *testing.T, r *Record) []Benchmark {
	t.Helper()
	var all []Benchmark
	for b, err := range r.Benchmarks() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *b)
	}
	return all
}
