package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
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

// BootID identifies the boot of this machine (random(4)); "" if it cannot be read.
func BootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}
