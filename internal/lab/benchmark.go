package lab

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/record"
	"github.com/millicore/millicore/internal/signals"
)

// A benchmark's trial has no traffic: the service is started under its limits,
// watched as ever until it ends by itself, and what it printed is read.

// checkBenchmarks reports, before anything is started, a platform that cannot
// run what the experiment asks for.
func (l *Lab) checkBenchmarks() error {
	for i := range l.Experiment.Cells {
		c := &l.Experiment.Cells[i]
		if _, ok := platform.As[platform.JobStarter](l.Platform); c.Load.Benchmark && !ok {
			return fmt.Errorf("run service %q to its end: the platform %s runs services only, not benchmarks", c.Service.Name, l.Platform.Name())
		}
	}
	return nil
}

// once starts a unit that ends by itself, as unit starts one that serves.
func (t *trial) once(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	starter, ok := platform.As[platform.JobStarter](t.lab.Platform)
	if !ok {
		return nil, fmt.Errorf("the platform %s runs services only, not benchmarks", t.lab.Platform.Name())
	}
	running, err := starter.StartOnce(ctx, u)
	if err != nil {
		return nil, err
	}
	t.units = append(t.units, running)
	return running, nil
}

// benchmark waits for the end of a service that measures itself, in the place of
// load: it watches the service meanwhile, and reads what it printed. The first
// error is a failure of the trial, the second one of the tool.
func (t *trial) benchmark(ctx context.Context) (failure, err error) {
	program, ok := platform.As[platform.Job](t.services.Replicas()[0])
	if !ok {
		return fmt.Errorf("the platform %s does not tell when a service has ended", t.lab.Platform.Name()), nil
	}
	patient, cancel := context.WithTimeout(ctx, t.exp.Measure.Duration)
	defer cancel()
	if err := t.observe(patient, cancel, program.Ended()); err != nil {
		return nil, err
	}
	select {
	case <-program.Ended():
	default:
		return withOutput(fmt.Errorf("it had not ended after %v, the measure.duration", t.exp.Measure.Duration), program.Output()), nil
	}
	if how := program.Failure(); how != "" {
		return withOutput(errors.New(how), program.Output()), nil
	}
	results, err := readOutput(program.Output())
	if err != nil {
		return err, nil
	}
	for i := range results {
		results[i].Trial, results[i].Cell = t.number, t.cell.Index
		if err := t.writer.Benchmark(&results[i]); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// observe takes frames and windows into the record until ended is closed or ctx
// ends. The error is the record's, and ends ctx.
func (t *trial) observe(ctx context.Context, cancel context.CancelFunc, ended <-chan struct{}) (err error) {
	begin, over := time.Now(), make(chan struct{})
	sights := make(chan sight, 64)
	var all sync.WaitGroup
	all.Go(func() {
		defer close(over)
		select {
		case <-ended:
		case <-ctx.Done():
		}
	})
	all.Go(func() { t.sampler(begin, func(s sight) { sights <- s }).run(over) })
	watcher := t.watcher(func(w *signals.Window) {
		if w.Kind != signals.Down { // its end is no breakdown
			sights <- sight{window: w}
		}
	})
	all.Go(func() { watcher.run(over) })
	go func() { all.Wait(); close(sights) }()
	for s := range sights {
		// After a failed write the channel is still emptied, so that all ends.
		if err == nil {
			err = t.keep(s)
		}
		if err != nil {
			cancel()
		}
	}
	return err
}

// readOutput reads the results in a file that a benchmark wrote its output to.
// None at all is an error: nothing was measured.
func readOutput(name string) ([]record.Benchmark, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read what the benchmark printed: %w", err)
	}
	defer file.Close()
	results, err := readBenchmarks(file)
	if err != nil {
		return nil, fmt.Errorf("read what the benchmark printed: %s: %w", name, err)
	}
	if len(results) == 0 {
		return nil, withOutput(errors.New("it printed no result in Go's benchmark format, as in \"BenchmarkSort-2  500  1250 ns/op\"; with a Go test binary say which are to run: -test.bench=."), name)
	}
	return results, nil
}

// Bounds of what is read of a benchmark's output.
const (
	longestLine = 8 << 10
	mostResults = 10_000
)

// readBenchmarks reads results in Go's benchmark format
// (golang.org/design/14313-benchmark-format) and passes over all other lines, as
// a program's log shares its output. Figures that are no numbers are left out.
func readBenchmarks(r io.Reader) ([]record.Benchmark, error) {
	lines, err := benchmarkLines(r)
	if err != nil {
		return nil, err
	}
	var all []record.Benchmark
	for reader := benchfmt.NewReader(bytes.NewReader(lines), ""); reader.Scan(); {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue // a line that began like a result
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
		if all = append(all, one); len(all) > mostResults {
			return nil, fmt.Errorf("more than %d results; run fewer benchmarks in a trial", mostResults)
		}
	}
	return all, nil
}

// benchmarkLines are the lines that can be results, of whatever is in r.
func benchmarkLines(r io.Reader) ([]byte, error) {
	var out bytes.Buffer
	in := bufio.NewReaderSize(r, longestLine)
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

// splitProcs parts "Sort/n=10-2" into the name and GOMAXPROCS, which the testing
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

// tailBytes is how much of its output tells what became of a benchmark.
const tailBytes = 2 << 10

// withOutput adds the end of a benchmark's output to what went wrong with it.
func withOutput(wrong error, name string) error {
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
	if int64(len(text)) < info.Size() { // the first line is cut
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	end := strings.TrimSpace(strings.ToValidUTF8(string(text), "?"))
	if end == "" {
		return fmt.Errorf("%w; it printed nothing", wrong)
	}
	return fmt.Errorf("%w; the end of %s:\n\t%s", wrong, name, strings.ReplaceAll(end, "\n", "\n\t"))
}
