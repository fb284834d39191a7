package meter

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/proc"
)

func TestThreadsBetweenTwoReadings(t *testing.T) {
	const ms = time.Millisecond
	before := map[int]proc.Schedstat{1: {Ran: 10 * ms, Waited: 10 * ms}, 2: {Ran: 900 * ms}, 3: {Ran: 5 * ms, Waited: 5 * ms}, 9: {Ran: time.Second}}
	now := map[int]proc.Schedstat{
		1: {Ran: 410 * ms, Waited: 80 * ms},  // it ran 400 ms of 500 and waited 70: full
		2: {Ran: 130 * ms, Waited: 370 * ms}, // another thread with its number: it shares a CPU
		3: {Ran: 6 * ms, Waited: 5 * ms},     // it slept
		4: {Ran: 30 * ms},                    // it is new
	}
	got := threadsBetween(before, now, 0.5)
	want := &signals.Threads{Seconds: 0.5, Count: 4, Full: 1, Top: 0.5}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
		t.Error(d)
	}
}
