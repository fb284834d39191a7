package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/data/signals"
)

// Writer appends to a record. It is not safe for concurrent use.
type Writer struct {
	dir        string
	root       *os.Root // of dir
	frames     *lines
	windows    *lines
	slow       *lines
	steps      *lines
	benchmarks *lines
	trials     *lines
	hlog       *Hlog
}

// Free reports whether a record can be created in a folder, which must be empty or not
// exist. A record is never overwritten.
func Free(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("create record: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("create record %s: the folder is not empty; use another one with --out", dir)
	}
	return nil
}

// NewDir returns the path of a new folder in base for a run of an experiment. It does not
// create the folder. A second run within the same second gets a suffix.
func NewDir(base, name string, now time.Time) string {
	dir := filepath.Join(base, name+"-"+now.Format("20060102-150405"))
	for i, try := 2, dir; ; i++ {
		if _, err := os.Lstat(try); errors.Is(err, fs.ErrNotExist) {
			return try
		}
		try = fmt.Sprintf("%s-%d", dir, i)
	}
}

// Create creates the folder, which must be Free, with run.json and the empty files. Only
// the user can read them, and the experiment in run.json has no secrets.
func Create(dir string, run Run) (_ *Writer, err error) {
	if err := Free(dir); err != nil {
		return nil, err
	}
	w := &Writer{dir: dir}
	if w.root, err = openNew(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if err := safefile.MkdirAll(filepath.Join(dir, LogsDir), DirMode); err != nil {
		return nil, fmt.Errorf("create record: %w", err)
	}
	run.Experiment = run.Experiment.Shown()
	text, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("create record: %w", err)
	}
	if err := safefile.Replace(filepath.Join(dir, RunFile), append(text, '\n'), FileMode); err != nil {
		return nil, err
	}
	if err := w.open(openLines); err != nil {
		return nil, err
	}
	w.hlog, err = CreateHlog(filepath.Join(dir, LatencyFile), run.Experiment, run.Started)
	return w, err
}

// open opens the files of lines.
func (w *Writer) open(open func(path string) (*lines, error)) (err error) {
	for _, file := range []struct {
		name string
		to   **lines
	}{{FramesFile, &w.frames}, {WindowsFile, &w.windows}, {SlowFile, &w.slow}, {StepsFile, &w.steps}, {BenchmarksFile, &w.benchmarks}, {TrialsFile, &w.trials}} {
		if *file.to, err = open(filepath.Join(w.dir, file.name)); err != nil {
			return err
		}
	}
	return nil
}

// Dir is the record's folder.
func (w *Writer) Dir() string { return w.dir }

// Frame appends a frame. The slow requests of a client frame go to slow.ndjson instead,
// and its histogram, if it is of the measured part, also to latency.hlog. Frame does not
// change the frame. It is on the disk after Sync.
func (w *Writer) Frame(f *signals.Frame) error {
	written := f
	if f.Client != nil && len(f.Client.Slow) > 0 {
		if err := w.slowOf(f); err != nil {
			return err
		}
		frame, client := *f, *f.Client
		client.Slow, frame.Client = nil, &client
		written = &frame
	}
	if err := w.frames.append(written); err != nil {
		return err
	}
	return w.hlog.Frame(f)
}

func (w *Writer) slowOf(f *signals.Frame) error {
	line := signals.SlowLine{Trial: f.Trial, Cell: f.Cell}
	if f.Agent != nil {
		line.Agent = *f.Agent
	}
	for _, line.Slow = range f.Client.Slow {
		if err := w.slow.append(line); err != nil {
			return err
		}
	}
	return nil
}

// Window appends a window in which a replica could not run.
func (w *Writer) Window(v *signals.Window) error { return w.windows.append(v) }

// Step appends a step of a search.
func (w *Writer) Step(s *signals.SearchStep) error { return w.steps.append(s) }

// Trial appends the start or the end of a trial, and syncs it with everything before it.
func (w *Writer) Trial(t Trial) error {
	if err := w.trials.append(t); err != nil {
		return err
	}
	return w.Sync()
}

// Finish records that the plan is done. A record without it is of a run that was
// interrupted or killed, or is still running.
func (w *Writer) Finish(at time.Time) error {
	return w.Trial(Trial{Outcome: Finished, At: at.UnixNano()})
}

// Sync writes everything that was appended to the disk. It is called at the end of every
// interval, which limits the loss of a crash.
func (w *Writer) Sync() error {
	var errs []error
	for _, l := range w.files() {
		errs = append(errs, l.sync())
	}
	return errors.Join(append(errs, w.hlog.Sync())...)
}

// files are the files of lines. The trials are last, so that the end of a trial is on the
// disk after everything of the trial.
func (w *Writer) files() []*lines {
	return []*lines{w.frames, w.windows, w.slow, w.steps, w.benchmarks, w.trials}
}

// Close syncs and closes the files, and gives the record to the user who called sudo.
func (w *Writer) Close() error {
	var errs []error
	for _, l := range w.files() {
		if l != nil {
			errs = append(errs, l.sync(), l.file.Close())
		}
	}
	if w.hlog != nil {
		errs = append(errs, w.hlog.Close())
	}
	if w.root != nil {
		errs = append(errs, HandOver(w.root), w.root.Close())
	}
	return errors.Join(errs...)
}

// LogUnfinished begins the name of a log of a replica that is not complete yet.
const LogUnfinished = ".log-"

// Sweep removes from a record what programs left that were killed while they wrote to it,
// if the caller may.
func Sweep(dir string) {
	_ = safefile.For(filepath.Join(dir, RunFile), func() error {
		safefile.SweepTemp(dir, safefile.Unfinished(RunFile), safefile.Unfinished(LatencyFile), safefile.Unfinished(SummaryFile), safefile.Unfinished(ReportFile))
		logs := filepath.Join(dir, LogsDir)
		trials, _ := os.ReadDir(logs)
		for _, t := range trials {
			if t.IsDir() {
				safefile.SweepTemp(filepath.Join(logs, t.Name()), LogUnfinished)
			}
		}
		return nil
	})
}

// lines is a file with one JSON value per line.
type lines struct {
	file  *os.File
	out   *bufio.Writer
	dirty bool
}

func openLines(path string) (*lines, error) {
	f, err := safefile.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, FileMode)
	if err != nil {
		return nil, fmt.Errorf("create record: %w", err)
	}
	return &lines{file: f, out: bufio.NewWriter(f)}, nil
}

func (l *lines) append(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("append to %s: %w", l.file.Name(), err)
	}
	l.dirty = true
	l.out.Write(text)
	if err := l.out.WriteByte('\n'); err != nil { // bufio keeps the first error
		return fmt.Errorf("append to %s: %w", l.file.Name(), err)
	}
	return nil
}

func (l *lines) sync() error {
	if !l.dirty {
		return nil
	}
	l.dirty = false
	if err := errors.Join(l.out.Flush(), l.file.Sync()); err != nil {
		return fmt.Errorf("sync %s: %w; the record is complete up to the previous interval", l.file.Name(), err)
	}
	return nil
}
