package capacity

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// One of 56 requests fails where 0.1% may: at most 0.05% are certain (Clopper and Pearson), so
// that a CPU limit which is used up is the cause. Of 56, 3 are at least 1.1%.
func TestAFewErrorsBesideAUsedLimitMayBeChance(t *testing.T) {
	for failed, want := range map[int64]string{0: summary.ByCPULimit, 1: summary.ByCPULimit, 3: summary.ByErrors} {
		f := fixture.Client(1, signals.Measure, 56-failed, 20*time.Millisecond)
		f.Client.Status["500"] = failed
		all := sums.New()
		all.Add(f, "go")
		all.Add(&signals.Frame{Trial: 1, Seq: 1, Phase: signals.Measure, Of: "go", Start: 1e9, End: 2e9, Server: &signals.Server{
			CPU: new(1.0), CPULimit: new(1.0), Periods: new(int64(10)), ThrottledPeriods: new(int64(10)), Throttled: new(1.0), Up: true}}, "go")
		below := sums.New()
		below.Add(f, "go")
		s := Stretch{Sums: all, below: below, over: []overload{{load: 56, sums: all}}, Open: true, Goal: objective.Goal{Objective: &experiment.Objective{Availability: 99.9}}}
		if by, shown := s.used(nil); by != want {
			t.Errorf("%d of 56 failed: %s, %+v", failed, by, shown)
		}
	}
}

// Three busy threads leave one of four CPUs idle, where others wait for a CPU as long as a
// quarter of the objective: it is not the host. 3.3 CPUs are no number of threads, and three
// threads never use 3.5 CPUs.
func TestBusyThreadsAreNotTheHost(t *testing.T) {
	for _, c := range []struct {
		even, odd float64 // CPUs of the even and the odd seconds
		want      string
	}{{3, 3, ""}, {3.3, 3.3, summary.ByHost}, {2.5, 3.5, summary.ByHost}} {
		all := sums.New()
		for seq := range 10 {
			cores := c.even
			if seq%2 == 1 {
				cores = c.odd
			}
			start, end := int64(seq)*1e9, int64(seq+1)*1e9
			all.Add(fixture.Client(seq, signals.Measure, 309, 100*time.Millisecond), "go")
			all.Add(&signals.Frame{Trial: 1, Seq: seq, Phase: signals.Measure, Of: "go", Start: start, End: end, Server: &signals.Server{CPU: &cores, Up: true}}, "go")
			all.Add(&signals.Frame{Trial: 1, Seq: seq, Phase: signals.Measure, Start: start, End: end, Host: &signals.Host{CPUs: 4, Idle: 4 - cores, Busy: cores}}, "go")
		}
		goal := objective.Goal{Objective: &experiment.Objective{Quantile: "p99", Latency: 100 * time.Millisecond}}
		s := Stretch{Sums: all, Open: true, Goal: goal, over: []overload{{load: 310, sums: all}}}
		if by, shown := s.busy(); by != c.want {
			t.Errorf("%g and %g CPUs: limited by %q (%+v), want %q", c.even, c.odd, by, shown, c.want)
		}
	}
}
