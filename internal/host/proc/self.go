package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// PIDs returns the pids of the processes of this machine, in no order.
func PIDs() ([]int, error) { return PIDsIn("/proc") }

// PIDsIn returns the pids of a mounted /proc, in no order.
func PIDsIn(mount string) ([]int, error) {
	dir, err := os.Open(mount)
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

// ReadStat reads /proc/PID/stat of a process of this machine.
func ReadStat(pid int) (Stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Stat{}, err
	}
	return ParseStat(text)
}

// Ran reports whether a process or a thread of this machine ever ran; it did if that is not
// known. One that is just being forked did not: the kernel lists it before it puts it into the
// control group of its parent, and may have the parent wait for a CPU in between.
func Ran(id int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", id))
	if err != nil {
		return true
	}
	s, err := ParseSchedstat(text)
	return err != nil || s.Ran > 0
}

// Threads lists the threads of a process of this machine; none if it has ended.
func Threads(pid int) []int {
	all, err := PIDsIn(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	return all
}

// ReadSchedstats adds the scheduler's counters of the threads of a process of this machine,
// by thread, until there are most of them. It adds none if the process has ended, or the
// kernel does not count.
func ReadSchedstats(pid int, all map[int]Schedstat, most int) {
	var buffer [128]byte
	for _, id := range Threads(pid) {
		if len(all) >= most {
			return
		}
		file, err := syscall.Open(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, id), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			continue // the thread has ended
		}
		n, err := syscall.Read(file, buffer[:])
		syscall.Close(file)
		if err != nil {
			continue
		}
		if s, err := ParseSchedstat(buffer[:max(0, n)]); err == nil {
			all[id] = s
		}
	}
}

// ThreadName is the name of a thread of this machine (proc_pid_comm(5)), of at most 15 bytes;
// "" if it has ended.
func ThreadName(pid, id int) string {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, id))
	return strings.TrimSuffix(string(name), "\n")
}

// BootID identifies the boot of this machine (random(4)); "" if it cannot be read.
func BootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}
