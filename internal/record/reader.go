package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/millicore/millicore/internal/signals"
)

// Record is a record that is open for reading. Its frames are read as a stream, because
// the histograms of a long run may not fit into memory.
type Record struct {
	Dir    string
	Run    Run
	Trials []Trial // one for each trial, in the order of their numbers, with its last state

	Finished bool // the plan is done
}

// Open reads run.json and trials.ndjson. It also opens the record of a run that was killed
// or is still running.
func Open(dir string) (*Record, error) {
	r := &Record{Dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, RunFile))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("open record %s: no such folder", dir)
		}
		return nil, fmt.Errorf("open record %s: no %s in it; name the folder of a run, as in runs/quick-20260131-120000", dir, RunFile)
	}
	if err != nil {
		return nil, fmt.Errorf("open record: %w", err)
	}
	if err := json.Unmarshal(text, &r.Run); err != nil {
		return nil, fmt.Errorf("open record: read %s: %w", filepath.Join(dir, RunFile), err)
	}
	if r.Run.Version > Version {
		return nil, fmt.Errorf("open record %s: written in format %d, this program knows formats up to %d; use a newer millicore", dir, r.Run.Version, Version)
	}
	if r.Run.Experiment == nil {
		return nil, fmt.Errorf("open record %s: %s holds no experiment", dir, RunFile)
	}
	return r, r.readTrials()
}

func (r *Record) readTrials() error {
	for t, err := range readLines[Trial](filepath.Join(r.Dir, TrialsFile)) {
		if errors.Is(err, fs.ErrNotExist) { // the run was killed at its begin
			return nil
		}
		if err != nil {
			return err
		}
		if t.Outcome == Finished {
			r.Finished = true
			continue
		}
		if cells := len(r.Run.Experiment.Cells); t.Cell < 0 || t.Cell >= cells {
			return fmt.Errorf("read %s: a trial of cell %d, of %d in the plan", filepath.Join(r.Dir, TrialsFile), t.Cell, cells)
		}
		if n := len(r.Trials); n > 0 && r.Trials[n-1].Trial == t.Trial {
			r.Trials[n-1] = *t
			continue
		}
		r.Trials = append(r.Trials, *t)
	}
	return nil
}

// Frames yields all frames in the order in which they were written. An incomplete last
// line, as a killed run leaves it, is ignored. Any other invalid line is an error with its
// number.
func (r *Record) Frames() iter.Seq2[*signals.Frame, error] {
	return inPlan(r, FramesFile, func(f *signals.Frame) int { return f.Cell })
}

// Windows likewise yields the windows in which replicas could not run. The windows of each
// replica are in order; those of several replicas are interleaved. In older records
// Windows, Slow and Steps yield nothing.
func (r *Record) Windows() iter.Seq2[*signals.Window, error] {
	return ifThere(r, WindowsFile, func(w *signals.Window) int { return w.Cell })
}

// Slow yields the sample of slow requests. An agent sends a limited number with each frame.
func (r *Record) Slow() iter.Seq2[*signals.SlowLine, error] {
	return ifThere(r, SlowFile, func(l *signals.SlowLine) int { return l.Cell })
}

// Steps yields the steps of searches.
func (r *Record) Steps() iter.Seq2[*signals.SearchStep, error] {
	return ifThere(r, StepsFile, func(s *signals.SearchStep) int { return s.Cell })
}

// ifThere yields the lines of a file; none if an older record does not have it.
func ifThere[T any](r *Record, file string, cell func(*T) int) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for v, err := range inPlan(r, file, cell) {
			if errors.Is(err, fs.ErrNotExist) || !yield(v, err) {
				return
			}
		}
	}
}

// inPlan yields the lines of a file, and checks that their cells are in the plan.
func inPlan[T any](r *Record, file string, cell func(*T) int) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		path, cells := filepath.Join(r.Dir, file), len(r.Run.Experiment.Cells)
		for v, err := range readLines[T](path) {
			if err == nil && (cell(v) < 0 || cell(v) >= cells) {
				err = fmt.Errorf("read %s: a line of cell %d, of %d in the plan", path, cell(v), cells)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// readLines yields the JSON value of each line of a file.
func readLines[T any](path string) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(nil, fmt.Errorf("open record: %w", err))
			return
		}
		defer f.Close()
		in := bufio.NewReaderSize(f, 1<<16)
		for n := 1; ; n++ {
			line, err := in.ReadBytes('\n')
			if err == io.EOF {
				return // an incomplete last line
			}
			if err != nil {
				yield(nil, fmt.Errorf("read %s: %w", path, err))
				return
			}
			v := new(T)
			if err := json.Unmarshal(bytes.TrimSpace(line), v); err != nil {
				yield(nil, fmt.Errorf("read %s: line %d: %w", path, n, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}
