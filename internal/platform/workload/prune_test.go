package workload

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// aged makes a folder with a file in it that was used so many days ago.
func aged(t *testing.T, days int, path ...string) {
	t.Helper()
	dir := filepath.Join(path...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	age(t, dir, days)
}

func age(t *testing.T, path string, days int) {
	t.Helper()
	then := time.Now().AddDate(0, 0, -days)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

// names are those of what lies in a folder, in their order.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestInstallationsThatNoRunHasUsedForLongAreRemoved(t *testing.T) {
	m := newMachine(t)
	m.node(t, "v20.19.0")
	m.npm(t)
	scripts := filepath.Dir(filepath.Dir(m.find(t, "node").Commands["node"][1]))
	packages, cache := filepath.Dir(scripts), m.finder.Cache

	aged(t, 31, cache, "0123456789abcdef")
	aged(t, 400, cache, "0123456789abcdef-node")
	aged(t, 29, cache, "fedcba9876543210")
	aged(t, 31, cache, "unfinished-123")
	aged(t, 1, cache, "unfinished-456")
	aged(t, 400, cache, "somebody-elses")
	aged(t, 400, cache, "0123456789abcdef.bak")
	if err := os.WriteFile(filepath.Join(cache, "00000000000000ff"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	age(t, filepath.Join(cache, "00000000000000ff"), 400)
	aged(t, 31, packages, "0123456789abcdef")
	aged(t, 29, packages, "fedcba9876543210")
	age(t, filepath.Join(packages, "node_modules"), 400)
	age(t, scripts, 400)
	age(t, packages, 400)
	m.lines = nil

	if again := m.find(t, "node").Commands["node"][1]; filepath.Dir(filepath.Dir(again)) != scripts {
		t.Errorf("the scripts lie in %s, and lay in %s", again, scripts)
	}
	want := []string{"00000000000000ff", "0123456789abcdef.bak", filepath.Base(packages), "fedcba9876543210", "somebody-elses", "unfinished-456"}
	slices.Sort(want)
	if d := cmp.Diff(want, names(t, cache)); d != "" {
		t.Errorf("the cache holds (-want +got):\n%s", d)
	}
	want = []string{filepath.Base(scripts), "fedcba9876543210", "node_modules", "package-lock.json", "package.json"}
	slices.Sort(want)
	if d := cmp.Diff(want, names(t, packages)); d != "" {
		t.Errorf("the packages' folder holds (-want +got):\n%s", d)
	}
	if calls := m.npmCalls(t); len(calls) != 1 {
		t.Errorf("npm ran %d times: what is in use was removed", len(calls))
	}
	if len(m.lines) != 4 || !strings.Contains(strings.Join(m.lines, "\n"), "removed "+filepath.Join(cache, "0123456789abcdef")+",") {
		t.Errorf("it reported %q, want each of the four that it removed", m.lines)
	}
}

// Two versions of millicore in turn do not remove one another's packages: each
// use counts, not the installing.
func TestAnInstallationInUseStaysYoung(t *testing.T) {
	m := newMachine(t)
	m.node(t, "v20.19.0")
	m.npm(t)
	scripts := filepath.Dir(filepath.Dir(m.find(t, "node").Commands["node"][1]))
	for _, dir := range []string{scripts, filepath.Dir(scripts)} {
		age(t, dir, 400)
	}
	m.find(t, "node")
	for _, dir := range []string{scripts, filepath.Dir(scripts)} {
		if info, err := os.Stat(dir); err != nil || time.Since(info.ModTime()) > 24*time.Hour {
			t.Errorf("%s was used now, and passes for unused: %v", dir, err)
		}
	}
}
