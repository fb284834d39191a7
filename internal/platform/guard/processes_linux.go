package guard

import (
	"time"

	"github.com/millicore/millicore/internal/host/proc"
)

// Processes are the processes of replicas, including those that left their control groups.
// A process is one of a replica if it is in the replica's group, or if its parent is one of
// the replica.
//
// A scan lists the processes of the machine, and reads only those that it has not listed
// before. It costs about half a microsecond for each process, and a few for each new one. The
// caller locks.
type Processes[R comparable] struct {
	Members map[int]*Member[R] // by their pids
	// Ended is called with a member that has ended and was not waited for; nil: it is not.
	Ended func(*Member[R], proc.Stat)

	listed  map[int]bool // pids of the last scan
	scanned time.Time    // when it began
}

// Member is a process of a replica.
type Member[R comparable] struct {
	PID     int
	Started uint64 // as in proc.Stat: pids are used again, a pid and its start are not
	Name    string
	Of      R // the zero value: it is not known which
}

// NewProcesses returns the processes of replicas that do not exist yet: those that run now
// are nobody's.
func NewProcesses[R comparable]() (*Processes[R], error) {
	pids, err := proc.PIDs()
	if err != nil {
		return nil, err
	}
	p := &Processes[R]{Members: map[int]*Member[R]{}, listed: make(map[int]bool, len(pids))}
	for _, pid := range pids {
		p.listed[pid] = true
	}
	return p, nil
}

// Take makes a process one of a replica.
func (p *Processes[R]) Take(pid int, stat proc.Stat, of R) *Member[R] {
	m := &Member[R]{PID: pid, Started: stat.Started, Name: stat.Name, Of: of}
	p.listed[pid] = true
	p.Members[pid] = m
	return m
}

// Scan finds the new processes of replicas by their parents, and returns the other new
// ones. It does nothing if the last scan began at a time or later: replicas that are
// verified one after the other share it.
func (p *Processes[R]) Scan(since time.Time) (others map[int]proc.Stat, err error) {
	if !p.scanned.Before(since) {
		return nil, nil
	}
	p.scanned = time.Now()
	pids, err := proc.PIDs()
	if err != nil {
		return nil, err
	}
	listed := make(map[int]bool, len(pids))
	fresh := map[int]proc.Stat{}
	for _, pid := range pids {
		listed[pid] = true
		if p.listed[pid] {
			continue
		}
		if stat, err := proc.ReadStat(pid); err == nil && !stat.Kernel {
			fresh[pid] = stat
		}
	}
	p.listed = listed
	for pid := range p.Members {
		if !listed[pid] {
			delete(p.Members, pid)
		}
	}
	p.descend(fresh)
	return fresh, nil
}

// descend takes the processes whose parent is a member, and removes them from the new
// ones. A parent may be new itself.
func (p *Processes[R]) descend(fresh map[int]proc.Stat) {
	for again := true; again; {
		again = false
		for pid, stat := range fresh {
			if parent := p.Members[stat.Parent]; parent != nil {
				p.Take(pid, stat, parent.Of)
				delete(fresh, pid)
				again = true
			}
		}
	}
}

// Outside returns the first process of a replica that is not in its group; nil if there is
// none. each are the processes in the group in each of its hierarchies, and any those in
// any of them.
func (p *Processes[R]) Outside(of R, each, any map[int]bool) *Member[R] {
	for pid := range any {
		if m := p.Members[pid]; m != nil {
			m.Of = of
		} else if stat, err := proc.ReadStat(pid); err == nil {
			p.Take(pid, stat, of)
		}
	}
	var unknown R
	var first *Member[R]
	for pid, m := range p.Members {
		if (m.Of == of || m.Of == unknown) && !each[pid] && p.Lives(m) && proc.Ran(pid) && (first == nil || pid < first.PID) {
			first = m
		}
	}
	return first
}

// Lives reports whether a member runs. It forgets one that has ended.
func (p *Processes[R]) Lives(m *Member[R]) bool {
	stat, err := proc.ReadStat(m.PID)
	if err != nil || stat.Started != m.Started {
		delete(p.Members, m.PID)
		return false
	}
	if !stat.Gone() {
		m.Name = stat.Name
		return true
	}
	if stat.State == 'Z' && p.Ended != nil {
		p.Ended(m, stat)
	}
	return false
}

// A process may appear to be outside of its group for a while: the group is read after the
// list of processes. It is outside if that lasts for settling and is seen leastLooks times:
// on a busy machine two looks may be that far apart.
const (
	settling   = 300 * time.Millisecond
	leastLooks = 5
)

// Settled returns the process that is outside of its group, by a function that looks for
// one, once that lasts; nil if none is. The function gets a time: a scan that began then or
// later may be used.
func Settled[R comparable](since time.Time, outside func(since time.Time) *Member[R]) *Member[R] {
	deadline := time.Now().Add(settling)
	for looks := 1; ; looks++ {
		m := outside(since)
		if m == nil || looks >= leastLooks && time.Now().After(deadline) {
			return m
		}
		since = time.Now()
		time.Sleep(settling / 15)
	}
}
