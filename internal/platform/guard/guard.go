// Package guard verifies during a trial that the limits of a replica hold: that its
// control group has the limits that were set (Limits), that no group above it has lower
// ones, and that its processes are in the group (Processes).
package guard

import (
	"fmt"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/meter"
)

// Wanted are limits that a control group must have.
type Wanted struct {
	cpu    meter.Bandwidth
	period bool  // the experiment states the period, which is then a part of the limit
	memory int64 // bytes; 0: none
}

// WantedOf returns the limits that an experiment states.
func WantedOf(l experiment.Limits) Wanted {
	return Wanted{cpu: meter.BandwidthOf(l), period: l.Period != 0 && l.CPUMillis != 0, memory: l.Memory}
}

// BrokenCPU describes a CPU limit that is not the wanted one, as in "its CPU limit was
// changed from 500m CPU in periods of 100ms to no limit"; "" if it is.
func (w Wanted) BrokenCPU(is meter.Bandwidth) string {
	if is.Same(w.cpu) && (is.Period == w.cpu.Period || !w.period) {
		return ""
	}
	return fmt.Sprintf("its CPU limit was changed from %v to %v", w.cpu, is)
}

// largestPage is that of all architectures. The kernel rounds a memory limit down to whole
// pages.
const largestPage = 64 << 10

// BrokenMemory describes a memory limit in bytes (0: none) that is not the wanted one; ""
// if it is.
func (w Wanted) BrokenMemory(is int64) string {
	if is == w.memory || w.memory > 0 && is > 0 && is < w.memory && w.memory-is < largestPage {
		return ""
	}
	return fmt.Sprintf("its memory limit was changed from %s to %s", bytesOf(w.memory), bytesOf(is))
}

// inEffect are the limits that a group and those above it leave a replica.
type inEffect struct {
	cpu    cgroup.CPULimit
	memory cgroup.MemoryLimit
}

func effective(g cgroup.Group) inEffect { return inEffect{g.CPULimit(), g.MemoryLimit()} }

// lowered describes a limit in effect that another group than the replica's sets, and that
// is lower than it was when the replica's own limits were set; "" if there is none. The
// groups above a replica may have any limits then, unless they are below the replica's own.
func (w Wanted) lowered(own cgroup.Group, was, is inEffect) string {
	above := func(c cgroup.Controller, dir string) bool {
		p, ok := own.Place(c).Get()
		return ok && dir != p.Dir
	}
	const text = "the %s of %s, above its control group, is %v, lower than its %v"
	if cpu := bandwidthOf(is.cpu); is.cpu.State == cgroup.Limited && above(cgroup.CPU, is.cpu.Dir) {
		switch before := bandwidthOf(was.cpu); {
		case w.cpu.Quota != 0:
			return fmt.Sprintf(text, "CPU limit", is.cpu.Dir, cpu, w.cpu)
		case before.Quota == 0 || cpu.CPUs() < before.CPUs():
			return fmt.Sprintf(text, "CPU limit", is.cpu.Dir, cpu, before)
		}
	}
	if n := is.memory.Bytes; is.memory.State == cgroup.Limited && is.memory.Dir != "" && above(cgroup.Memory, is.memory.Dir) {
		switch before := was.memory.Bytes; {
		case w.memory != 0:
			return fmt.Sprintf(text, "memory limit", is.memory.Dir, bytesOf(n), bytesOf(w.memory))
		case before == 0 || n < before:
			return fmt.Sprintf(text, "memory limit", is.memory.Dir, bytesOf(n), bytesOf(before))
		}
	}
	return ""
}

func bytesOf(n int64) string {
	if n == 0 {
		return "no limit"
	}
	return fmt.Sprintf("%d bytes", n)
}

// bandwidthOf returns a limit of a control group without its burst.
func bandwidthOf(l cgroup.CPULimit) meter.Bandwidth {
	return meter.Bandwidth{Quota: l.Quota, Period: l.Period}
}
