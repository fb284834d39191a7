package auto

import (
	"runtime/debug"
	"testing"

	"github.com/millicore/millicore/maxprocs/memlimit"
)

func TestResult(t *testing.T) {
	now := debug.SetMemoryLimit(-1)
	if r := Result(); r.After != now || (r.Why == memlimit.FromLimit) != (now < r.Limit.Bytes) {
		t.Errorf("got %+v with GOMEMLIMIT %d", r, now)
	}
	if Undo(); Result().Why == memlimit.FromLimit && debug.SetMemoryLimit(-1) != memlimit.None {
		t.Error("it is not undone")
	}
}
