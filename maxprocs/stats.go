package maxprocs

import (
	"runtime"
	"time"

	"github.com/millicore/millicore/maxprocs/cgroup"
)

// Stats is what a monitor wants to know of a process under a CPU limit. What is
// not measured is absent or unreadable, never 0.
type Stats struct {
	GOMAXPROCS int
	Limit      CPULimit // in effect

	// The counters of the group that sets the limit in effect (Limit.Dir); of
	// the process's own group where there is no limit. Where that is a group
	// above the process's own, such as that of a pod, they count whatever runs
	// in it. They count up from the making of that group, and may start again
	// from 0 when another group's limit comes to be the lowest.
	Periods          cgroup.Value[int64]         // in which the group ran; fewer than have passed
	ThrottledPeriods cgroup.Value[int64]         // at whose end it was throttled
	Throttled        cgroup.Value[time.Duration] // summed over CPUs: it can exceed the time that has passed
}

// ReadStats reads them: a handful of small files.
func ReadStats() Stats { return thisHost.stats() }

func (h host) stats() Stats {
	s := Stats{GOMAXPROCS: runtime.GOMAXPROCS(0)}
	self, err := h.fs.Self(cgroup.CPU)
	if err != nil {
		s.Limit = CPULimit{State: Unknown, Err: err}
		s.Periods = cgroup.UnreadableValue[int64](err)
		s.ThrottledPeriods = s.Periods
		s.Throttled = cgroup.UnreadableValue[time.Duration](err)
		return s
	}
	s.Limit = self.CPULimit()
	dir := s.Limit.Dir
	if dir == "" {
		p, _ := self.Place(cgroup.CPU).Get()
		dir = p.Dir
	}
	cpu, _ := self.ThrottlingAt(dir) // the error is in the values
	s.Periods, s.ThrottledPeriods, s.Throttled = cpu.Periods, cpu.ThrottledPeriods, cpu.Throttled
	return s
}
