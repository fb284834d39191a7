package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the times in /proc: USER_HZ, 100 a second on all of Linux's
// architectures that Go knows.
const tick = 10 * time.Millisecond

// hostCPU is what all CPUs of the machine did since it started.
type hostCPU struct{ Busy, Steal time.Duration }

// parseStat reads the first line of /proc/stat: "cpu  user nice system idle iowait
// irq softirq steal guest guest_nice", in ticks; guests are part of user and nice
// (proc_stat(5)).
func parseStat(data string) (hostCPU, error) {
	line, _, _ := strings.Cut(data, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return hostCPU{}, fmt.Errorf("/proc/stat begins with %q", line)
	}
	var ticks [8]time.Duration
	for i := range ticks {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil {
			return hostCPU{}, fmt.Errorf("/proc/stat: %w", err)
		}
		ticks[i] = time.Duration(n) * tick
	}
	const user, nice, system, irq, softirq, steal = 0, 1, 2, 5, 6, 7
	return hostCPU{Busy: ticks[user] + ticks[nice] + ticks[system] + ticks[irq] + ticks[softirq], Steal: ticks[steal]}, nil
}

// parseProcessCPU reads utime and stime of /proc/PID/stat, the 14th and 15th of
// its fields; the second is a name in brackets that may hold anything
// (proc_pid_stat(5)).
func parseProcessCPU(data string) (time.Duration, error) {
	fields := strings.Fields(data[strings.LastIndexByte(data, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat is %q", data)
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("/proc/PID/stat is %q", data)
	}
	return time.Duration(user+system) * tick, nil
}

// parseKilobytes reads a line of /proc/PID/status such as "VmHWM:  1234 kB", in
// bytes; 0 where it is not there, as of a process that has ended.
func parseKilobytes(data, name string) int64 {
	for line := range strings.Lines(data) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// parseModel finds the CPU's name in /proc/cpuinfo; "" where the architecture
// gives none.
func parseModel(data string) string {
	for line := range strings.Lines(data) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
