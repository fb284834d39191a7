package meter

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
)

func TestBandwidth(t *testing.T) {
	for name, c := range map[string]struct {
		limits experiment.Limits
		want   Bandwidth
	}{
		"no limit":     {experiment.Limits{}, Bandwidth{Period: 100 * time.Millisecond}},
		"half a CPU":   {experiment.Limits{CPUMillis: 500}, Bandwidth{Period: 100 * time.Millisecond, Quota: 50 * time.Millisecond}},
		"with a burst": {experiment.Limits{CPUMillis: 500, BurstMillis: 250, Period: 10 * time.Millisecond}, Bandwidth{10 * time.Millisecond, 5 * time.Millisecond, 2500 * time.Microsecond}},
	} {
		if got := BandwidthOf(c.limits); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
