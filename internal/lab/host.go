package lab

import (
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/platform/meter"
)

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
	if t, err := meter.ReadHost(); err == nil {
		return t.CPUs
	}
	return runtime.NumCPU()
}
