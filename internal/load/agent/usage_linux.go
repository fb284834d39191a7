package agent

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/proc"
)

// usage measures the agent's own CPU time, run-queue wait and throttling.
type usage struct {
	cpu       time.Duration
	wait      map[string]time.Duration // by thread
	group     *cgroup.Reader           // of the agent's control group; nil: not readable
	throttled *time.Duration           // by the group's own limit; nil: not known
}

// startUsage starts the measurement; close ends it.
func startUsage() *usage {
	return newUsage(cgroup.Host())
}

func newUsage(fs cgroup.FS) *usage {
	u := &usage{}
	if self, err := fs.Self(cgroup.CPU); err == nil {
		u.group, _ = self.Open() // nil after an error: not measured
	}
	u.since(&signals.Client{})
	return u
}

func (u *usage) close() {
	if u.group != nil {
		u.group.Close()
	}
}

// since sets a frame's figures since the previous call, in seconds: CPU time, run-queue
// wait of all threads, and the time for which the agent's group was throttled. A
// figure that the kernel does not provide is nil.
func (u *usage) since(c *signals.Client) {
	c.CPU, c.RunWait = u.times()
	c.Throttled = u.throttling()
}

// throttling returns for how many seconds the limit of the agent's own group (its
// container) throttled it since the previous call.
func (u *usage) throttling() *float64 {
	if u.group == nil {
		return nil
	}
	before := u.throttled
	u.throttled = nil
	var stat cgroup.CPUStat
	if u.group.ReadThrottling(&stat) != nil {
		return nil
	}
	now, ok := stat.Throttled.Get()
	if !ok {
		return nil
	}
	u.throttled = &now
	if before == nil {
		return nil
	}
	seconds := (now - *before).Seconds()
	return &seconds
}

func (u *usage) times() (cpu float64, runWait *float64) {
	var now unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &now); err == nil {
		total := time.Duration(now.Utime.Nano() + now.Stime.Nano())
		cpu = (total - u.cpu).Seconds()
		u.cpu = total
	}
	waits, err := threadWaits()
	if err != nil {
		return cpu, nil
	}
	// Threads start and end; each counts from its first reading on.
	var all time.Duration
	for thread, wait := range waits {
		all += wait - u.wait[thread]
	}
	u.wait = waits
	seconds := all.Seconds()
	return cpu, &seconds
}

// threadWaits reads the second field of /proc/self/task/*/schedstat: the nanoseconds
// that a thread waited on a run queue (Linux Documentation/scheduler/sched-stats.rst).
func threadWaits() (map[string]time.Duration, error) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	waits := make(map[string]time.Duration, len(tasks))
	for _, task := range tasks {
		data, err := os.ReadFile("/proc/self/task/" + task.Name() + "/schedstat")
		if os.IsNotExist(err) {
			if _, gone := os.Stat("/proc/self/task/" + task.Name()); gone != nil {
				continue // the thread has ended
			}
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		var ran, waited int64
		if _, err := fmt.Sscan(string(data), &ran, &waited); err != nil {
			return nil, fmt.Errorf("schedstat of thread %s: %w", task.Name(), err)
		}
		waits[task.Name()] = time.Duration(waited)
	}
	return waits, nil
}

// peakRSS is the peak resident memory of the process in bytes, from VmHWM of
// /proc/self/status; 0 if it cannot be read. (ru_maxrss would include the memory of
// the parent process before the exec.)
func peakRSS() int64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	return proc.ParseStatus(data).Peak
}
