package lab

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// hostTimes are the host's CPU times since boot at one moment, in CPU seconds
// over all CPUs.
type hostTimes struct {
	at    time.Time
	cpus  int
	idle  float64 // idle and waiting for a disk
	steal float64 // taken by the hypervisor
}

// ticks is the unit of /proc/stat: USER_HZ, 100 on every Linux that Go runs on,
// whatever the kernel's own HZ.
const ticks = 100

// readHost reads /proc/stat. On a system without it (macOS) the error says so,
// and the host's half of the frames is left out.
func readHost() (hostTimes, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return hostTimes{}, err
	}
	return parseStat(data, time.Now())
}

// parseStat reads the times of proc_stat(5):
//
//	cpu  user nice system idle iowait irq softirq steal guest guest_nice
//	cpu0 …
func parseStat(data []byte, at time.Time) (hostTimes, error) {
	t := hostTimes{at: at}
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		if fields[0] != "cpu" {
			t.cpus++
			continue
		}
		if len(fields) < 9 {
			return t, fmt.Errorf("read /proc/stat: %d fields in the line of all CPUs, want at least 9", len(fields))
		}
		for i, sum := range map[int]*float64{4: &t.idle, 5: &t.idle, 8: &t.steal} {
			n, err := strconv.ParseUint(fields[i], 10, 64)
			if err != nil {
				return t, fmt.Errorf("read /proc/stat: %w", err)
			}
			*sum += float64(n) / ticks
		}
	}
	if t.cpus == 0 {
		return t, fmt.Errorf("read /proc/stat: no CPU in it")
	}
	return t, nil
}

// ownCPU is the CPU time of this process, in seconds.
func ownCPU() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// cpuCount is the number of CPUs that the machine has online.
func cpuCount() int {
	if t, err := readHost(); err == nil {
		return t.cpus
	}
	return runtime.NumCPU()
}
