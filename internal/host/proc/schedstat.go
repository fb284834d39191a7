package proc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Schedstat are the scheduler's counters of one thread since it started.
type Schedstat struct {
	Ran    time.Duration // time on a CPU
	Waited time.Duration // time runnable without a CPU: in a run queue, or throttled
	Turns  int64         // how often it got a CPU
}

// ParseSchedstat parses /proc/PID/task/TID/schedstat
// (Documentation/scheduler/sched-stats.rst): nanoseconds on a CPU, nanoseconds in a run
// queue, and the number of times that it got a CPU. A thread that is throttled stays
// runnable, so its wait contains the throttled time.
//
//	1234567 89012 34
func ParseSchedstat(text []byte) (Schedstat, error) {
	fields := strings.Fields(string(text))
	if len(fields) != 3 {
		return Schedstat{}, errors.New("parse schedstat: want three numbers")
	}
	ran, err1 := strconv.ParseInt(fields[0], 10, 64)
	waited, err2 := strconv.ParseInt(fields[1], 10, 64)
	turns, err3 := strconv.ParseInt(fields[2], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || ran < 0 || waited < 0 || turns < 0 {
		return Schedstat{}, errors.Join(errors.New("parse schedstat: want two numbers of nanoseconds and a count"), err1, err2, err3)
	}
	return Schedstat{Ran: time.Duration(ran), Waited: time.Duration(waited), Turns: turns}, nil
}

// CPUTimes are the CPU times of a machine since its boot, summed over its CPUs.
type CPUTimes struct {
	Total, Steal time.Duration
	Idle         time.Duration // waits for a disk included
}

// ParseCPUTimes parses the first line of /proc/stat (proc_stat(5)), in ticks. The times
// of guests are contained in user and nice.
//
//	cpu  user nice system idle iowait irq softirq steal guest guest_nice
func ParseCPUTimes(text []byte) (CPUTimes, error) {
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return CPUTimes{}, errors.New("parse /proc/stat: no line cpu with 8 numbers")
	}
	var t CPUTimes
	for i, field := range fields[1:9] {
		ticks, err := strconv.ParseUint(field, 10, 48)
		if err != nil {
			return CPUTimes{}, fmt.Errorf("parse /proc/stat: %w", err)
		}
		t.Total += time.Duration(ticks) * Tick
		switch i {
		case 3, 4:
			t.Idle += time.Duration(ticks) * Tick
		case 7:
			t.Steal = time.Duration(ticks) * Tick
		}
	}
	return t, nil
}
