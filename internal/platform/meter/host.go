package meter

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// HostTimes are a host's CPU times since boot at one moment, in CPU seconds over
// all CPUs.
type HostTimes struct {
	At    time.Time
	CPUs  int
	Idle  float64 // idle and waiting for a disk
	Steal float64 // taken by the hypervisor
}

// ticks is the unit of /proc/stat: USER_HZ, 100 on every Linux that Go runs on,
// whatever the kernel's own HZ.
const ticks = 100

// ReadHost reads /proc/stat, which in a container is the host's. On a system
// without it (macOS) the error says so.
func ReadHost() (HostTimes, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return HostTimes{}, err
	}
	return ParseHost(data, time.Now())
}

// ParseHost reads the times of proc_stat(5):
//
//	cpu  user nice system idle iowait irq softirq steal guest guest_nice
//	cpu0 …
func ParseHost(data []byte, at time.Time) (HostTimes, error) {
	t := HostTimes{At: at}
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		if fields[0] != "cpu" {
			t.CPUs++
			continue
		}
		if len(fields) < 9 {
			return t, fmt.Errorf("read /proc/stat: %d fields in the line of all CPUs, want at least 9", len(fields))
		}
		for i, sum := range map[int]*float64{4: &t.Idle, 5: &t.Idle, 8: &t.Steal} {
			n, err := strconv.ParseUint(fields[i], 10, 64)
			if err != nil {
				return t, fmt.Errorf("read /proc/stat: %w", err)
			}
			*sum += float64(n) / ticks
		}
	}
	if t.CPUs == 0 {
		return t, fmt.Errorf("read /proc/stat: no CPU in it")
	}
	return t, nil
}
