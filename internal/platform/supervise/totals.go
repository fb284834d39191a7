package supervise

import (
	"time"

	"github.com/millicore/millicore/internal/signals"
)

// A container gets a new control group after every restart, and its counters
// begin at zero. The totals of a replica are the last readings of the lives that
// have ended plus the reading of the current one.

// SumCounters adds the totals of earlier lives to those of the current one. Other
// readings are the current ones. The memory peak is the highest of all lives;
// limits that the current life does not report are those of before.
func SumCounters(before, now signals.Counters) signals.Counters {
	sum := now
	sum.CPU = plus(before.CPU, now.CPU)
	sum.Periods = plus(before.Periods, now.Periods)
	sum.ThrottledPeriods = plus(before.ThrottledPeriods, now.ThrottledPeriods)
	sum.Throttled = plus(before.Throttled, now.Throttled)
	sum.Bursts = plus(before.Bursts, now.Bursts)
	sum.OOMKills = plus(before.OOMKills, now.OOMKills)
	sum.CPUPressure = plus(before.CPUPressure, now.CPUPressure)
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

// SumPulses adds the totals of earlier lives to those of the current one.
func SumPulses(before, now signals.Pulse) signals.Pulse {
	sum := now
	sum.Periods = plus(before.Periods, now.Periods)
	sum.ThrottledPeriods = plus(before.ThrottledPeriods, now.ThrottledPeriods)
	sum.Throttled = plus(before.Throttled, now.Throttled)
	sum.CPU = plus(before.CPU, now.CPU)
	return sum
}

// plus adds two totals. If only one was measured, the sum is that one.
func plus[T int64 | float64 | time.Duration](before, now *T) *T {
	if before == nil || now == nil {
		if now == nil {
			return before
		}
		return now
	}
	sum := *before + *now
	return &sum
}
