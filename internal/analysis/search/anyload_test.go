package search

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/test/testkit"
)

// alwaysLate is a service of which a share of the requests takes 300 ms, of which 100 are
// wanted, at any load.
func alwaysLate(servers int, share float64) kind {
	return kind{name: fmt.Sprintf("%d servers, always %g%% late", servers, 100*share), limit: .1, late: .01, bad: -1, truth: 1,
		fresh: func(*world) service { return newServers(servers, mixed(.008, .3, share)) }}
}

// That no load meets an objective is stated of services of which it is true, and of no other;
// these keep their answers.
func TestSomeServicesMeetTheirObjectiveAtNoLoad(t *testing.T) {
	n := testkit.Samples(4, 10, 50)
	stated := func(k kind) (surely, perhaps, answers int) {
		others := map[Ended]int{}
		for _, r := range k.searched(n, func(c *Config) { c.After = time.Minute }) {
			switch {
			case r.Why.Kind == finding.LateAtAnyLoad:
				surely++
				if r.Ended != Lowest || r.Load != 0 || r.Why.Share <= k.late || r.Why.Load <= 0 {
					t.Errorf("%s: %+v", k.name, r)
				}
			case r.Why.Kind == finding.PerhapsLateAtAnyLoad:
				perhaps++
			case r.Load > 0:
				answers++
			default:
				others[r.Ended]++
			}
		}
		t.Logf("| %s | %d | no load %d, perhaps %d | answers %d, others %v |", k.name, n, surely, perhaps, answers, others)
		return surely, perhaps, answers
	}
	for _, k := range []kind{alwaysLate(3, .03), alwaysLate(8, .025), alwaysLate(32, .02)} {
		if surely, _, answers := stated(k); 4*surely < 3*n || 10*answers > n {
			t.Errorf("%s: stated in %d of %d searches, and %d have an answer", k.name, surely, n, answers)
		}
	}
	falsely, lost, all := 0, 0, 0
	for _, k := range slices.Concat(odd[:5], []kind{alwaysLate(3, .003), alwaysLate(8, .005), alwaysLate(32, .005)}) {
		surely, perhaps, _ := stated(k)
		falsely, lost, all = falsely+surely, lost+perhaps, all+n
	}
	if 200*falsely > all || 50*lost > all {
		t.Errorf("of %d searches of services that meet it, %d state that none does, and %d that perhaps none does", all, falsely, lost)
	}
}
