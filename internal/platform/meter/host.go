package meter

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/proc"
)

// HostTimes are a host's CPU times since boot at one moment, in CPU seconds over
// all CPUs.
type HostTimes struct {
	At    time.Time
	CPUs  int
	Idle  float64 // idle and waiting for a disk
	Steal float64 // taken by the hypervisor

	// IRQ and SoftIRQ are the time in interrupt handlers and in the work that they put off,
	// most of which is the network's. A kernel with CONFIG_IRQ_TIME_ACCOUNTING measures
	// both and charges them to no process and no control group. Any other kernel counts no
	// IRQ at all, and SoftIRQ twice: here and as CPU time of the interrupted process.
	IRQ, SoftIRQ float64
}

// Used is what the parts of a run used of a host, in CPU seconds.
type Used struct{ Services, Dependencies, Agents, Lab float64 }

// HostHalf divides a host's CPU time between two moments. What the run did not use is
// foreign, without the time in interrupts: that of a loaded service is mostly its own
// traffic's. The host's times have a resolution of 10 ms, so a negative difference is an
// error of rounding and becomes 0.
func HostHalf(before, after HostTimes, used Used) signals.Host {
	s := after.At.Sub(before.At).Seconds()
	if s <= 0 {
		s = 1e-9
	}
	h := signals.Host{
		CPUs: after.CPUs, Idle: max(0, after.Idle-before.Idle) / s, Steal: max(0, after.Steal-before.Steal) / s,
		Services: used.Services / s, Dependencies: used.Dependencies / s, Agents: used.Agents / s, Lab: used.Lab / s,
	}
	h.Busy = max(0, float64(h.CPUs)-h.Idle-h.Steal)
	if before.IRQ > 0 { // the kernel measures it
		h.Interrupts = max(0, after.IRQ+after.SoftIRQ-before.IRQ-before.SoftIRQ) / s
	}
	h.Foreign = max(0, h.Busy-h.Services-h.Dependencies-h.Agents-h.Lab-h.Interrupts)
	return h
}

// ReadHost reads /proc/stat, which in a container is the host's. It fails on a system
// without it (macOS).
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
		for i, sum := range map[int]*float64{4: &t.Idle, 5: &t.Idle, 6: &t.IRQ, 7: &t.SoftIRQ, 8: &t.Steal} {
			n, err := strconv.ParseUint(fields[i], 10, 64)
			if err != nil {
				return t, fmt.Errorf("read /proc/stat: %w", err)
			}
			*sum += float64(n) * proc.Tick.Seconds()
		}
	}
	if t.CPUs == 0 {
		return t, fmt.Errorf("read /proc/stat: no CPU in it")
	}
	return t, nil
}
