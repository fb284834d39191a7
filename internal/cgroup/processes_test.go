package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// procs makes groups with the text of their cgroup.procs, by their paths below a new
// directory, which it returns.
func procs(t *testing.T, groups map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "top")
	for name, text := range groups {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "cgroup.procs"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestGroupsOfATree(t *testing.T) {
	dir := procs(t, map[string]string{"": "", "below": "", "below/deeper": "", "leaf": ""})
	at := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, filepath.Join(dir, name))
		}
		return all
	}
	for except, want := range map[string][]string{"": at("", "below", "below/deeper", "leaf"), at("leaf")[0]: at("", "below", "below/deeper"), at("below")[0]: at("", "leaf")} {
		if got, err := Tree(dir, except); err != nil || !slices.Equal(got, want) {
			t.Errorf("without %q: %q, %v; want %q", except, got, err, want)
		}
	}
	if got, err := Tree(filepath.Join(dir, "gone"), ""); err != nil || got != nil {
		t.Errorf("a group that is gone: %q, %v", got, err)
	}
}

func TestProcessesOfAGroup(t *testing.T) {
	dir := procs(t, map[string]string{"": "7\n0\n8\n", "below": "9\n", "broken": "x\n"})
	for name, want := range map[string][]int{"": {7, 8}, "below": {9}, "gone": nil} {
		if got, err := Processes(filepath.Join(dir, name)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", name, got, err, want)
		}
	}
	if _, err := Processes(filepath.Join(dir, "broken")); !errors.Is(err, ErrMalformed) {
		t.Errorf("a file that is not the kernel's: %v", err)
	}
}
