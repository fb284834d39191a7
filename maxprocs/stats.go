package maxprocs

import (
	"errors"
	"runtime"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
)

// Stats are figures for monitoring a process under a CPU limit.
type Stats struct {
	GOMAXPROCS int
	Limit      CPULimit // in effect

	// Throttling is nil if it was not measured, so that it cannot be taken for 0. Err is
	// then the reason, or nil if this kernel or group does not count it.
	Throttling *Throttling
	Err        error
}

// Throttling are the kernel's counters of the group that sets the limit in effect
// (Limit.Dir), or of the process's own group if there is no limit. If it is an ancestor,
// such as a pod's group, they include everything that runs in it.
//
// They never decrease while the process runs. The first [ReadStats] has what the group
// counted since its creation; each later one adds what was counted since the one before.
// When another group's limit becomes the lowest, its counters are added from the first
// reading under it on: what either group counted between these two readings is left out.
type Throttling struct {
	Periods          int64         // in which the group ran; fewer than have elapsed
	ThrottledPeriods int64         // in which the group was throttled
	Throttled        time.Duration // summed over CPUs: it can exceed the elapsed time
}

// counted are the counters of this process.
var counted counters

// ReadStats reads the present figures from a few small files. Several goroutines may call
// it; they read one after the other.
func ReadStats() Stats { return thisHost.stats(&counted) }

func (h host) stats(sum *counters) Stats {
	sum.mu.Lock()
	defer sum.mu.Unlock()
	s := Stats{GOMAXPROCS: runtime.GOMAXPROCS(0)}
	self, err := h.fs.Self(cgroup.CPU)
	if err != nil {
		s.Limit = CPULimit{State: Unknown, Err: err}
		s.Err = err
		return s
	}
	s.Limit = limitOf(self.CPULimit())
	dir := s.Limit.Dir
	if dir == "" {
		p, _ := self.Place(cgroup.CPU).Get()
		dir = p.Dir
	}
	cpu, _ := self.ThrottlingAt(dir) // the error is in the values
	if s.Throttling, s.Err = throttlingOf(cpu); s.Throttling != nil {
		*s.Throttling = sum.add(dir, *s.Throttling)
	}
	return s
}

// throttlingOf is what was measured: all three counters, or nothing.
func throttlingOf(cpu cgroup.CPUStat) (*Throttling, error) {
	var t Throttling
	var measured [3]bool
	t.Periods, measured[0] = cpu.Periods.Get()
	t.ThrottledPeriods, measured[1] = cpu.ThrottledPeriods.Get()
	t.Throttled, measured[2] = cpu.Throttled.Get()
	if measured != [3]bool{true, true, true} {
		return nil, errors.Join(cpu.Periods.Err(), cpu.ThrottledPeriods.Err(), cpu.Throttled.Err())
	}
	return &t, nil
}
