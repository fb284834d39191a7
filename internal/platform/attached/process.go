package attached

import (
	"fmt"
	"os"
	"time"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/signals"
)

// processCounters reads the CPU time and memory of one process, including its threads
// but not its children.
func processCounters(pid int) (signals.Counters, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return signals.Counters{}, fmt.Errorf("read process %d: %w", pid, err)
	}
	c := signals.Counters{At: time.Now()}
	stat, err := proc.ParseStat(text)
	if err != nil {
		return signals.Counters{}, fmt.Errorf("read process %d: %w", pid, err)
	}
	cpu := float64(stat.Ticks) / (float64(time.Second) / float64(proc.Tick))
	memory := stat.Resident * int64(os.Getpagesize())
	c.CPU, c.Memory = &cpu, &memory
	return c, nil
}
