package attached

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/millicore/millicore/internal/host/proc"
)

func TestDescendantsOfAProcess(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"10/task/10/children": "11 12 ",
		"10/task/15/children": "13 ", // of another thread
		"11/task/11/children": "14 ",
		"12/task/12/children": "",
		"20/task/20/children": "21 ",
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := descendants(root, 10)
	if got[0] != 10 {
		t.Errorf("%v, want the process itself first", got)
	}
	if slices.Sort(got); !slices.Equal(got, []int{10, 11, 12, 13, 14}) {
		t.Errorf("%v, want 10 to 14", got)
	}
}

// A master with two workers: one ends, and another process gets its pid.
func TestCPUOfAFamilyNeverDecreases(t *testing.T) {
	stats := map[int]proc.Stat{1: {Started: 5, Ticks: 100, Resident: 10}, 2: {Started: 6, Ticks: 200, Resident: 20}, 3: {Started: 7, Ticks: 300, Resident: 30}}
	f := newFamily(1)
	f.members = func() []int { return []int{1, 2, 3} }
	f.stat = func(pid int) (proc.Stat, error) {
		if s, ok := stats[pid]; ok {
			return s, nil
		}
		return proc.Stat{}, errors.New("no such process")
	}
	pages := int64(os.Getpagesize())
	read := func(cpu float64, memory int64) {
		t.Helper()
		c, err := f.counters()
		if err != nil || *c.CPU != cpu || *c.Memory != memory*pages {
			t.Errorf("%v, %v s, %v bytes; want %v s, %v pages", err, *c.CPU, *c.Memory, cpu, memory)
		}
	}
	read(0, 60)
	stats[1], stats[2] = proc.Stat{Started: 5, Ticks: 110, Resident: 10}, proc.Stat{Started: 6, Ticks: 250, Resident: 25}
	read(0.6, 65)
	delete(stats, 2)
	read(0.6, 40)
	stats[2] = proc.Stat{Started: 99, Ticks: 3, Resident: 1}
	read(0.6, 41)
	stats[2] = proc.Stat{Started: 99, Ticks: 13, Resident: 1}
	read(0.7, 41)
	delete(stats, 1)
	if _, err := f.counters(); err == nil {
		t.Error("a family without its first process is read")
	}
}
