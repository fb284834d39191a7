package proc

import (
	"strconv"
	"strings"
)

// Status are fields of /proc/PID/status (proc_pid_status(5)); 0 where one is missing.
type Status struct {
	Inner   int   // pid of the process in its own pid namespace
	Leader  int   // pid of the process of a thread: the thread group
	Parent  int   // pid
	User    int   // the effective user; -1: missing
	Threads int   // of the process
	CPUs    int   // on which it may run
	Peak    int64 // the highest resident memory, in bytes
	Anon    int64 // resident memory without files and shared memory, in bytes
}

// ParseStatus parses /proc/PID/status. A malformed field counts as missing.
//
//	Name:\tapi
//	Tgid:\t1234
//	NSpid:\t1234\t7
//	PPid:\t1
//	Uid:\treal\teffective\tsaved\tfilesystem
//	VmHWM:\t   12345 kB
//	RssAnon:\t   10000 kB
//	Threads:\t12
//	Cpus_allowed_list:\t0-3,8
func ParseStatus(text []byte) Status {
	s := Status{User: -1}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); key {
		case "NSpid": // in each namespace, its own last
			if fields := strings.Fields(value); len(fields) > 0 {
				s.Inner = number(fields[len(fields)-1])
			}
		case "Tgid":
			s.Leader = number(value)
		case "PPid":
			s.Parent = number(value)
		case "Threads":
			s.Threads = number(value)
		case "Cpus_allowed_list":
			s.CPUs = CountCPUs(value)
		case "Uid":
			if fields := strings.Fields(value); len(fields) > 1 {
				if user, err := strconv.ParseUint(fields[1], 10, 32); err == nil {
					s.User = int(user)
				}
			}
		case "VmHWM":
			s.Peak = int64(number(strings.TrimSuffix(value, " kB"))) << 10
		case "RssAnon":
			s.Anon = int64(number(strings.TrimSuffix(value, " kB"))) << 10
		}
	}
	return s
}

// number parses a number of at most 32 bits; 0 if it is malformed.
func number(text string) int {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}
