package meter

import (
	"cmp"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
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
