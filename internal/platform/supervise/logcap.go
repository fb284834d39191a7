package supervise

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/data/record"
)

// The log of a replica keeps its first and its last LogPart bytes. The replica writes into
// the file itself, so that no process copies its output, and a hole is punched behind the
// first part while it grows. When the log is closed, the hole becomes one line.

// LogPart is how much of the begin, and of the end, of a log is kept.
const LogPart = 8 << 20

const (
	logEvery = 50 * time.Millisecond // between two looks at the size
	logGrain = 4 << 20               // how much a hole grows at a time
)

// limiter bounds a log.
type limiter struct {
	file *os.File
	stop chan struct{}
	done chan struct{}

	mu      sync.Mutex
	hole    int64 // its end in the file; 0: none
	cut     int64 // bytes that were cut off at the end, where holes cannot be made
	dropped int64 // of a log that was closed
}

func newLimiter(file *os.File) *limiter {
	m := &limiter{file: file, stop: make(chan struct{}), done: make(chan struct{})}
	go m.run()
	return m
}

func (m *limiter) run() {
	defer close(m.done)
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.bound(logGrain)
		case <-m.stop:
			return
		}
	}
}

// bound frees what lies between the two parts, if it is at least grain bytes.
func (m *limiter) bound(grain int64) {
	info, err := m.file.Stat()
	if err != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to := max(LogPart, m.hole), (info.Size()-LogPart)&^(1<<16-1)
	if to-from < grain {
		return
	}
	if punch(m.file, from, to-from) == nil {
		m.hole = to
		return
	}
	// A file system without holes: only the first part is kept.
	if m.file.Truncate(LogPart) == nil {
		m.cut += info.Size() - LogPart
	}
}

// now is how many bytes were dropped so far.
func (m *limiter) now() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hole == 0 {
		return m.cut + m.dropped
	}
	return m.cut + m.hole - LogPart
}

// close ends the watching, and writes the two parts of a log with a hole into a new file,
// with a line between them.
func (m *limiter) close() error {
	close(m.stop)
	<-m.done
	m.bound(1)
	dropped := m.now()
	if dropped == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name := m.file.Name()
	// The folder may be another user's.
	if err := safefile.For(name, func() error { return m.shorten(name, dropped) }); err != nil {
		return fmt.Errorf("shorten the log %s: %w", name, err)
	}
	m.dropped, m.hole, m.cut = dropped, 0, 0
	return nil
}

// shorten replaces the file of the log by its two parts, with a line between them.
func (m *limiter) shorten(name string, dropped int64) error {
	whole, err := safefile.TempFile(filepath.Dir(name), record.LogUnfinished)
	if err != nil {
		return err
	}
	defer os.Remove(whole.Name()) // fails after the rename
	end := int64(LogPart)
	if m.hole != 0 {
		end = m.hole
	}
	_, err = io.Copy(whole, io.NewSectionReader(m.file, 0, LogPart))
	if err == nil {
		_, err = fmt.Fprintf(whole, "\nmillicore: %d bytes of the output were dropped here: a log keeps its first and its last %d MiB\n", dropped, LogPart>>20)
	}
	if err == nil {
		_, err = io.Copy(whole, io.NewSectionReader(m.file, end, 1<<62))
	}
	if err = errors.Join(err, whole.Close()); err != nil {
		return err
	}
	return os.Rename(whole.Name(), name)
}
