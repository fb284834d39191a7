package given

import (
	"os"
	"runtime"
	"testing"
)

func TestParseStat(t *testing.T) {
	const rest = " S 1 2 2 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 9 0 100 123456 789 18446744073709551615 1"
	for _, name := range []string{"(x)", "(a b)", "(:) ) (x)", "()"} {
		cpu, pages, ok := parseStat([]byte("42 " + name + rest))
		if !ok || cpu != 2 || pages != 789 {
			t.Errorf("%s: %v s, %d pages, %v", name, cpu, pages, ok)
		}
	}
	for _, bad := range []string{"", "42 (x)", "42 (x) S 1 2", "42 (x) S 1 2 2 0 -1 4194560 1 2 3 4 x 50 0 0 20 0 9 0 100 123456 789 1"} {
		if _, _, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q is taken", bad)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (x) S 1 2 2 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 9 0 100 123456 789 1"))
	f.Fuzz(func(_ *testing.T, stat []byte) { parseStat(stat) })
}

func TestThisProcessIsObserved(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux's /proc")
	}
	c, err := processCounters(os.Getpid())
	if err != nil || *c.Memory < 1<<20 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := processCounters(1 << 30); err == nil {
		t.Error("a process that is none is there")
	}
}
