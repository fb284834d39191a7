package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
)

func TestRealWatch(t *testing.T) {
	r := newRealGroup(t)
	cpu, memory := r.at(t).Watch(CPU), r.at(t).Watch(Memory)
	defer cpu.Close()
	defer memory.Close()
	want := func(what string, w *Watch, changed bool) {
		t.Helper()
		if got := w.Changed(); got != changed {
			t.Errorf("%s: got %v, want %v", what, got, changed)
		}
	}
	want("nothing", cpu, false)
	want("nothing", memory, false)
	limitCPU(t, r.version, r.dir(t, CPU), 50000)
	want("a limit", cpu, true)
	want("another controller's", memory, false)
	r.limitMemory(t, 64<<20)
	want("a limit", memory, true)
	for _, dir := range r.dirs {
		// Two controllers of one hierarchy have the same group.
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	want("the group is removed", cpu, true)
	want("the group is removed", memory, true)
}

// BenchmarkWatch is what it costs to notice that a limit has not changed.
func BenchmarkWatch(b *testing.B) {
	r := newRealGroup(b)
	w := r.at(b).Watch(CPU)
	defer w.Close()
	b.Run(fmt.Sprint(w.Files(), "-files"), func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; i < b.N; i++ {
			if w.Changed() {
				b.Fatal("it has changed")
			}
		}
	})
}
