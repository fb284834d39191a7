package narrative

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

// golden compares sentences, by what they are about, with a file of testdata that
// was read by a person, or writes the file with -update. A test of a finding does
// not rest on it alone.
func golden(t *testing.T, name string, got map[string]string) {
	t.Helper()
	var b strings.Builder
	for _, about := range slices.Sorted(maps.Keys(got)) {
		fmt.Fprintf(&b, "# %s\n%s\n\n", about, got[about])
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run go test -update and read what it writes", err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("differs from %s (-want +got):\n%s", file, diff)
	}
}
