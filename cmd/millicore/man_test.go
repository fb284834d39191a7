package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Each command that help lists has a manual page.
func TestManualPages(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "man")
	if code := run([]string{"man", folder}); code != 0 {
		t.Fatalf("exit code %d, want 0", code)
	}
	for _, c := range command().Commands() {
		if c.Hidden {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, "millicore-"+c.Name()+".1")); err != nil {
			t.Error(err)
		}
	}
}
