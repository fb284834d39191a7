package supervise

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/signals"
)

func of[T any](v T) *T { return &v }

func TestTotalsContinueOverRestarts(t *testing.T) {
	before := signals.Counters{CPU: of(2.0), Periods: of[int64](10), Throttled: of(0.5), OOMKills: of[int64](1), CPULimit: of(0.5), MemoryPeak: of[int64](100), MemoryLimit: of[int64](200)}
	for _, c := range []struct {
		name      string
		now, want signals.Counters
	}{
		{"after a restart",
			signals.Counters{CPU: of(1.0), Periods: of[int64](5), Throttled: of(0.25), OOMKills: of[int64](0), Bursts: of[int64](2), CPULimit: of(0.5), Memory: of[int64](40), MemoryPeak: of[int64](50), MemoryLimit: of[int64](200)},
			signals.Counters{CPU: of(3.0), Periods: of[int64](15), Throttled: of(0.75), OOMKills: of[int64](1), Bursts: of[int64](2), CPULimit: of(0.5), Memory: of[int64](40), MemoryPeak: of[int64](100), MemoryLimit: of[int64](200)}},
		{"a higher peak", signals.Counters{MemoryPeak: of[int64](150)},
			signals.Counters{CPU: of(2.0), Periods: of[int64](10), Throttled: of(0.5), OOMKills: of[int64](1), CPULimit: of(0.5), MemoryPeak: of[int64](150), MemoryLimit: of[int64](200)}},
		{"before the next life", signals.Counters{}, before},
	} {
		if diff := cmp.Diff(c.want, SumCounters(before, c.now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	sample := SumThrottleSamples(signals.ThrottleSample{Periods: of[int64](3), Throttled: of(time.Second)}, signals.ThrottleSample{Periods: of[int64](1), Throttled: of(time.Second), CPU: of(time.Minute)})
	if want := (signals.ThrottleSample{Periods: of[int64](4), Throttled: of(2 * time.Second), CPU: of(time.Minute)}); !cmp.Equal(want, sample) {
		t.Errorf("sample %+v", sample)
	}
}
