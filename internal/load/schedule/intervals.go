package schedule

import (
	"time"

	"github.com/millicore/millicore/internal/signals"
)

// Intervals cut a trial into the stretches that frames cover: whole ones of
// length Every counted from the start, anew from the end of the warm-up, and
// anew from the end of the load. The last of the warm-up and the last that is
// measured may be shorter, so that no interval lies in two phases.
type Intervals struct {
	Warmup time.Duration // load before what counts
	End    time.Duration // of the load, warm-up included
	Every  time.Duration
}

// After returns the end and the phase of the interval that begins at start.
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
