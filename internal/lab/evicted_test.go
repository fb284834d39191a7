package lab

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/platform"
)

// The eviction of a replica, under load or during its start, ends the trial. The trial is
// repeated with a restarted service.
func TestATrialIsRepeatedAfterAnEviction(t *testing.T) {
	for _, kept := range []bool{false, true} {
		t.Run(fmt.Sprintf("kept=%v", kept), inBubble(func(t *testing.T) {
			l, f, log := testLab(t, shortExperiment, func(int, int) fakeLife { return fakeLife{} })
			l.Experiment.Measure.Kept = kept
			f.fails = func(trial int) error {
				if trial == 2 {
					return fmt.Errorf("the pod web-2 was removed: Shutdown (%w)", platform.ErrEvicted)
				}
				return nil
			}
			f.evicts = func(trial int) func() string {
				if trial == 1 {
					return func() string { return "the pod web-1 was removed: Evicted" }
				}
				return func() string { return "" }
			}
			if err := l.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			r := openRecord(t, l.Dir)
			want := []string{
				"1: cell 0, repeat 1, attempt 0: interrupted the pod web-1 was removed: Evicted",
				"2: cell 0, repeat 2, attempt 0: interrupted the pod web-2 was removed: Shutdown (evicted by the cluster)",
				"3: cell 0, repeat 1, attempt 0: done",
				"4: cell 0, repeat 2, attempt 0: done",
			}
			if d := cmp.Diff(want, outcomes(r)); d != "" || !r.Finished {
				t.Errorf("finished: %v; %s", r.Finished, d)
			}
			if n := count(clientFrames(t, r, 1)); n >= 3*10 {
				t.Errorf("%d frames of the evicted trial, want fewer than of a complete one", n)
			}
			if got := log.String(); !strings.Contains(got, "trial 1 (web): the pod web-1 was removed: Evicted; it will be repeated\n") {
				t.Errorf("the log says\n%s", got)
			}
		}))
	}
}

func TestAServiceThatIsEvictedTooOftenIsGivenUp(t *testing.T) {
	synctest.Test(t, testAServiceThatIsEvictedTooOftenIsGivenUp)
}

func testAServiceThatIsEvictedTooOftenIsGivenUp(t *testing.T) {
	l, f, log := testLab(t, shortExperiment, func(int, int) fakeLife { return fakeLife{} })
	f.evicts = func(int) func() string { return func() string { return "the pod was removed: Evicted" } }
	if err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no trial could be completed") {
		t.Errorf("%v, want that no trial could be completed", err)
	}
	if n := len(openRecord(t, l.Dir).Trials); n != 2+maxEvictions {
		t.Errorf("%d trials, want the 2 planned and %d more", n, maxEvictions)
	}
	if got := log.String(); strings.Count(got, string(giveUp)) != 2 {
		t.Errorf("the log says\n%s", got)
	}
}

// A service that is kept may be evicted between two trials.
func TestAKeptServiceIsRestartedAfterAnEviction(t *testing.T) {
	synctest.Test(t, testAKeptServiceIsRestartedAfterAnEviction)
}

func testAKeptServiceIsRestartedAfterAnEviction(t *testing.T) {
	l, f, log := testLab(t, shortExperiment, func(int, int) fakeLife { return fakeLife{} })
	l.Experiment.Measure.Kept = true
	var taken atomic.Bool
	f.evicts = func(trial int) func() string {
		return func() string {
			if trial == 1 && taken.Load() {
				return "the pod web-1 was removed: Evicted"
			}
			return ""
		}
	}
	l.Progress = func(p Progress) {
		if p.Trial == 1 && p.State.Ended() {
			taken.Store(true)
		}
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"1: cell 0, repeat 1, attempt 0: done", "2: cell 0, repeat 2, attempt 0: done"}
	if d := cmp.Diff(want, outcomes(openRecord(t, l.Dir))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{1, 2}, f.started); d != "" {
		t.Errorf("services were started for %v", f.started)
	}
	if got := log.String(); !strings.Contains(got, "trial 2 (web): the pod web-1 was removed: Evicted; the service is restarted\n") {
		t.Errorf("the log says\n%s", got)
	}
}
