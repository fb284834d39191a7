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
	got := threadsBetween(before, now, map[int]bool{1: true, 4: true}, 0.5)
	want := &signals.Threads{Seconds: 0.5, Count: 4, Full: 1, Top: 0.5, Collector: 0.43, Awake: 0.53}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
		t.Error(d)
	}
}

// The names are of 15 bytes: HotSpot's with G1, Parallel, Serial, Z and Shenandoah, and .NET's.
func TestThreadsThatCollectGarbage(t *testing.T) {
	for name, want := range map[string]bool{
		"GC Thread#0": true, "G1 Main Marker": true, "G1 Conc#0": true, "VM Thread": true, "ZWorkerYoung#0": true,
		"ZDriverMajor": true, "Shenandoah GC T": true, ".NET Server GC": true, ".NET BGC": true,
		"http-nio-8080-e": false, "C2 CompilerThre": false, "node": false, "G1000": false, "VM Periodic Tas": false, "": false,
	} {
		if collector(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
