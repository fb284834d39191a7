package schedule

import (
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// Intervals divide a trial into the intervals of frames. They have the length Every,
// counted from the start, from the end of the warm-up, and from the end of the load.
// The last interval of the warm-up and of the measurement may be shorter, so that no
// interval is in two phases.
type Intervals struct {
	Warmup time.Duration // load before the measurement
	End    time.Duration // of the load, including the warm-up
	Every  time.Duration
}

// After returns the end and the phase of the interval that starts at start.
func (v Intervals) After(start time.Duration) (end time.Duration, phase signals.Phase) {
	switch warm := min(v.Warmup, v.End); {
	case start < warm:
		return min(v.next(start, 0), warm), signals.Warmup
	case start < v.End:
		return min(v.next(start, v.Warmup), v.End), signals.Measure
	default:
		return v.next(start, v.End), signals.Drain
	}
}

// next returns the first multiple of Every after t, counted from origin.
func (v Intervals) next(t, origin time.Duration) time.Duration {
	return origin + ((t-origin)/v.Every+1)*v.Every
}
