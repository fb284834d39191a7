package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// RunDelays returns how long each thread of this process, by its id, was runnable without
// having a CPU since it started: in a run queue, or throttled. It is absent where the
// kernel does not account it.
func (f FS) RunDelays() Value[map[int]time.Duration] {
	if !f.hasCgroups() {
		return Value[map[int]time.Duration]{}
	}
	tasks := f.real("/proc/self/task")
	entries, err := os.ReadDir(tasks)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return UnreadableValue[map[int]time.Duration](err)
	}
	delays, accounted := map[int]time.Duration{}, false
	for _, entry := range entries {
		tid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		name := filepath.Join(tasks, entry.Name(), "schedstat")
		data, err := readFile(name, groupFile)
		if err != nil {
			continue // the thread has ended, or the kernel does not have the file
		}
		ran, waited, err := parseSchedstat(data)
		if err != nil {
			return UnreadableValue[map[int]time.Duration](fmt.Errorf("%s: %w", name, err))
		}
		delays[tid] = waited
		accounted = accounted || ran > 0
	}
	if !accounted {
		return Value[map[int]time.Duration]{}
	}
	return ValueOf(delays)
}

// parseSchedstat parses /proc/PID/task/TID/schedstat: nanoseconds on a CPU, nanoseconds
// runnable without one, and how often it got one. All are 0 if the kernel does not account
// them.
//
//	1234567 89012 34
//
// Linux Documentation/scheduler/sched-stats.rst.
func parseSchedstat(b []byte) (ran, waited time.Duration, err error) {
	line, _, err := nextLine(b)
	if err != nil {
		return 0, 0, err
	}
	fields := bytes.Fields(line)
	if len(fields) != 3 {
		return 0, 0, malformed("want three numbers", line)
	}
	if ran, err = parseTime(fields[0], time.Nanosecond); err == nil {
		waited, err = parseTime(fields[1], time.Nanosecond)
	}
	return ran, waited, err
}
