package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/host/proc"
)

// hostCPU is the CPU time of all CPUs of the machine since its start.
type hostCPU struct{ Busy, Steal time.Duration }

// parseStat parses the first line of /proc/stat: "cpu user nice system idle iowait irq
// softirq steal guest guest_nice", in ticks; guests are part of user and nice
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
		ticks[i] = time.Duration(n) * proc.Tick
	}
	const user, nice, system, irq, softirq, steal = 0, 1, 2, 5, 6, 7
	return hostCPU{Busy: ticks[user] + ticks[nice] + ticks[system] + ticks[irq] + ticks[softirq], Steal: ticks[steal]}, nil
}

// parseKilobytes parses a line of /proc/PID/status such as "VmHWM: 1234 kB", in bytes;
// 0 if the line is missing, as for a process that has ended.
func parseKilobytes(data, name string) int64 {
	for line := range strings.Lines(data) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// parseModel finds the CPU's name in /proc/cpuinfo; "" on architectures without one.
func parseModel(data string) string {
	for line := range strings.Lines(data) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
