// Package metric has the names of the figures of maxprocs.Stats, once for all that publish
// them. It publishes nothing itself.
package metric

import (
	"time"

	"github.com/millicore/millicore/maxprocs"
)

// Metric is one figure.
type Metric struct {
	Name    string // for Prometheus, without the prefix maxprocs_
	Dotted  string // for OpenTelemetry, without the prefix maxprocs.
	Unit    string // for OpenTelemetry
	Counter bool   // else a gauge
	Help    string

	// Value is the figure, and whether it was measured.
	Value func(maxprocs.Stats) (value float64, measured bool)
}

// All are the figures of maxprocs.Stats.
var All = []Metric{
	{"gomaxprocs", "gomaxprocs", "{thread}", false, "GOMAXPROCS.",
		func(s maxprocs.Stats) (float64, bool) { return float64(s.GOMAXPROCS), true }},
	{"limit_cpus", "cpu.limit", "{cpu}", false, "CPU limit in effect, in CPUs; absent if there is none or it is not known.",
		func(s maxprocs.Stats) (float64, bool) { return s.Limit.CPUs, s.Limit.State == maxprocs.Limited }},
	{"periods_total", "cpu.periods", "{period}", true, "Periods of the CPU limit in which the group ran.",
		throttling(func(t maxprocs.Throttling) float64 { return float64(t.Periods) })},
	{"throttled_periods_total", "cpu.throttled_periods", "{period}", true, "Periods in which the group was throttled.",
		throttling(func(t maxprocs.Throttling) float64 { return float64(t.ThrottledPeriods) })},
	{"throttled_seconds_total", "cpu.throttled", "s", true, "Time for which the group was throttled, summed over CPUs.",
		throttling(func(t maxprocs.Throttling) float64 { return t.Throttled.Seconds() })},
	{"cpu_seconds_total", "cpu.time", "s", true, "CPU time that the group used.",
		seconds(func(s maxprocs.Stats) *time.Duration { return s.CPUTime })},
	{"cpu_wait_seconds_total", "cpu.wait", "s", true, "Time for which threads of this process were runnable without a CPU, throttled or not, summed over threads.",
		seconds(func(s maxprocs.Stats) *time.Duration { return s.Wait })},
	{"memory_limit_bytes", "memory.limit", "By", false, "Memory limit in effect; absent if there is none or it is not known.",
		number(func(s maxprocs.Stats) *int64 { return s.Memory.Limit })},
	{"memory_working_set_bytes", "memory.working_set", "By", false, "Memory in use under that limit, without page cache that can be dropped first.",
		number(func(s maxprocs.Stats) *int64 { return s.Memory.WorkingSet })},
	{"oom_kills_total", "memory.oom_kills", "{process}", true, "Processes of this process's group that the kernel killed for a lack of memory.",
		number(func(s maxprocs.Stats) *int64 { return s.Memory.OOMKills })},
	{"pressure_cpu_waiting_seconds_total", "pressure.cpu.waiting", "s", true, "Time for which a task of this process's group waited for a CPU (PSI, some).",
		seconds(func(s maxprocs.Stats) *time.Duration { return s.Pressure.CPU.Some })},
	{"pressure_cpu_stalled_seconds_total", "pressure.cpu.stalled", "s", true, "Time for which all tasks of this process's group waited for a CPU (PSI, full).",
		seconds(func(s maxprocs.Stats) *time.Duration { return s.Pressure.CPU.Full })},
	{"pressure_memory_waiting_seconds_total", "pressure.memory.waiting", "s", true, "Time for which a task of this process's group waited for memory (PSI, some).",
		seconds(func(s maxprocs.Stats) *time.Duration { return s.Pressure.Memory.Some })},
	{"pressure_memory_stalled_seconds_total", "pressure.memory.stalled", "s", true, "Time for which all tasks of this process's group waited for memory (PSI, full).",
		seconds(func(s maxprocs.Stats) *time.Duration { return s.Pressure.Memory.Full })},
	{"pressure_io_waiting_seconds_total", "pressure.io.waiting", "s", true, "Time for which a task of this process's group waited for I/O (PSI, some).",
		seconds(func(s maxprocs.Stats) *time.Duration { return s.Pressure.IO.Some })},
	{"pressure_io_stalled_seconds_total", "pressure.io.stalled", "s", true, "Time for which all tasks of this process's group waited for I/O (PSI, full).",
		seconds(func(s maxprocs.Stats) *time.Duration { return s.Pressure.IO.Full })},
}

func throttling(of func(maxprocs.Throttling) float64) func(maxprocs.Stats) (float64, bool) {
	return func(s maxprocs.Stats) (float64, bool) {
		if s.Throttling == nil {
			return 0, false
		}
		return of(*s.Throttling), true
	}
}

func seconds(of func(maxprocs.Stats) *time.Duration) func(maxprocs.Stats) (float64, bool) {
	return func(s maxprocs.Stats) (float64, bool) {
		d := of(s)
		if d == nil {
			return 0, false
		}
		return d.Seconds(), true
	}
}

func number(of func(maxprocs.Stats) *int64) func(maxprocs.Stats) (float64, bool) {
	return func(s maxprocs.Stats) (float64, bool) {
		n := of(s)
		if n == nil {
			return 0, false
		}
		return float64(*n), true
	}
}
