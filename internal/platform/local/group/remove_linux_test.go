package group

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The processes of groups below a group are its own, but for those of one that is left out.
func TestProcessesOfATree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	for name, text := range map[string]string{"": "7\n0\n8\n", "below": "9\n", "below/deeper": "10\n", leaf: "11\n"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "cgroup.procs"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for except, want := range map[string][]int{"": {7, 8, 9, 10, 11}, filepath.Join(dir, leaf): {7, 8, 9, 10}} {
		got, err := pids(dir, except)
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("without %q: pids %v, %v; want %v", except, got, err, want)
		}
	}
}

// What is not there has no processes, and is removed.
func TestAGroupThatIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if got, err := pids(dir, ""); err != nil || got != nil {
		t.Errorf("pids %v, %v", got, err)
	}
	if err := remove(dir, ""); err != nil {
		t.Error(err)
	}
}
