package traffic

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/millicore/millicore/internal/rights"
)

// WriteHgrm writes the percentiles of the latencies in milliseconds, in the text format of
// HdrHistogram's plotter.
func WriteHgrm(file string, r *Result) error {
	var text bytes.Buffer
	const perHalf, scale = 5, 1000 // microseconds in a millisecond
	if _, err := r.Client.Latency.HDR().PercentilesPrint(&text, perHalf, scale); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := rights.WriteFile(file, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write --hgrm: %w", err)
	}
	return nil
}

// Writable creates a file that will be written later; an existing one stays as it is. ""
// is no file.
func Writable(file string) error {
	if file == "" {
		return nil
	}
	f, err := rights.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write %s: its folder does not exist; make it first (mkdir -p %s)", file, filepath.Dir(file))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return f.Close()
}

// CopyFile copies a file of the record.
func CopyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return rights.WriteFile(to, data, 0o644)
}
