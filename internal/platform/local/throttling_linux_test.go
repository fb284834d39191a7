package local

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/test/testkit"
)

func TestThrottleSamplesAgreeWithTheCounters(t *testing.T) {
	p := open(t, Options{})
	u := server(t.TempDir())
	u.Limits = experiment.Limits{CPUMillis: 200, Replicas: 1}
	running := start(t, p, u)
	r := running.Replicas()[0]
	mustGet(t, r, "/burn")
	testkit.Until(t, "throttled in five periods", func() bool {
		before, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		sample, err := r.ThrottleSample()
		if err != nil {
			t.Fatal(err)
		}
		after, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		if n := *sample.ThrottledPeriods; n < *before.ThrottledPeriods || n > *after.ThrottledPeriods {
			t.Errorf("%d throttled periods, the counters had %d before and %d after", n, *before.ThrottledPeriods, *after.ThrottledPeriods)
		}
		if n := *sample.Periods; n < *before.Periods || n > *after.Periods {
			t.Errorf("%d periods, the counters had %d before and %d after", n, *before.Periods, *after.Periods)
		}
		if s := sample.Throttled.Seconds(); s < *before.Throttled || s > *after.Throttled {
			t.Errorf("throttled for %v s, the counters had %v before and %v after", s, *before.Throttled, *after.Throttled)
		}
		if !sample.Up || sample.At.Before(before.At) || sample.At.After(after.At) {
			t.Errorf("sample %+v", sample)
		}
		return *sample.ThrottledPeriods >= 5
	})
	if err := running.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ThrottleSample(); err == nil {
		t.Error("a sample of a group that is gone")
	}
}

func TestThrottleSamplesCountersAndStopMayComeAtOnce(t *testing.T) {
	p := open(t, Options{})
	running := start(t, p, server(t.TempDir()))
	r := running.Replicas()[0]
	var all sync.WaitGroup
	for _, read := range []func() error{
		func() error { _, err := r.ThrottleSample(); return err },
		func() error { _, err := r.Counters(); return err },
		func() error { r.PIDs(); _, err := r.ThrottleSample(); return err },
	} {
		all.Go(func() {
			for read() == nil {
				time.Sleep(time.Millisecond) // readers that never rest would take the CPUs from Stop
			}
		})
	}
	if err := running.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	all.Wait()
}

func TestPIDsAreThoseOfTheGroupTheLeaderFirst(t *testing.T) {
	p := open(t, Options{RestartAfter: time.Millisecond})
	u := server(t.TempDir())
	running := start(t, p, u)
	r := running.Replicas()[0]
	leader := r.PIDs()
	if len(leader) != 1 {
		t.Fatalf("pids %v", leader)
	}
	child := stubbornChild(t, r.(*replica), u.Logs)
	if got := r.PIDs(); !slices.Equal(got, []int{leader[0], child}) {
		t.Errorf("pids %v, want %d and its child %d", got, leader[0], child)
	}
	get(t, r, "/exit")
	testkit.Until(t, "up again", func() bool {
		sample, err := r.ThrottleSample()
		if err != nil {
			t.Fatal(err)
		}
		pids := r.PIDs()
		return sample.Up && len(pids) == 1 && pids[0] != leader[0]
	})
	if err := running.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.PIDs(); got != nil {
		t.Errorf("pids %v of a replica that is gone", got)
	}
}

func BenchmarkThrottleSample(b *testing.B) {
	p, err := New(Options{State: b.TempDir()})
	if err != nil {
		b.Skip(err)
	}
	defer p.Close()
	u, err := p.Start(b.Context(), server(b.TempDir()))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := u.Replicas()[0].ThrottleSample(); err != nil {
			b.Fatal(err)
		}
	}
}
