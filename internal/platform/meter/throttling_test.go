package meter

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
)

func TestTornFiguresAreReadAgain(t *testing.T) {
	stat := func(periods int64, throttled time.Duration) *cgroup.CPUStat {
		return &cgroup.CPUStat{ThrottledPeriods: cgroup.ValueOf(periods), Throttled: cgroup.ValueOf(throttled)}
	}
	for _, c := range []struct {
		name          string
		before, after *cgroup.CPUStat
		want          bool
	}{
		{"neither moved", stat(1, 5), stat(1, 5), false},
		{"both moved", stat(1, 5), stat(2, 9), false},
		{"the period alone", stat(1, 5), stat(2, 5), true},
		{"the time alone", stat(1, 5), stat(1, 9), true},
		{"not measured", stat(1, 5), &cgroup.CPUStat{Throttled: cgroup.ValueOf(time.Duration(9))}, false},
	} {
		if got := torn(c.before, c.after); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
