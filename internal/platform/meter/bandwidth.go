package meter

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Bandwidth is a CPU limit as CFS bandwidth control has it (Linux
// Documentation/scheduler/sched-bwc.rst).
type Bandwidth struct {
	Period time.Duration
	Quota  time.Duration // of CPU time in each period; 0: no limit
	Burst  time.Duration // that may be saved for later periods
}

// BandwidthOf returns the bandwidth of limits. The period is the kernel's default unless
// the limits state one.
func BandwidthOf(l experiment.Limits) Bandwidth {
	period := cmp.Or(l.Period, signals.DefaultPeriod)
	part := func(millis int64) time.Duration { return time.Duration(millis) * period / 1000 }
	return Bandwidth{Period: period, Quota: part(l.CPUMillis), Burst: part(l.BurstMillis)}
}

// Same reports whether two bandwidths allow the same CPU: a quota is in whole
// microseconds, so the same CPU limit differs by one of them in another period.
func (b Bandwidth) Same(o Bandwidth) bool {
	if b.Quota == 0 || o.Quota == 0 || b.Period <= 0 || o.Period <= 0 {
		return b.Quota == o.Quota
	}
	rounding := float64(time.Microsecond) / float64(min(b.Period, o.Period))
	return math.Abs(b.CPUs()-o.CPUs()) <= rounding*(1+1e-9)
}

// CPUs is the limit in CPUs; 0: no limit.
func (b Bandwidth) CPUs() float64 {
	if b.Period <= 0 {
		return 0
	}
	return float64(b.Quota) / float64(b.Period)
}

// String is the limit as an experiment states it.
func (b Bandwidth) String() string {
	if b.Quota == 0 {
		return "no limit"
	}
	return fmt.Sprintf("%gm CPU in periods of %v", math.Round(1e6*b.CPUs())/1e3, b.Period)
}
