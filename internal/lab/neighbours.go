package lab

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/proc"
)

// neighbours reads during a trial which processes that the run did not start use the CPUs
// of this machine. It knows what the platform local starts: descendants of this process,
// and processes in its control groups. Those of others that end between two readings are
// not seen.
type neighbours struct {
	processes map[process]*usage
	looked    time.Time
	next      time.Time
	seconds   float64 // since the first reading
}

// process is one with its start, because the kernel uses numbers again.
type process struct {
	pid     int
	started uint64
}

// usage is the CPU time of a process in ticks, at the first reading and at the last.
type usage struct {
	name        string
	first, last uint64
}

const (
	// neighboursEvery is how often all processes are read; less often where that takes more
	// than a hundredth of the time.
	neighboursEvery = 2 * time.Second
	// leastNeighbour is the least CPU use, in CPUs, of neighbours that are named, and
	// mostNeighbours how many are.
	leastNeighbour = 0.05
	mostNeighbours = 3
)

// newNeighbours returns nil if it is not known which processes the run starts.
func newNeighbours(l *Lab) *neighbours {
	if l.NoHost || l.Platform.Name() != "local" {
		return nil
	}
	return &neighbours{processes: map[process]*usage{}}
}

// look reads all processes, if it is time to or at the end.
func (n *neighbours) look(last bool) {
	began := time.Now()
	if n == nil || began.Before(n.next) && !last {
		return
	}
	pids, err := proc.PIDs()
	if err != nil {
		return
	}
	stats := make(map[int]proc.Stat, len(pids))
	for _, pid := range pids {
		if s, err := proc.ReadStat(pid); err == nil {
			stats[pid] = s
		}
	}
	n.add(began, stats, func(pid int) bool { return ours(pid, stats) })
	n.next = began.Add(max(neighboursEvery, 100*time.Since(began)))
}

// add takes what a reading showed. A process that was not there at the first one has
// started since then.
func (n *neighbours) add(at time.Time, stats map[int]proc.Stat, ours func(pid int) bool) {
	first := n.looked.IsZero()
	if !first {
		n.seconds += at.Sub(n.looked).Seconds()
	}
	n.looked = at
	for pid, s := range stats {
		key := process{pid, s.Started}
		u := n.processes[key]
		switch {
		case s.Kernel || u == nil && ours(pid):
			continue
		case u == nil:
			u = &usage{}
			if first {
				u.first = s.Ticks
			}
			n.processes[key] = u
		}
		u.name, u.last = s.Name, max(s.Ticks, u.last)
	}
}

// ours reports whether the run started a process.
func ours(pid int, stats map[int]proc.Stat) bool {
	for at := pid; at > 0; at = stats[at].Parent {
		if at == os.Getpid() {
			return true
		}
	}
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	return err != nil || bytes.Contains(groups, fmt.Appendf(nil, "/millicore-%d-", os.Getpid())) // as package local/group names them
}

// most returns the neighbours that used most CPU, those with one name together.
func (n *neighbours) most() (all []signals.Neighbour) {
	if n == nil || n.seconds < signals.Measurable.Seconds() {
		return nil
	}
	byName, top := map[string]*signals.Neighbour{}, map[string]uint64{}
	for p, u := range n.processes {
		used := u.last - u.first
		if used == 0 {
			continue
		}
		one := byName[u.name]
		if one == nil {
			one = &signals.Neighbour{Name: u.name}
			byName[u.name] = one
		}
		one.Processes++
		one.CPUs += float64(used) * proc.Tick.Seconds() / n.seconds
		if used > top[u.name] || used == top[u.name] && p.pid < one.PID {
			top[u.name], one.PID = used, p.pid
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if one := byName[name]; one.CPUs >= leastNeighbour {
			all = append(all, *one)
		}
	}
	slices.SortStableFunc(all, func(a, b signals.Neighbour) int { return cmp.Compare(b.CPUs, a.CPUs) })
	return all[:min(len(all), mostNeighbours)]
}
