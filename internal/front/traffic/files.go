package traffic

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/millicore/millicore/internal/base/safefile"
)

// Writable creates a file that will be written later; an existing one stays as it is. ""
// is no file.
func Writable(file string) error {
	if file == "" {
		return nil
	}
	f, err := safefile.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o644)
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
	return safefile.WriteFile(to, data, 0o644)
}
