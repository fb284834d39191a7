package safefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/test/testkit/racing"
)

// A user who replaces names by links while root uses them gets nothing of root's changed.
func TestLinksLeadRootNowhere(t *testing.T) {
	for name, work := range map[string]func(path string) error{
		"a new file":      func(path string) error { return safefile.WriteFile(path, []byte("x"), 0o644) },
		"a replaced file": func(path string) error { return safefile.Replace(path, []byte("x"), 0o600) },
		"a new folder":    func(path string) error { return safefile.MkdirAll(filepath.Join(filepath.Dir(path), "a/b"), 0o755) },
		"an existing file": func(path string) error {
			file, err := safefile.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = file.WriteString("x")
			return err
		},
		"a removal": func(path string) error {
			if err := safefile.WriteFile(path, nil, 0o644); err != nil {
				return err
			}
			return safefile.For(path, func() error { return os.Remove(path) })
		},
	} {
		t.Run(name, func(t *testing.T) { racing.Links(t, work) })
	}
}
