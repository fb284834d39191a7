// Package proc parses files of Linux's /proc and /sys, one parser for each. The parsers
// are pure: they take the bytes of a file and quote its format with the man page. Most
// callers read the files themselves, from different roots; ReadStat and BootID read
// those of this machine. Control groups are read by internal/cgroup.
package proc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Tick is the unit of CPU times in /proc, 1/USER_HZ. USER_HZ is 100 on all
// architectures that Go supports (proc(5); include/asm-generic/param.h).
const Tick = 10 * time.Millisecond

// Stat are fields of /proc/PID/stat.
type Stat struct {
	Name     string // at most 15 bytes, except for kernel threads
	State    byte   // R, S, D, Z, …
	Parent   int
	Session  int
	Kernel   bool   // a kernel thread
	Exiting  bool   // it no longer runs code of its program
	Ticks    uint64 // CPU time used by all threads: utime + stime
	Threads  int
	Started  uint64 // in ticks after the boot
	Resident int64  // resident pages
}

// Flags of a process (include/linux/sched.h).
const (
	flagExiting = 0x00000004 // PF_EXITING
	flagKernel  = 0x00200000 // PF_KTHREAD
)

// Gone reports whether a process has ended and was not waited for yet, or is about to
// end. An exiting process loses its memory and the link to its executable before its
// state changes.
func (s Stat) Gone() bool { return s.Exiting || s.Ended() }

// Ended reports whether a process has ended and was not waited for yet.
func (s Stat) Ended() bool { return s.State == 'Z' || s.State == 'X' }

// Held reports whether a signal (SIGSTOP, SIGTSTP) or a debugger holds a process.
func (s Stat) Held() bool { return s.State == 'T' || s.State == 't' }

// Used is the CPU time used by all threads.
func (s Stat) Used() time.Duration { return time.Duration(min(s.Ticks, 1<<39)) * Tick }

// Indices of the fields after the name, which is field 2 of proc_pid_stat(5).
const (
	first = 3

	state     = 3 - first
	parent    = 4 - first
	session   = 6 - first
	flags     = 9 - first
	userTime  = 14 - first
	sysTime   = 15 - first
	threads   = 20 - first
	startTime = 22 - first
	resident  = 24 - first
	needed    = resident + 1
)

// ParseStat parses /proc/PID/stat (proc_pid_stat(5)). The name is in brackets and may
// contain any byte, including brackets, spaces and newlines.
//
//	1234 (name) S ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt
//	utime stime cutime cstime priority nice threads itrealvalue starttime vsize rss …
func ParseStat(text []byte) (Stat, error) {
	line := string(text)
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return Stat{}, errors.New("parse /proc/PID/stat: no name in brackets")
	}
	fields := strings.Fields(line[end+1:])
	if len(fields) < needed || len(fields[state]) != 1 {
		return Stat{}, fmt.Errorf("parse /proc/PID/stat: %d fields after the name, want at least %d", len(fields), needed)
	}
	var numbers [needed]uint64
	for _, at := range []int{parent, session, flags, userTime, sysTime, threads, startTime, resident} {
		n, err := strconv.ParseUint(fields[at], 10, 63)
		if err != nil {
			return Stat{}, fmt.Errorf("parse /proc/PID/stat: field %d: %w", at+3, err)
		}
		numbers[at] = n
	}
	return Stat{
		Name: line[open+1 : end], State: fields[state][0], Parent: int(numbers[parent]), Session: int(numbers[session]),
		Kernel: numbers[flags]&flagKernel != 0, Exiting: numbers[flags]&flagExiting != 0,
		Ticks: numbers[userTime] + numbers[sysTime], Threads: int(numbers[threads]),
		Started: numbers[startTime], Resident: int64(numbers[resident]),
	}, nil
}

// ParseArgs splits /proc/PID/cmdline (proc_pid_cmdline(5)): arguments that end with a
// NUL each. A process that changed its title may have spaces instead of NULs.
//
//	/usr/bin/api\0--port\080\0
func ParseArgs(text []byte) []string {
	line := strings.TrimRight(string(text), "\x00")
	if line == "" {
		return nil
	}
	return strings.Split(line, "\x00")
}

// maxCPUs bounds the length of a list of CPUs; the kernel's own bound is 8192.
const maxCPUs = 1 << 16

// CountCPUs counts the CPUs of a list, such as Cpus_allowed_list of /proc/PID/status or
// /sys/devices/system/cpu/online (cpuset(7), "List format"); 0 if it is malformed.
//
//	0-3,8,10-11
func CountCPUs(list string) int {
	n := 0
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		low, high, isRange := strings.Cut(part, "-")
		first, err := strconv.ParseUint(low, 10, 16)
		if err != nil {
			return 0
		}
		last := first
		if isRange {
			if last, err = strconv.ParseUint(high, 10, 16); err != nil || last < first {
				return 0
			}
		}
		if n += int(last-first) + 1; n > maxCPUs {
			return 0
		}
	}
	return n
}
