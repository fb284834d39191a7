package agent

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// usage measures what the agent itself uses.
type usage struct {
	cpu  time.Duration
	wait map[string]time.Duration // by thread
}

func startUsage() *usage {
	u := &usage{}
	u.since()
	return u
}

// since returns the CPU seconds that the process used since the last call, and
// the seconds that its threads waited for a CPU; nil where the kernel does not
// tell.
func (u *usage) since() (cpu float64, runWait *float64) {
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
	// Threads come and go; each counts from when it is first seen.
	var all time.Duration
	for thread, wait := range waits {
		all += wait - u.wait[thread]
	}
	u.wait = waits
	seconds := all.Seconds()
	return cpu, &seconds
}

// threadWaits reads the second field of /proc/self/task/*/schedstat: the
// nanoseconds that a thread waited on a run queue (kernel's
// Documentation/scheduler/sched-stats.rst).
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
				continue // the thread has ended meanwhile
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

// peakRSS is the highest resident memory of the process in bytes, from VmHWM
// of /proc/self/status. (ru_maxrss would include what the process that started
// this one had before the exec.) It is 0 where it cannot be read.
func peakRSS() int64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		fields := bytes.Fields(lines.Bytes())
		if len(fields) == 3 && string(fields[0]) == "VmHWM:" {
			kilobytes, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}
