// Package gobench reads what Go benchmarks print.
package gobench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/millicore/millicore/internal/data/record"
)

// ReadFile reads the results in the file with a benchmark's output. It is an error
// if there are none: nothing was measured.
func ReadFile(name string) ([]record.Benchmark, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the output of the benchmark: %w", err)
	}
	defer file.Close()
	results, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("read the output of the benchmark: %s: %w", name, err)
	}
	if len(results) == 0 {
		return nil, WithOutput(errors.New("it printed no result in Go's benchmark format, as in \"BenchmarkSort-2  500  1250 ns/op\"; with a Go test binary, select benchmarks with -test.bench=."), name)
	}
	return results, nil
}

// Limits of a benchmark's output.
const (
	maxLine    = 8 << 10
	maxResults = 10_000
)

// read reads results in Go's benchmark format
// (golang.org/design/14313-benchmark-format). It skips all other lines, because a
// program's log may be in the same output. NaN and infinite values are left out.
func read(r io.Reader) ([]record.Benchmark, error) {
	lines, err := benchmarkLines(r)
	if err != nil {
		return nil, err
	}
	var all []record.Benchmark
	for reader := benchfmt.NewReader(bytes.NewReader(lines), ""); reader.Scan(); {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue // a line that only begins like a result
		}
		name, procs := splitProcs(result.Name.String())
		one := record.Benchmark{Name: name, Procs: procs, Iterations: int64(result.Iters)}
		for _, v := range result.Values {
			if !math.IsNaN(v.Value) && !math.IsInf(v.Value, 0) {
				one.Values = append(one.Values, record.BenchmarkValue{Value: v.Value, Unit: v.Unit})
			}
		}
		if len(one.Values) == 0 {
			continue
		}
		if all = append(all, one); len(all) > maxResults {
			return nil, fmt.Errorf("more than %d results; run fewer benchmarks in a trial", maxResults)
		}
	}
	return all, nil
}

// benchmarkLines returns the lines of r that can be results.
func benchmarkLines(r io.Reader) ([]byte, error) {
	var out bytes.Buffer
	in := bufio.NewReaderSize(r, maxLine)
	for continued := false; ; {
		line, err := in.ReadSlice('\n')
		whole := !continued && err != bufio.ErrBufferFull
		if whole && bytes.HasPrefix(line, []byte("Benchmark")) {
			out.Write(bytes.TrimRight(line, "\r\n"))
			out.WriteByte('\n')
		}
		continued = err == bufio.ErrBufferFull
		switch {
		case err == io.EOF:
			return out.Bytes(), nil
		case err != nil && !continued:
			return nil, err
		}
	}
}

// splitProcs splits "Sort/n=10-2" into the name and GOMAXPROCS, which the testing
// package writes unless it is 1.
func splitProcs(name string) (string, int) {
	at := strings.LastIndexByte(name, '-')
	if at <= 0 {
		return name, 1
	}
	procs, err := strconv.Atoi(name[at+1:])
	if err != nil || procs < 1 || name[at+1] == '+' {
		return name, 1
	}
	return name[:at], procs
}

// tailBytes is how much of a benchmark's output an error shows.
const tailBytes = 2 << 10

// WithOutput adds the end of a benchmark's output to an error.
func WithOutput(wrong error, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return wrong
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return wrong
	}
	text := make([]byte, min(info.Size(), tailBytes))
	if _, err := file.ReadAt(text, info.Size()-int64(len(text))); err != nil && err != io.EOF {
		return wrong
	}
	if int64(len(text)) < info.Size() { // the first line is incomplete
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	end := strings.TrimSpace(strings.ToValidUTF8(string(text), "?"))
	if end == "" {
		return fmt.Errorf("%w; it printed nothing", wrong)
	}
	return fmt.Errorf("%w; the end of %s:\n\t%s", wrong, name, strings.ReplaceAll(end, "\n", "\n\t"))
}
