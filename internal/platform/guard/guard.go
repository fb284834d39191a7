// Package guard verifies during a trial that the limits of a replica hold: that its
// control group has the limits that were set (Limits), and that its processes are in the
// group (Processes). What decides is pure.
package guard

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/experiment"
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
	return Wanted{cpu: meter.BandwidthOf(l), period: l.Period != 0, memory: l.Memory}
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

// BrokenMemory is the same of a memory limit in bytes, of which 0 is none.
func (w Wanted) BrokenMemory(is int64) string {
	if is == w.memory || w.memory > 0 && is > 0 && is < w.memory && w.memory-is < largestPage {
		return ""
	}
	return fmt.Sprintf("its memory limit was changed from %s to %s", bytesOf(w.memory), bytesOf(is))
}

func bytesOf(n int64) string {
	if n == 0 {
		return "no limit"
	}
	return fmt.Sprintf("%d bytes", n)
}

// bandwidthOf parses a quota and a period in microseconds, of which "max" and -1 are no
// limit (Linux Documentation/admin-guide/cgroup-v2.rst, scheduler/sched-bwc.rst).
func bandwidthOf(words []string) (b meter.Bandwidth) {
	for i, to := range []*time.Duration{&b.Quota, &b.Period} {
		if i < len(words) {
			if n, err := strconv.ParseInt(words[i], 10, 64); err == nil && n > 0 {
				*to = time.Duration(n) * time.Microsecond
			}
		}
	}
	return b
}

// memoryOf parses a memory limit; 0 is none: "max" in v2, and in v1 the largest number of
// pages (Linux mm/page_counter.c).
func memoryOf(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 || n >= 1<<62 {
		return 0
	}
	return n
}

// Left describes a process outside of its group. where is the group in which it is; "": it
// is not known.
func Left(pid int, name, where string) string {
	text := fmt.Sprintf("process %d (%s) left its control group", pid, name)
	if where != "" {
		text += ": it is in " + where
	}
	return text
}
