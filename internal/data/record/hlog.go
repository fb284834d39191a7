package record

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Hlog writes latency.hlog: an HdrHistogram interval log (format version 1.2), for tools
// such as HistogramLogAnalyzer. It has one line per interval and agent, tagged with the
// label of the cell. Values are in microseconds, Interval_Max in seconds. The warm-up is
// left out.
type Hlog struct {
	file *os.File
	buf  *bufio.Writer
	base int64 // the start of its times, in ms since the epoch
	tags []string

	at     int64 // bytes written, and where which trials are in them
	trials []trialPart
	dirty  bool
}

// trialPart is a part of the log with lines of one trial.
type trialPart struct {
	trial    int
	from, to int64
}

// CreateHlog starts the log in a new file.
func CreateHlog(path string, e *experiment.Experiment, base time.Time) (*Hlog, error) {
	f, err := safefile.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, FileMode)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	h := newHlog(f, e, base)
	head := hdrhistogram.NewHistogramLogWriter(h.buf)
	err = errors.Join(
		head.OutputComment("[Latency of the experiment "+e.Name+" in microseconds; Interval_Max in seconds]"),
		head.OutputLogFormatVersion(),
		head.OutputBaseTime(h.base),
		head.OutputStartTime(h.base),
		head.OutputLegend(),
	)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create %s: %w", path, err), f.Close())
	}
	return h, nil
}

// appendHlog opens the log of a record for appending, or creates it.
func appendHlog(path string, e *experiment.Experiment, base time.Time) (*Hlog, error) {
	f, size, err := cutTorn(path)
	if err != nil {
		return nil, err
	}
	if size > 0 {
		return newHlog(f, e, base), nil
	}
	if err := errors.Join(f.Close(), safefile.For(path, func() error { return os.Remove(path) })); err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	return CreateHlog(path, e, base)
}

func newHlog(f *os.File, e *experiment.Experiment, base time.Time) *Hlog {
	h := &Hlog{file: f, buf: bufio.NewWriter(f), base: baseOf(base)}
	for i := range e.Cells {
		h.tags = append(h.tags, Tag(&e.Cells[i]))
	}
	return h
}

// baseOf is the start of the log's times in ms, rounded to the seconds of its header.
func baseOf(base time.Time) int64 { return base.Unix() * 1000 }

// Tag is the label of a cell without the characters that the format does not allow:
// commas, spaces and line ends.
func Tag(c *experiment.Cell) string {
	return strings.Map(func(r rune) rune {
		if r == ',' || r <= ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, c.Label())
}

// Frame appends the histogram of a client frame of the measured part; it ignores others.
func (h *Hlog) Frame(f *signals.Frame) error {
	if f.Client == nil || f.Client.Latency == nil || f.Phase == signals.Warmup || f.Phase == signals.Vary ||
		f.Client.Latency.Count() == 0 || f.Cell < 0 || f.Cell >= len(h.tags) {
		return nil
	}
	h.dirty = true
	text, err := f.Client.Latency.Encoded()
	if err != nil {
		return fmt.Errorf("append to %s: %w", h.file.Name(), err)
	}
	// The same as the library's writer, without encoding twice.
	n, err := fmt.Fprintf(h.buf, "Tag=%s,%f,%f,%f,%s\n", h.tags[f.Cell], float64(f.Start/1e6-h.base)/1e3,
		float64(f.End/1e6-f.Start/1e6)/1e3, f.Client.Latency.Max().Seconds(), text)
	if err != nil {
		return fmt.Errorf("append to %s: %w", h.file.Name(), err)
	}
	if k := len(h.trials); k == 0 || h.trials[k-1].trial != f.Trial {
		h.trials = append(h.trials, trialPart{f.Trial, h.at, h.at})
	}
	h.at += int64(n)
	h.trials[len(h.trials)-1].to = h.at
	return nil
}

// Sync writes the log to the disk.
func (h *Hlog) Sync() error {
	if !h.dirty {
		return nil
	}
	h.dirty = false
	return errors.Join(h.buf.Flush(), h.file.Sync())
}

// Close syncs and closes the log.
func (h *Hlog) Close() error {
	h.dirty = true // at least the header
	return errors.Join(h.Sync(), h.file.Close())
}

// ReplaceHlog replaces the log at path atomically; write fills the new one, with the frames of
// one trial after the other. The log has the trials in the order of their numbers.
func ReplaceHlog(path string, e *experiment.Experiment, base time.Time, write func(*Hlog) error) error {
	return safefile.For(path, func() error { return replaceHlog(path, e, base, write) })
}

func replaceHlog(path string, e *experiment.Experiment, base time.Time, write func(*Hlog) error) error {
	own, remove, err := safefile.TempDir(filepath.Dir(path), safefile.Unfinished(filepath.Base(path)))
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer remove() // two may replace the log at the same time
	temp := filepath.Join(own, filepath.Base(path))
	h, err := CreateHlog(temp, e, base)
	if err != nil {
		return err
	}
	err = write(h)
	if err == nil && !slices.IsSortedFunc(h.trials, byTrial) {
		h, err = h.sorted(e, base)
	}
	if err := errors.Join(err, safefile.LikeItsFolder(h.file, filepath.Dir(path)), h.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func byTrial(a, b trialPart) int { return cmp.Compare(a.trial, b.trial) }

// sorted replaces the file by one with the same lines in the order of the trials, and closes
// it. An error leaves the log as it is.
func (h *Hlog) sorted(e *experiment.Experiment, base time.Time) (*Hlog, error) {
	if err := h.buf.Flush(); err != nil {
		return h, err
	}
	info, err := h.file.Stat()
	if err != nil {
		return h, err
	}
	if err := os.Remove(h.file.Name()); err != nil {
		return h, err
	}
	out, err := CreateHlog(h.file.Name(), e, base)
	if err != nil {
		return h, err
	}
	head := info.Size() - h.at
	slices.SortStableFunc(h.trials, byTrial)
	for _, part := range h.trials {
		_, copied := io.Copy(out.buf, io.NewSectionReader(h.file, head+part.from, part.to-part.from))
		err = errors.Join(err, copied)
	}
	return out, errors.Join(err, h.file.Close())
}
