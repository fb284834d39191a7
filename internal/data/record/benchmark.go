package record

import "iter"

// BenchmarksFile has the results of services that measure themselves.
const BenchmarksFile = "benchmarks.ndjson"

// Benchmark is one line of benchmarks.ndjson: one result that a service printed in Go's
// benchmark format (golang.org/design/14313-benchmark-format).
type Benchmark struct {
	Trial int    `json:"trial"`
	Cell  int    `json:"cell"`
	Name  string `json:"name"` // without the word Benchmark, and without Procs
	// Procs is GOMAXPROCS at the start of the benchmark: the number after the last hyphen
	// of its name, or 1.
	Procs      int              `json:"procs"`
	Iterations int64            `json:"iterations"`
	Values     []BenchmarkValue `json:"values"`
}

// BenchmarkValue is one figure with its unit, in base units: "sec/op", "B/op",
// "B/s". Other units are as they were printed.
type BenchmarkValue struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Benchmark appends a result that a service printed.
func (w *Writer) Benchmark(b *Benchmark) error { return w.benchmarks.append(b) }

// Benchmarks yields the results that services printed, in their order. Older records have
// none.
func (r *Record) Benchmarks() iter.Seq2[*Benchmark, error] {
	return ifThere(r, BenchmarksFile, r.validBenchmark)
}
