package attached

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/host/procfiles"
)

// Family are a process and its descendants, the process first. Those that cannot be read
// are left out.
func Family(pid int) []int { return descendants("/proc", pid) }

// mostMembers bounds the processes of a family, and the threads of each that are asked for
// children: a service can start any number of both.
const mostMembers = 4096

// descendants reads proc_pid_task_children(5): the pids of the children of each thread,
// with blanks between them.
func descendants(procDir string, pid int) []int {
	host := procfiles.New(procDir)
	all, known := []int{pid}, map[int]bool{pid: true}
	for i := 0; i < len(all) && len(all) < mostMembers; i++ {
		tasks, _ := host.Names(all[i], "task", mostMembers) // none of a process that has ended
		for _, task := range tasks {
			text, err := host.Read(all[i], filepath.Join("task", task, "children"))
			if err != nil {
				continue // the thread has ended
			}
			for field := range strings.FieldsSeq(string(text)) {
				if child, err := strconv.Atoi(field); err == nil && !known[child] {
					all, known[child] = append(all, child), true
				}
			}
		}
	}
	return all
}

// family sums the CPU time and the memory of a process and its descendants.
type family struct {
	pid     int
	members func() []int
	stat    func(pid int) (proc.Stat, error)

	mu   sync.Mutex
	used map[member]time.Duration // at the last reading
	sum  time.Duration            // of all members, also those that have ended
}

// member is one process: another one may get its pid.
type member struct {
	pid     int
	started uint64
}

func newFamily(pid int) *family {
	return &family{pid: pid, members: func() []int { return Family(pid) }, stat: proc.ReadStat, used: map[member]time.Duration{}}
}

// counters are the CPU time since the first reading, and the memory in use. A process
// counts from the reading at which it was first seen; what it used between its last
// reading and its end is not known.
func (f *family) counters() (signals.Counters, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := signals.Counters{At: time.Now()}
	now, resident := map[member]time.Duration{}, int64(0)
	for _, pid := range f.members() {
		stat, err := f.stat(pid)
		if err != nil {
			if pid == f.pid {
				return signals.Counters{}, fmt.Errorf("read process %d: %w", pid, err)
			}
			continue
		}
		who := member{pid, stat.Started}
		now[who] = stat.Used()
		if before, known := f.used[who]; known {
			f.sum += now[who] - before
		}
		resident += stat.Resident
	}
	f.used = now
	cpu, memory := f.sum.Seconds(), resident*int64(os.Getpagesize())
	c.CPU, c.Memory = &cpu, &memory
	return c, nil
}
