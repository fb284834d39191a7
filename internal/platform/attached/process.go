package attached

import (
	"fmt"
	"os"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/proc"
)

// processCounters reads the CPU time and memory of one process, including its threads
// but not its children.
func processCounters(pid int) (signals.Counters, error) {
	c := signals.Counters{At: time.Now()}
	stat, err := proc.ReadStat(pid)
	if err != nil {
		return signals.Counters{}, fmt.Errorf("read process %d: %w", pid, err)
	}
	cpu := stat.Used().Seconds()
	memory := stat.Resident * int64(os.Getpagesize())
	c.CPU, c.Memory = &cpu, &memory
	return c, nil
}
