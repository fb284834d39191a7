package cgroup

import (
	"fmt"
	"time"
)

// CPUStat are the kernel's counters of a group's CPU time, since the group was created.
type CPUStat struct {
	// CPU time used by the group and its descendants, including processes that have
	// ended.
	Usage, User, System Value[time.Duration]

	// Periods of the group's own limit. They advance only while the group's
	// bandwidth timer runs, so they are fewer than wall time / period in a
	// group that idles; absent where the CPU controller is not enabled.
	Periods Value[int64]

	// Periods in which the group was throttled by its own limit.
	ThrottledPeriods Value[int64]

	// Throttled is the time for which the group's own limit throttled it,
	// summed over the run queues of all CPUs: it can exceed wall time.
	Throttled Value[time.Duration]

	// ThrottledLocal is the same from cpu.stat.local: the time for which this
	// group was throttled by its own limit or by an ancestor's. Absent before
	// Linux 6.6.
	ThrottledLocal Value[time.Duration]

	// Periods in which the group used burst, that is, quota carried over from earlier
	// periods, and the CPU time above its quota. Absent before Linux 5.14.
	Bursts Value[int64]
	Burst  Value[time.Duration]
}

// unreadable makes everything in s unreadable because of err.
func (s *CPUStat) unreadable(err error) {
	s.statUnreadable(err)
	s.usageUnreadable(err)
	s.ThrottledLocal = UnreadableValue[time.Duration](err)
}

// statUnreadable does so for the fields that cpu.stat has in both versions.
func (s *CPUStat) statUnreadable(err error) {
	count, duration := UnreadableValue[int64](err), UnreadableValue[time.Duration](err)
	s.Periods, s.ThrottledPeriods, s.Throttled = count, count, duration
	s.Bursts, s.Burst = count, duration
}

// usageUnreadable does so for the fields that v2 has in cpu.stat and v1 in
// cpuacct.
func (s *CPUStat) usageUnreadable(err error) {
	duration := UnreadableValue[time.Duration](err)
	s.Usage, s.User, s.System = duration, duration, duration
}

// parseCPUStat parses cpu.stat of either version. The name of each time contains its
// unit, so the versions need not be distinguished.
//
//	v2                     v1
//	usage_usec 88997762
//	user_usec 70546684
//	system_usec 18451077
//	nr_periods 101         nr_periods 101
//	nr_throttled 97        nr_throttled 97
//	throttled_usec 9312207 throttled_time 9312207143
//	nr_bursts 0            nr_bursts 0
//	burst_usec 0           burst_time 0
//
// v1 times are in nanoseconds. v2 has nr_periods and what follows only while
// the CPU controller is enabled, and more lines for other matters.
// Linux Documentation/admin-guide/cgroup-v2.rst, "CPU Interface Files";
// Documentation/scheduler/sched-bwc.rst, "Statistics".
func parseCPUStat(b []byte, s *CPUStat) error {
	for len(b) > 0 {
		key, value, rest, err := nextKey(b)
		if err != nil {
			return err
		}
		b = rest
		switch string(key) {
		case "usage_usec":
			err = setTime(&s.Usage, value, time.Microsecond)
		case "user_usec":
			err = setTime(&s.User, value, time.Microsecond)
		case "system_usec":
			err = setTime(&s.System, value, time.Microsecond)
		case "nr_periods":
			err = setCount(&s.Periods, value)
		case "nr_throttled":
			err = setCount(&s.ThrottledPeriods, value)
		case "throttled_usec":
			err = setTime(&s.Throttled, value, time.Microsecond)
		case "throttled_time":
			err = setTime(&s.Throttled, value, time.Nanosecond)
		case "nr_bursts":
			err = setCount(&s.Bursts, value)
		case "burst_usec":
			err = setTime(&s.Burst, value, time.Microsecond)
		case "burst_time":
			err = setTime(&s.Burst, value, time.Nanosecond)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// parseCPUStatLocal parses cpu.stat.local of either version.
//
//	v2                   v1
//	throttled_usec 93122 throttled_time 93122071
//
// v1 is in nanoseconds. The file is empty in a v2 group for which the CPU
// controller is not enabled.
// Linux kernel/sched/core.c, cpu_local_stat_show and cpu_cfs_local_stat_show.
func parseCPUStatLocal(b []byte, throttled *Value[time.Duration]) error {
	for len(b) > 0 {
		key, value, rest, err := nextKey(b)
		if err != nil {
			return err
		}
		b = rest
		switch string(key) {
		case "throttled_usec":
			err = setTime(throttled, value, time.Microsecond)
		case "throttled_time":
			err = setTime(throttled, value, time.Nanosecond)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}
