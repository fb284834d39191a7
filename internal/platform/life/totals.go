package life

import (
	"time"

	"github.com/millicore/millicore/internal/signals"
)

// A container's control group lasts as long as one life of it. What a replica has
// used so far is the last reading of each life that has ended, and the reading of
// this one.

// Sum adds the totals of lives that ended to those of a later one, whose other
// readings it keeps. The peak of memory is the highest of all; limits are those
// that were set.
func Sum(before, now signals.Counters) signals.Counters {
	sum := now
	sum.CPU = Plus(before.CPU, now.CPU)
	sum.Periods = Plus(before.Periods, now.Periods)
	sum.ThrottledPeriods = Plus(before.ThrottledPeriods, now.ThrottledPeriods)
	sum.Throttled = Plus(before.Throttled, now.Throttled)
	sum.Bursts = Plus(before.Bursts, now.Bursts)
	sum.OOMKills = Plus(before.OOMKills, now.OOMKills)
	sum.CPUPressure = Plus(before.CPUPressure, now.CPUPressure)
	if sum.CPULimit == nil {
		sum.CPULimit = before.CPULimit
	}
	if sum.MemoryLimit == nil {
		sum.MemoryLimit = before.MemoryLimit
	}
	if p := before.MemoryPeak; p != nil && (sum.MemoryPeak == nil || *p > *sum.MemoryPeak) {
		sum.MemoryPeak = p
	}
	return sum
}

// Plus adds totals; what one of the two lacks is what the other has.
func Plus[T int64 | float64 | time.Duration](before, now *T) *T {
	if before == nil || now == nil {
		if now == nil {
			return before
		}
		return now
	}
	sum := *before + *now
	return &sum
}
