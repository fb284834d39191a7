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

// Record is a record that has been opened for reading. Its frames are read as
// a stream: a long run holds more histograms than memory should.
type Record struct {
	Dir    string
	Run    Run
	Trials []Trial // one a trial in the order of their numbers, with the last that is known of it

	Finished bool // the plan was worked through
}

// Open reads run.json and trials.ndjson. It works on the record of a run that
// was killed, or that still goes on.
func Open(dir string) (*Record, error) {
	r := &Record{Dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, RunFile))
	if errors.Is(err, fs.ErrNotExist) {
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

// Frames yields all frames in the order in which they were written. A last
// line without its end, as a killed run leaves it, is passed over in silence;
// any other line that cannot be read is an error with its number.
func (r *Record) Frames() iter.Seq2[*signals.Frame, error] {
	return func(yield func(*signals.Frame, error) bool) {
		cells := len(r.Run.Experiment.Cells)
		for f, err := range readLines[signals.Frame](filepath.Join(r.Dir, FramesFile)) {
			if err == nil && (f.Cell < 0 || f.Cell >= cells) {
				err = fmt.Errorf("read %s: a frame of cell %d, of %d in the plan", r.Dir, f.Cell, cells)
			}
			if !yield(f, err) || err != nil {
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
				return // what is left has no line end: it was being written
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
