package maxprocs

import (
	"runtime"
	"time"

	"github.com/millicore/millicore/maxprocs/cgroup"
)

// Stats are figures for monitoring a process under a CPU limit. A figure that was not
// measured is absent or unreadable, never 0.
type Stats struct {
	GOMAXPROCS int
	Limit      CPULimit // in effect

	// The counters of the group that sets the limit in effect (Limit.Dir), or of the
	// process's own group if there is no limit. If it is an ancestor, such as a pod's
	// group, they include everything that runs in it. They count from the creation of
	// the group, and may restart from a lower value when another group's limit becomes
	// the lowest.
	Periods          cgroup.Value[int64]         // in which the group ran; fewer than have elapsed
	ThrottledPeriods cgroup.Value[int64]         // in which the group was throttled
	Throttled        cgroup.Value[time.Duration] // summed over CPUs: it can exceed the elapsed time
}

// ReadStats reads the present figures from a few small files.
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
