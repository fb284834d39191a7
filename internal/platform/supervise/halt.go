package supervise

import (
	"sync"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/host/proc"
)

// Halt recognizes that a replica cannot run although it has not ended. The zero value is
// ready. Several goroutines may use it.
type Halt struct {
	mu    sync.Mutex
	used  float64 // CPU seconds at the last call
	first int     // the process of group; 0: none
	group cgroup.Group
}

// least is the CPU time in seconds below which a replica used none between two calls.
const least = 0.001

// Halted reports whether a signal (SIGSTOP) or a debugger holds the processes of a
// replica, or their control group is frozen, as by `docker pause`. cpu is the CPU time in
// seconds that the replica has used. Of several processes some may be held: that counts
// if none of them used CPU since the last call.
func (h *Halt) Halted(cpu float64, pids []int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	idle := cpu-h.used < least
	h.used = cpu
	if len(pids) == 0 {
		return false
	}
	if h.frozen(pids[0]) {
		return true
	}
	held, free := 0, 0
	for _, pid := range pids {
		stat, err := proc.ReadStat(pid)
		switch {
		case err != nil || stat.Ended():
		case stat.Held():
			held++
		default:
			free++
		}
		if idle && held > 0 || !idle && free > 0 {
			break
		}
	}
	return held > 0 && (idle || free == 0)
}

// frozen reports whether the control group of a process is frozen.
func (h *Halt) frozen(pid int) bool {
	if h.first != pid {
		group, err := cgroup.Host().Process(pid)
		if err != nil {
			return false
		}
		h.first, h.group = pid, group
	}
	is, ok := h.group.Frozen().Get()
	return ok && is
}
