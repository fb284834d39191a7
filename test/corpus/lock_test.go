package corpus

import (
	"math"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// A lock of 4.8 ms beside work that uses 90 to 97% of the limit breaks at 153 requests/s with
// and without it. The record has no search without it.
func TestALockNearTheLimitIsNotCalledTheLimit(t *testing.T) {
	for seed, work := range map[uint64]float64{5: 4.37, 13: 4.62, 15: 4.18, 17: 4.66} {
		b := found(t, Service{Workers: 16, Work: Fixed(millis(work)), Lock: millis(4.8)}, seed)
		if b.LimitedBy != summary.ByService {
			t.Errorf("seed %d: limited by %s: %s", seed, b.LimitedBy, b.Evidence)
		}
	}
}

// The limit breaks these: two to eight workers, whose work varies or not, with and without
// calls.
func TestTheLimitIsNamed(t *testing.T) {
	for seed, s := range map[uint64]Service{
		1: {Workers: 2, Work: Fixed(4 * ms)}, 2: {Workers: 8, Work: Exponential(4 * ms)}, 3: {Workers: 4, Work: Mixed(2*ms, 20*ms, 0.1)},
		4: {Workers: 64, Work: Exponential(4 * ms), Call: Exponential(5 * ms)},
	} {
		if b := found(t, s, seed); !strings.Contains(byLimit, b.LimitedBy) || b.LimitedBy == "" {
			t.Errorf("seed %d: limited by %q: %s", seed, b.LimitedBy, b.Evidence)
		}
	}
}

// found is the breaking point of a service under one CPU.
func found(t *testing.T, s Service, seed uint64) *summary.BreakingPoint {
	t.Helper()
	return summaryOf(t, &Case{Name: "one", File: find("one", alone, "1", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: s})}, seed).Cells[0].Breaking
}

// A pool of eight waits for a dependency 9 of 10 ms. Whether its size or the dependency
// limits it is not known; that requests wait is.
func TestTheReasonHasTheWaitsThatTheServiceReports(t *testing.T) {
	b := found(t, Service{Workers: 8, Work: Fixed(ms), Call: Fixed(9 * ms), Blocking: true, Reports: true}, 1)
	waits := b.Shown[len(b.Shown)-1]
	if b.LimitedBy != summary.ByService || waits.Kind != finding.AlsoWaited || math.Abs(waits.Other-9) > 0.2 || math.Abs(waits.Value-10) > 0.5 {
		t.Errorf("limited by %s: %+v", b.LimitedBy, b.Shown)
	}
}
