package platform

import (
	"context"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// Timed starts a unit by a function such as Platform.Start, and measures the start of its
// replicas: until all of them are ready, and the counters of each at that time.
func Timed(ctx context.Context, start func(context.Context, UnitSpec) (Unit, error), u UnitSpec) (Unit, []signals.Start, error) {
	began := time.Now()
	unit, err := start(ctx, u)
	if err != nil {
		return nil, nil, err
	}
	if reporter, ok := As[StartReporter](unit); ok {
		return unit, reporter.Starts(), nil
	}
	seconds := time.Since(began).Seconds()
	var all []signals.Start
	for _, r := range unit.Replicas() {
		s := signals.Start{Seconds: seconds}
		if c, err := r.Counters(); err == nil {
			s.CPUSeconds, s.Periods, s.ThrottledPeriods = c.CPU, c.Periods, c.ThrottledPeriods
		}
		all = append(all, s)
	}
	return unit, all, nil
}
