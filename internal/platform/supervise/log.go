package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/base/safefile"
)

// Log is the file with the standard output and error of a replica. Lines that
// Millicore adds begin with "millicore:".
type Log struct {
	File *os.File
	// Removed means that the file is removed before anybody reads an error: Explain does
	// not name it.
	Removed bool

	limit *limiter // nil: it is not bounded
}

// OpenLog opens the log of a replica. It appends to an existing file.
func OpenLog(folder, name string) (*Log, error) {
	file, err := safefile.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return &Log{File: file}, nil
}

// Bound keeps the first and the last LogPart bytes of the log from now on.
func (o *Log) Bound() { o.limit = newLimiter(o.File) }

// Dropped is how many bytes of the output are not in the log.
func (o *Log) Dropped() int64 {
	if o.limit == nil {
		return 0
	}
	return o.limit.now()
}

// Close closes the log of a replica whose processes have ended. Nothing else may write
// into it any more.
func (o *Log) Close() error {
	var err error
	if o.limit != nil {
		err = o.limit.close()
	}
	return errors.Join(err, o.File.Close())
}

// Note adds a line of Millicore's. It ignores errors: a full disk must not end a
// trial.
func (o *Log) Note(format string, args ...any) {
	fmt.Fprintf(o.File, "millicore: %s "+format+"\n", append([]any{time.Now().Format("15:04:05.000")}, args...)...)
}

// Bounds of a tail.
const (
	tailLines = 20
	tailBytes = 4 << 10
)

// Tail returns the last lines of the log, indented, and "" if there are none.
func (o *Log) Tail() string {
	info, err := o.File.Stat()
	if err != nil {
		return ""
	}
	text := make([]byte, min(info.Size(), tailBytes))
	if _, err := o.File.ReadAt(text, info.Size()-int64(len(text))); err != nil && err != io.EOF {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	var b strings.Builder
	for _, line := range lines {
		if line != "" {
			b.WriteString("\n\t" + line)
		}
	}
	return b.String()
}

// Explain adds the reason to the error of a replica that did not become ready, and
// the end of its log. died describes how it ended; where describes the address
// that was probed, and may return "".
func (o *Log) Explain(ctx context.Context, err error, died, where func() string) error {
	switch {
	case errors.Is(err, ErrDied):
		err = fmt.Errorf("%w: %s", ErrDied, died())
	case context.Cause(ctx) != nil:
		err = fmt.Errorf("%w (%w)%s", context.Cause(ctx), err, where())
	}
	return fmt.Errorf("%w%s", err, o.end())
}

// end are the last lines of the log, to follow the description of an end or an error.
func (o *Log) end() string {
	tail := o.Tail()
	switch {
	case o.Removed && tail == "":
		return "; it has no output"
	case o.Removed:
		return "; the end of its output:" + tail
	case tail == "":
		return "; " + o.File.Name() + " is empty"
	}
	return "; the end of " + o.File.Name() + ":" + tail
}
