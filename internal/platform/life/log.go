package life

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Log is the file that a replica writes its standard output and error into.
// Millicore's own lines in it begin with "millicore:".
type Log struct {
	File *os.File
}

// OpenLog opens the log of a replica; one that exists is continued.
func OpenLog(folder, name string) (*Log, error) {
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return &Log{File: file}, nil
}

// Note writes a line of millicore's own. A full disk is no reason to stop.
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
