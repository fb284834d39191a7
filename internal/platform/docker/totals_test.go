package docker

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/signals"
)

func of[T any](v T) *T { return &v }

func TestAnOOMKillIsCountedOnce(t *testing.T) {
	for _, c := range []struct {
		name        string
		last        *int64
		outOfMemory bool
		want        *int64
	}{
		{"the kernel's count went with the group", of[int64](0), true, of[int64](1)},
		{"it was never read", nil, true, of[int64](1)},
		{"it was read in time", of[int64](1), true, of[int64](1)},
		{"another end", of[int64](0), false, of[int64](0)},
		{"not measured", nil, false, nil},
	} {
		var counters counterTotals
		counters.last = signals.Counters{OOMKills: c.last}
		counters.end(c.outOfMemory)
		got, err := counters.read()
		if err != nil || !cmp.Equal(got.OOMKills, c.want) {
			t.Errorf("%s: %v, %v", c.name, got.OOMKills, err)
		}
	}
}

// An instance's own count, and not that of earlier ones, says that it was killed.
func TestTheKernelCountsAnOOMKill(t *testing.T) {
	for _, c := range []struct {
		before, last *int64
		want         bool
	}{{nil, nil, false}, {of[int64](1), of[int64](0), false}, {nil, of[int64](1), true}} {
		var counters counterTotals
		counters.before, counters.last = signals.Counters{OOMKills: c.before}, signals.Counters{OOMKills: c.last}
		if got := counters.oomKilled(); got != c.want {
			t.Errorf("before %v, last %v: %v", c.before, c.last, got)
		}
	}
}
