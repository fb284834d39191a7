package inspect

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc/PID/stat: USER_HZ is 100 wherever Go runs
// (proc(5); include/asm-generic/param.h).
const tick = 10 * time.Millisecond

// stat is what is taken from /proc/PID/stat.
type stat struct {
	name    string
	state   byte
	parent  int
	kernel  bool // a thread of the kernel
	exiting bool // it runs no code of its own any more
	used    time.Duration
	threads int
	started uint64 // clock ticks after the boot
}

// PF_KTHREAD and PF_EXITING of the flags (include/linux/sched.h).
const (
	kernelThread = 0x00200000
	exiting      = 0x00000004
)

// gone reports a process that has ended and was not waited for yet, or is about
// to: its memory, and the link to its executable, are gone before its state tells.
func (s stat) gone() bool { return s.exiting || s.state == 'Z' || s.state == 'X' }

// parseStat reads stat (proc_pid_stat(5)). The second field is the name in
// brackets, which may hold anything, brackets and newlines too.
//
//	1234 (name) S ppid pgrp session tty tpgid flags minflt cminflt majflt
//	cmajflt utime stime cutime cstime priority nice threads itrealvalue starttime …
func parseStat(text []byte) (stat, error) {
	s := string(text)
	open, end := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if open < 0 || end < open {
		return stat{}, errors.New("no name in brackets")
	}
	fields := strings.Fields(s[end+1:])
	if len(fields) < 20 || len(fields[0]) != 1 {
		return stat{}, errors.New("too few fields")
	}
	var numbers [20]uint64
	for _, at := range []int{1, 6, 11, 12, 17, 19} { // the state is 0
		n, err := strconv.ParseUint(fields[at], 10, 63)
		if err != nil {
			return stat{}, err
		}
		numbers[at] = n
	}
	return stat{
		name: s[open+1 : end], state: fields[0][0], parent: int(numbers[1]),
		kernel: numbers[6]&kernelThread != 0, exiting: numbers[6]&exiting != 0, used: ticks(numbers[11]) + ticks(numbers[12]),
		threads: int(numbers[17]), started: numbers[19],
	}, nil
}

func ticks(n uint64) time.Duration { return time.Duration(min(n, 1<<40)) * tick }

// parseUser reads the effective user from status (proc_pid_status(5)); -1 where
// it is not there.
//
//	Uid:\treal\teffective\tsaved\tfilesystem
func parseUser(status []byte) int {
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "Uid:"); ok {
			fields := strings.Fields(rest)
			if len(fields) < 2 {
				return -1
			}
			if n, err := strconv.ParseUint(fields[1], 10, 32); err == nil {
				return int(n)
			}
		}
	}
	return -1
}

// leader is the process that a thread belongs to: /proc has threads too, though it
// does not list them. Of what is not there it is pid itself.
//
//	Tgid:\t1234
func (s *Scanner) leader(pid int) int {
	status, err := s.read(pid, "status")
	if err != nil {
		return pid
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "Tgid:"); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(rest)); err == nil && n > 0 {
				return n
			}
		}
	}
	return pid
}

// parseCommand splits cmdline: arguments, each ended by a NUL.
func parseCommand(text []byte) []string {
	s := strings.TrimRight(string(text), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// parseUptime reads uptime (proc_uptime(5)), in seconds since the boot; 0 where it
// is no such file.
//
//	350735.47 234388.90
func parseUptime(text []byte) time.Duration {
	seconds, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseFloat(seconds, 64)
	if err != nil || !(n > 0 && n < 1e9) {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// parseOnline counts the CPUs of /sys/devices/system/cpu/online: "0-3,5"; 0 where
// it is no such list.
func parseOnline(text []byte) int {
	n := 0
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), ",") {
		low, high, ranged := strings.Cut(part, "-")
		a, err := strconv.ParseUint(low, 10, 16)
		b := a
		if err == nil && ranged {
			b, err = strconv.ParseUint(high, 10, 16)
		}
		if err != nil || b < a {
			return 0
		}
		n += int(b-a) + 1
	}
	return n
}

// pids are the processes that there are.
func (s *Scanner) pids() ([]int, error) {
	dir, err := os.Open(s.proc())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var all []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			all = append(all, pid)
		}
	}
	return all, nil
}

func (s *Scanner) proc() string { return filepath.Join(s.root, "/proc") }

func (s *Scanner) path(pid int, name string) string {
	return filepath.Join(s.proc(), strconv.Itoa(pid), name)
}

func (s *Scanner) read(pid int, name string) ([]byte, error) { return os.ReadFile(s.path(pid, name)) }

func (s *Scanner) stat(pid int) (stat, error) {
	text, err := s.read(pid, "stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}
