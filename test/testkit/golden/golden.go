// Package golden compares what a test produced with files of its testdata, which a
// person has read. go test -update writes the files.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files of testdata, and what is generated")

// Updating reports whether files are to be written: -update.
func Updating() bool { return *update }

// Check compares a text with the file testdata/name, or writes the file.
func Check(t testing.TB, name, got string) {
	t.Helper()
	File(t, filepath.Join("testdata", name), got)
}

// File compares a text with a file anywhere, or writes that file.
func File(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run go test -update and read what it writes", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("differs from %s (-want +got); if the change is intended, run go test -update here and read the file:\n%s", file, diff)
	}
}
