package local

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// output is the file that a replica writes its standard output and error into.
// Millicore's own lines in it begin with "millicore:".
type output struct {
	file *os.File
}

// openOutput opens the log of a replica; one that exists is continued.
func openOutput(folder, name string) (*output, error) {
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return &output{file: file}, nil
}

// note writes a line of millicore's own. A full disk is no reason to stop.
func (o *output) note(format string, args ...any) {
	fmt.Fprintf(o.file, "millicore: %s "+format+"\n", append([]any{time.Now().Format("15:04:05.000")}, args...)...)
}

// Bounds of a tail.
const (
	tailLines = 20
	tailBytes = 4 << 10
)

// tail returns the last lines of the log, indented, and "" if there are none.
func (o *output) tail() string {
	info, err := o.file.Stat()
	if err != nil {
		return ""
	}
	text := make([]byte, min(info.Size(), tailBytes))
	if _, err := o.file.ReadAt(text, info.Size()-int64(len(text))); err != nil && err != io.EOF {
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
