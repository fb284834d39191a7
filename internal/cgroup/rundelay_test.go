package cgroup

import (
	"maps"
	"path/filepath"
	"testing"
	"time"
)

func TestRunDelays(t *testing.T) {
	root := t.TempDir()
	write := func(tid, text string) {
		writeFile(t, filepath.Join(root, "proc/self/task", tid, "schedstat"), []byte(text), false)
	}
	delays := NewFS(root).RunDelays
	if got := delays(); got.State() != Absent {
		t.Errorf("without threads: got %v", got)
	}
	write("7", "0 0 0\n")
	if got := delays(); got.State() != Absent {
		t.Errorf("a kernel that does not account them: got %v", got)
	}
	write("8", "5000 1234 2\n")
	writeFile(t, filepath.Join(root, "proc/self/task/9"), nil, true)
	if got, _ := delays().Get(); !maps.Equal(got, map[int]time.Duration{7: 0, 8: 1234}) {
		t.Errorf("got %v, want 0 and 1.234µs", got)
	}
	write("8", "5000 1234\n")
	if got := delays(); got.State() != Unreadable {
		t.Errorf("got %v, want unreadable", got)
	}
}
