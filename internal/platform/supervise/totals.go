package supervise

import "github.com/millicore/millicore/internal/data/signals"

// A container gets a new control group after every restart, and its counters
// begin at zero. The totals of a replica are the last readings of the instances that
// have ended plus the reading of the current one.

// SumCounters adds the totals of earlier instances to those of the current one. Other
// readings are the current ones. The memory peak is the highest of all instances;
// limits that the current instance does not report are those of before.
func SumCounters(before, now signals.Counters) signals.Counters {
	sum := now
	sum.CPU = signals.Plus(before.CPU, now.CPU)
	sum.Periods = signals.Plus(before.Periods, now.Periods)
	sum.ThrottledPeriods = signals.Plus(before.ThrottledPeriods, now.ThrottledPeriods)
	sum.Throttled = signals.Plus(before.Throttled, now.Throttled)
	sum.Bursts = signals.Plus(before.Bursts, now.Bursts)
	sum.OOMKills = signals.Plus(before.OOMKills, now.OOMKills)
	sum.CPUPressure = signals.Plus(before.CPUPressure, now.CPUPressure)
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

// SumThrottleSamples adds the totals of earlier instances to those of the current one.
func SumThrottleSamples(before, now signals.ThrottleSample) signals.ThrottleSample {
	sum := now
	sum.Periods = signals.Plus(before.Periods, now.Periods)
	sum.ThrottledPeriods = signals.Plus(before.ThrottledPeriods, now.ThrottledPeriods)
	sum.Throttled = signals.Plus(before.Throttled, now.Throttled)
	sum.CPU = signals.Plus(before.CPU, now.CPU)
	return sum
}
