package given

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/signals"
)

// ticks a second: what the kernel counts CPU time in for programs, on every
// architecture that Go runs on.
const ticks = 100

// processCounters reads what the kernel tells of one process alone, its threads
// included, its children not.
func processCounters(pid int) (signals.Counters, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return signals.Counters{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	c := signals.Counters{At: time.Now()}
	cpu, pages, ok := parseStat(stat)
	if !ok {
		return signals.Counters{}, fmt.Errorf("look at process %d: /proc/%d/stat is not in the kernel's format", pid, pid)
	}
	memory := pages * int64(os.Getpagesize())
	c.CPU, c.Memory = &cpu, &memory
	return c, nil
}

// parseStat gives the CPU seconds and the resident pages (proc_pid_stat(5): fields
// 14, 15 and 24). The name before them may hold anything, brackets too.
func parseStat(stat []byte) (cpu float64, pages int64, ok bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const third = 3 // the number of the first field behind the name
	if len(fields) <= 24-third {
		return 0, 0, false
	}
	user, err1 := strconv.ParseInt(string(fields[14-third]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[15-third]), 10, 64)
	pages, err3 := strconv.ParseInt(string(fields[24-third]), 10, 64)
	return float64(user+system) / ticks, pages, err1 == nil && err2 == nil && err3 == nil
}
