package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/base/safefile"
)

// Append opens an existing record of this format for appending, for example after a crash
// of its writer. It removes an incomplete last line. Only one writer may use the record.
func Append(dir string) (*Writer, error) {
	r, err := Own.Open(dir)
	if err != nil {
		return nil, err
	}
	if r.Run.Version != Version {
		return nil, fmt.Errorf("append to record %s: it has format %d, this program writes %d", dir, r.Run.Version, Version)
	}
	if err := safefile.MkdirAll(filepath.Join(dir, LogsDir), DirMode); err != nil {
		return nil, fmt.Errorf("append to record: %w", err)
	}
	Sweep(dir)
	w := &Writer{dir: dir}
	if w.root, err = os.OpenRoot(dir); err != nil {
		return nil, fmt.Errorf("append to record: %w", err)
	}
	if err := w.open(appendLines); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if w.hlog, err = appendHlog(filepath.Join(dir, LatencyFile), r.Run.Experiment, r.Run.Started); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// DropUnbegun removes what Create left in a folder if it was killed before run.json was
// there: there is nothing to append to, and Create needs an empty folder. It removes
// nothing else.
func DropUnbegun(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == RunFile }) {
		return nil
	}
	for _, e := range entries {
		if e.Name() == LogsDir || strings.HasPrefix(e.Name(), safefile.Unfinished(RunFile)) {
			name := filepath.Join(dir, e.Name())
			err = errors.Join(err, safefile.For(name, func() error { return os.Remove(name) }))
		}
	}
	return err
}

func appendLines(path string) (*lines, error) {
	f, _, err := cutTorn(path)
	if err != nil {
		return nil, err
	}
	return &lines{file: f, out: bufio.NewWriter(f)}, nil
}

// cutTorn opens or creates a file of lines, and removes everything after its last line
// end. It returns the remaining size.
func cutTorn(path string) (*os.File, int64, error) {
	f, err := safefile.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, FileMode)
	if err != nil {
		return nil, 0, fmt.Errorf("append to record: %w", err)
	}
	size, err := wholeLines(f)
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("append to %s: %w", path, err), f.Close())
	}
	return f, size, nil
}

// wholeLines is the size of a file up to its last line end. It searches from the end: an
// incomplete line is short, and the file may be long.
func wholeLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	block := make([]byte, 64<<10)
	for end := info.Size(); end > 0; {
		begin := max(0, end-int64(len(block)))
		part := block[:end-begin]
		if _, err := f.ReadAt(part, begin); err != nil && err != io.EOF {
			return 0, err
		}
		if at := bytes.LastIndexByte(part, '\n'); at >= 0 {
			return begin + int64(at) + 1, nil
		}
		end = begin
	}
	return 0, nil
}
