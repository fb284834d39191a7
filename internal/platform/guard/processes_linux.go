package guard

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/host/proc"
)

// Process identifies a process: pids are used again, a pid and its start are not.
type Process struct {
	PID     int    `json:"pid"`
	Started uint64 `json:"started"` // as in proc.Stat
}

// Processes are those of one replica: the one that was started, those that were seen in its
// control group, and the children of these. They stay so when somebody moves them out of
// the group. Several goroutines may use it concurrently.
type Processes struct {
	mu      sync.Mutex
	members map[int]Process
	listed  map[int]bool // pids of this machine, at the last look
}

// Add adds a process, such as the first of a replica. Without one that was added, those
// that run already are nobody's.
func (p *Processes) Add(one Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(one)
}

func (p *Processes) add(one Process) {
	if p.members == nil {
		p.members = map[int]Process{}
	}
	p.members[one.PID] = one
}

// All returns the processes that run, after it looked for new ones.
func (p *Processes) All() ([]Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.look(); err != nil {
		return nil, err
	}
	return slices.Collect(maps.Values(p.members)), nil
}

// look forgets the processes that have ended, and adds the children of the others. It costs
// about half a microsecond for each process of the machine, and a few for each new one.
func (p *Processes) look() error {
	pids, err := proc.PIDs()
	if err != nil {
		return err
	}
	for pid, one := range p.members {
		if stat, err := proc.ReadStat(pid); err != nil || stat.Started != one.Started || stat.Gone() {
			delete(p.members, pid)
		}
	}
	listed := make(map[int]bool, len(pids))
	fresh := map[int]proc.Stat{}
	for _, pid := range pids {
		listed[pid] = true
		if p.listed[pid] {
			continue
		}
		if stat, err := proc.ReadStat(pid); err == nil && !stat.Kernel && !stat.Gone() {
			fresh[pid] = stat
		}
	}
	p.listed = listed
	p.adopt(fresh)
	return nil
}

// adopt adds those of new processes whose parent is one of the replica. A parent may be new
// itself.
func (p *Processes) adopt(fresh map[int]proc.Stat) {
	for again := true; again; {
		again = false
		for pid, stat := range fresh {
			if _, known := p.members[stat.Parent]; known {
				p.add(Process{PID: pid, Started: stat.Started})
				delete(fresh, pid)
				again = true
			}
		}
	}
}

// A process may appear to be outside of its group for a while: a new one is started outside
// and enters the group, and the group is read after the list of processes. It is outside if
// that lasts for settling and is seen leastLooks times: on a busy machine two looks may be
// that far apart.
const (
	settling   = 300 * time.Millisecond
	leastLooks = 5
)

// Outside returns a process that is not in the replica's group, of which dirs are the
// directories, and describes it, as in "process 7 (web) left its control group: it is in /".
// "" if all are inside. What cannot be read shows nothing.
func (p *Processes) Outside(dirs []string) (Process, string) {
	one, found := settled(func() (Process, bool) { return p.firstOutside(dirs) })
	if !found {
		return one, ""
	}
	name := "ended"
	if stat, err := proc.ReadStat(one.PID); err == nil {
		name = stat.Name
	}
	text := fmt.Sprintf("process %d (%s) left its control group", one.PID, name)
	if where := elsewhere(dirs, one.PID); where != "" {
		text += ": it is in " + where
	}
	return one, text
}

// settled returns what a function finds, once that lasts.
func settled(find func() (Process, bool)) (Process, bool) {
	deadline := time.Now().Add(settling)
	for looks := 1; ; looks++ {
		one, found := find()
		if !found || looks >= leastLooks && time.Now().After(deadline) {
			return one, found
		}
		time.Sleep(settling / 15)
	}
}

func (p *Processes) firstOutside(dirs []string) (first Process, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.look() != nil {
		return Process{}, false
	}
	each, any, err := inside(dirs)
	if err != nil {
		return Process{}, false
	}
	for pid := range any {
		if _, known := p.members[pid]; known {
			continue
		}
		if stat, err := proc.ReadStat(pid); err == nil && !stat.Gone() {
			p.add(Process{PID: pid, Started: stat.Started})
		}
	}
	for pid, one := range p.members {
		if !each[pid] && proc.Ran(pid) && (!found || pid < first.PID) {
			first, found = one, true
		}
	}
	return first, found
}

// inside returns the processes that are in the directories of a group in each hierarchy, and
// those that are in any. Processes in groups below it are inside: its limits apply to them.
func inside(dirs []string) (each, any map[int]bool, err error) {
	in := map[int]int{} // in how many hierarchies
	for _, dir := range dirs {
		pids, err := PIDs(dir)
		if err != nil {
			return nil, nil, err
		}
		for _, pid := range pids {
			in[pid]++
		}
	}
	each, any = map[int]bool{}, map[int]bool{}
	for pid, n := range in {
		any[pid], each[pid] = true, n == len(dirs)
	}
	return each, any, nil
}

// PIDs returns the processes of the group in a directory and of those below it, each once.
func PIDs(dir string) (all []int, err error) {
	groups, err := cgroup.Tree(dir, "")
	if err != nil {
		return nil, err
	}
	for _, one := range groups {
		some, err := cgroup.Processes(one)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.Sort(all) // a process that moves between them may be read twice
	return slices.Compact(all), nil
}

// elsewhere is the group of a process in the first hierarchy in which it is not in the
// directories of a group; "" if that is not known.
func elsewhere(dirs []string, pid int) string {
	at, err := cgroup.Host().Process(pid)
	if err != nil {
		return ""
	}
	own, err := cgroup.Host().At(dirs...)
	if err != nil {
		return ""
	}
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.Memory, cgroup.CPUSet, cgroup.PIDs, cgroup.Unified} {
		is, known := at.Place(c).Get()
		was, used := own.Place(c).Get()
		if known && used && is.Dir != was.Dir && !strings.HasPrefix(is.Dir, was.Dir+"/") {
			return is.Dir
		}
	}
	return ""
}
