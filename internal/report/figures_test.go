package report

import (
	"testing"

	"github.com/millicore/millicore/internal/display"
)

func TestAlignedPutsDecimalPointsUnderOneAnother(t *testing.T) {
	got := aligned([]string{"130", "78.0", "0.190", display.Absent})
	want := []string{"130    ", "78.0  ", "0.190", display.Absent + "    "}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("aligned[%d] = %q, want %q", i, got[i], want[i])
		}
	}
}

func TestSnakeNamesColumns(t *testing.T) {
	for in, want := range map[string]string{"procs": "procs", "maxProcs": "max_procs", "GOMAXPROCS": "gomaxprocs", "cpu-limit": "cpu_limit", "a.b": "a_b"} {
		if got := snake(in); got != want {
			t.Errorf("snake(%q) = %q, want %q", in, got, want)
		}
	}
}
