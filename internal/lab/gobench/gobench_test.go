package gobench

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/record"
)

func TestReadBenchmarks(t *testing.T) {
	value := func(v float64, unit string) []record.BenchmarkValue {
		return []record.BenchmarkValue{{Value: v, Unit: unit}}
	}
	for name, test := range map[string]struct {
		text string
		want []record.Benchmark
	}{
		"nothing":               {"", nil},
		"only a log":            {"PASS\nok x 1s\nmillicore: 12:00:00.000 it ended with exit status 0\n", nil},
		"one CPU has no suffix": {"BenchmarkA \t 3\t 2 ns/op\n", []record.Benchmark{{Name: "A", Procs: 1, Iterations: 3, Values: value(2e-9, "sec/op")}}},
		"without its line end":  {"BenchmarkA-8 1 2 MB/s", []record.Benchmark{{Name: "A", Procs: 8, Iterations: 1, Values: value(2e6, "B/s")}}},
		"with the ends of Windows": {"BenchmarkA-8 1 2 ns/op\r\n", []record.Benchmark{
			{Name: "A", Procs: 8, Iterations: 1, Values: value(2e-9, "sec/op")}}},
		"a unit of its own":         {"BenchmarkA-8 1 2.5 widgets\n", []record.Benchmark{{Name: "A", Procs: 8, Iterations: 1, Values: value(2.5, "widgets")}}},
		"no numbers":                {"BenchmarkA-8 1 NaN ns/op\nBenchmarkB-8 1 +Inf ns/op\n", nil},
		"cut short":                 {"BenchmarkA-8\nBenchmarkB-8 \t--- FAIL: BenchmarkB-8\nBenchmark\n", nil},
		"a name that only has dash": {"Benchmarka-b 1 2 B/op\n", []record.Benchmark{{Name: "a-b", Procs: 1, Iterations: 1, Values: value(2, "B/op")}}},
		"after an endless line": {"Benchmark" + strings.Repeat("x", 5*maxLine) + " 1 2 B/op\nBenchmarkA 1 2 B/op\n", []record.Benchmark{
			{Name: "A", Procs: 1, Iterations: 1, Values: value(2, "B/op")}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(strings.NewReader(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTooManyResultsAreRefused(t *testing.T) {
	if _, err := read(strings.NewReader(strings.Repeat("BenchmarkA 1 2 B/op\n", maxResults+1))); err == nil {
		t.Error("no error")
	}
}

func FuzzReadBenchmarks(f *testing.F) {
	f.Add([]byte("goos: linux\nBenchmarkSort/n=10-2 \t500\t1250 ns/op\t16 B/op\nPASS\n"))
	f.Add([]byte("BenchmarkA-2 1 NaN ns/op 3 B/op\nBenchmark-1 1 1 x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := read(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, b := range all {
			if b.Procs < 1 || len(b.Values) == 0 {
				t.Errorf("result %+v", b)
			}
			for _, v := range b.Values {
				if v.Value-v.Value != 0 || v.Unit == "" {
					t.Errorf("value %+v of %s", v, b.Name)
				}
			}
		}
	})
}
