package docker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/platform/life"
	"github.com/millicore/millicore/internal/signals"
)

func of[T any](v T) *T { return &v }

func TestTotalsGoOnOverLives(t *testing.T) {
	before := signals.Counters{CPU: of(2.0), Periods: of[int64](10), Throttled: of(0.5), OOMKills: of[int64](1), CPULimit: of(0.5), MemoryPeak: of[int64](100), MemoryLimit: of[int64](200)}
	for _, c := range []struct {
		name      string
		now, want signals.Counters
	}{
		{"a life after another",
			signals.Counters{CPU: of(1.0), Periods: of[int64](5), Throttled: of(0.25), OOMKills: of[int64](0), Bursts: of[int64](2), CPULimit: of(0.5), Memory: of[int64](40), MemoryPeak: of[int64](50), MemoryLimit: of[int64](200)},
			signals.Counters{CPU: of(3.0), Periods: of[int64](15), Throttled: of(0.75), OOMKills: of[int64](1), Bursts: of[int64](2), CPULimit: of(0.5), Memory: of[int64](40), MemoryPeak: of[int64](100), MemoryLimit: of[int64](200)}},
		{"a higher peak", signals.Counters{MemoryPeak: of[int64](150)},
			signals.Counters{CPU: of(2.0), Periods: of[int64](10), Throttled: of(0.5), OOMKills: of[int64](1), CPULimit: of(0.5), MemoryPeak: of[int64](150), MemoryLimit: of[int64](200)}},
		{"between lives", signals.Counters{}, before},
	} {
		if diff := cmp.Diff(c.want, life.Sum(before, c.now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	pulse := sumPulses(signals.Pulse{Periods: of[int64](3), Throttled: of(time.Second)}, signals.Pulse{Periods: of[int64](1), Throttled: of(time.Second), CPU: of(time.Minute)})
	if want := (signals.Pulse{Periods: of[int64](4), Throttled: of(2 * time.Second), CPU: of(time.Minute)}); !cmp.Equal(want, pulse) {
		t.Errorf("pulse %+v", pulse)
	}
}

func TestADeathForWantOfMemoryIsCountedOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		last    *int64
		starved bool
		want    *int64
	}{
		{"the kernel's count went with the group", of[int64](0), true, of[int64](1)},
		{"it was never read", nil, true, of[int64](1)},
		{"it was read in time", of[int64](1), true, of[int64](1)},
		{"another death", of[int64](0), false, of[int64](0)},
		{"not measured", nil, false, nil},
	} {
		counters := counting{last: signals.Counters{OOMKills: c.last}}
		counters.end(c.starved)
		got, err := counters.read()
		if err != nil || !cmp.Equal(got.OOMKills, c.want) {
			t.Errorf("%s: %v, %v", c.name, got.OOMKills, err)
		}
	}
}
