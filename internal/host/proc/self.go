package proc

import (
	"fmt"
	"os"
	"strings"
)

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
