package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/millicore/millicore/internal/data/signals"
)

// Record is a record that is open for reading. Its frames are read as a stream, because
// the histograms of a long run may not fit into memory.
type Record struct {
	Dir    string
	Run    Run
	Trials []Trial // one for each trial, in the order of their numbers, with its last state

	Finished bool // the plan is done

	reader Reader
	only   *int             // the cell whose lines are read; nil: all are
	places map[string]index // by file: where the lines of each cell are; nil: not known yet
}

// Open reads run.json and trials.ndjson, and validates both. It also opens the record of
// a run that was killed or is still running. The size of the record is bounded by
// DefaultSize.
func Open(dir string) (*Record, error) { return Reader{Size: DefaultSize}.Open(dir) }

// Open reads a record as the function Open does, within the bounds of the reader.
func (b Reader) Open(dir string) (*Record, error) {
	if err := b.check(dir); err != nil {
		return nil, err
	}
	r := &Record{Dir: dir, reader: b}
	if err := r.readRun(); err != nil {
		return nil, err
	}
	return r, r.readTrials()
}

// Common opens the second part of a run of searches; nil: there is none.
func (r *Record) Common() (*Record, error) {
	dir := filepath.Join(r.Dir, CommonDir)
	// A link could lead to the record itself, or out of it.
	if info, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("open record: %s is not a folder", dir)
	}
	if _, err := fs.Stat(files{dir}, RunFile); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	part, err := r.reader.Open(dir)
	if err == nil && part.Run.Experiment.CommonLoad() != nil {
		err = fmt.Errorf("open record %s: it is a second part and has a second part itself", dir)
	}
	return part, err
}

// Of is the record with the lines of one cell, for records that are too large to keep what
// all of their cells need in memory.
func (r *Record) Of(cell int) *Record {
	if r.places == nil {
		r.places = map[string]index{}
	}
	part := *r
	part.only = &cell
	return &part
}

// Files are the regular files and the folders of the record.
func (r *Record) Files() fs.FS { return files{r.Dir} }

// Stopped reports whether the reading of the record was stopped.
func (r *Record) Stopped() bool { return r.reader.stopped() }

func (r *Record) readRun() error {
	name := filepath.Join(r.Dir, RunFile)
	text, err := files{r.Dir}.read(RunFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(r.Dir); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("open record %s: no such folder", r.Dir)
		}
		return fmt.Errorf("open record %s: no %s in it; name the folder of a run, as in runs/quick-20260131-120000", r.Dir, RunFile)
	case err != nil:
		if info, failed := os.Stat(r.Dir); failed == nil && !info.IsDir() {
			return fmt.Errorf("open record %s: it is a file; name the folder of a run, as in %s", r.Dir, filepath.Dir(r.Dir))
		}
		return fmt.Errorf("open record %s: %w", r.Dir, err)
	}
	if err := json.Unmarshal(text, &r.Run); err != nil {
		return fmt.Errorf("open record: read %s: %w", name, err)
	}
	if r.Run.Version > Version {
		return fmt.Errorf("open record %s: written in format %d, this program knows formats up to %d; use a newer millicore", r.Dir, r.Run.Version, Version)
	}
	if r.Run.Experiment == nil {
		return fmt.Errorf("open record %s: %s holds no experiment", r.Dir, RunFile)
	}
	if err := Validate(&r.Run); err != nil {
		return fmt.Errorf("open record: %s is not valid: %w", name, err)
	}
	return nil
}

func (r *Record) readTrials() error {
	at := map[int]int{} // places in Trials by their numbers
	for t, err := range valid(r, TrialsFile, r.validTrial) {
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
		if i, known := at[t.Trial]; known {
			r.Trials[i] = *t
			continue
		}
		at[t.Trial] = len(r.Trials)
		r.Trials = append(r.Trials, *t)
	}
	return nil
}

// Frames yields all frames in the order in which they were written. An incomplete last
// line, as a killed run leaves it, is ignored. Any other invalid line is an error with its
// number. A record without trials need not have the file: its run was killed at its begin.
func (r *Record) Frames() iter.Seq2[*signals.Frame, error] {
	if len(r.Trials) == 0 {
		return ifThere(r, FramesFile, r.validFrame)
	}
	return valid(r, FramesFile, r.validFrame)
}

// Windows likewise yields the windows in which replicas could not run. The windows of each
// replica are in order; those of several replicas are interleaved. In older records
// Windows, Slow and Steps yield nothing.
func (r *Record) Windows() iter.Seq2[*signals.Window, error] {
	return ifThere(r, WindowsFile, r.validWindow)
}

// Slow yields the sample of slow requests. An agent sends a limited number with each frame.
func (r *Record) Slow() iter.Seq2[*signals.SlowLine, error] {
	return ifThere(r, SlowFile, r.validSlow)
}

// Steps yields the steps of searches.
func (r *Record) Steps() iter.Seq2[*signals.SearchStep, error] {
	return ifThere(r, StepsFile, r.validStep)
}

// ifThere yields the lines of a file; none if an older record does not have it.
func ifThere[T any](r *Record, file string, check func(*T) error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for v, err := range valid(r, file, check) {
			if errors.Is(err, fs.ErrNotExist) || !yield(v, err) {
				return
			}
		}
	}
}

// valid yields the JSON value of each line of a file, after its check.
func valid[T any](r *Record, file string, check func(*T) error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for line, err := range r.lines(file) {
			v := new(T)
			if err == nil {
				if err = json.Unmarshal(bytes.TrimSpace(line.text), v); err == nil {
					err = check(v)
				}
				if err != nil {
					err = r.atLine(file, line.number, err)
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

func (r *Record) atLine(file string, number int, err error) error {
	return fmt.Errorf("read %s: line %d: %w", filepath.Join(r.Dir, file), number, err)
}
