package docker

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/platform/guard"
	"github.com/millicore/millicore/internal/platform/local/group"
)

// Who may use Docker can change the limits of a container (docker update), and a process
// of root on this machine, or a privileged one that was started in the container (docker
// exec), can move processes out of its group. A process whose parent ends becomes a child
// of the container's first process, so that all of them descend from it.

// kin are the processes of all replicas.
type kin struct {
	mu        sync.Mutex
	processes *guard.Processes[*replica]
}

type member = guard.Member[*replica]

func newKin() (*kin, error) {
	all, err := guard.NewProcesses[*replica]()
	if err != nil {
		return nil, fmt.Errorf("watch for processes that leave their control groups: %w", err)
	}
	return &kin{processes: all}, nil
}

// lead takes the first process of a container.
func (k *kin) lead(pid int, of *replica) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if stat, err := proc.ReadStat(pid); err == nil { // otherwise it has ended
		k.processes.Take(pid, stat, of)
	}
}

// outside describes the first process of a replica that is not in the group of its
// container; "" if there is none. What cannot be read shows nothing.
func (k *kin) outside(r *replica, since time.Time) string {
	m := guard.Settled(since, func(since time.Time) *member { return k.firstOutside(r, since) })
	if m == nil {
		return ""
	}
	return guard.Left(m.PID, m.Name, group.Where(r.dirs(), m.PID))
}

func (k *kin) firstOutside(r *replica, since time.Time) *member {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, err := k.processes.Scan(since); err != nil {
		return nil
	}
	each, any, err := group.Inside(r.dirs())
	if err != nil {
		return nil
	}
	return k.processes.Outside(r, each, any)
}

// forget ends the watching of a replica, whose container was removed.
func (k *kin) forget(r *replica) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for pid, m := range k.processes.Members {
		if m.Of == r {
			delete(k.processes.Members, pid)
		}
	}
}

// LimitBroken describes which limit of the container is not the one that was set, or which
// process left its group; "" if all hold. See platform.LimitVerifier.
func (r *replica) LimitBroken(since time.Time) string {
	if len(r.dirs()) == 0 {
		return "" // it ended before its group was found
	}
	if why := r.guard.Broken(); why != "" {
		return why
	}
	return r.docker.kin.outside(r, since)
}

// dirs are the directories of the container's group.
func (r *replica) dirs() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil {
		return nil
	}
	return r.now.dirs
}

// watch verifies the limits of an instance from now on, and where its processes are.
func (r *replica) watch(l *instance, at cgroup.Group) error {
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.Memory, cgroup.CPUSet} {
		p, ok := at.Place(c).Get()
		if ok && strings.Contains(p.Dir, r.id) && !slices.Contains(l.dirs, p.Dir) {
			l.dirs = append(l.dirs, p.Dir)
		}
	}
	if err := r.guard.OpenGroup(at); err != nil {
		return fmt.Errorf("watch the limits of the container: %w", err)
	}
	if !r.guarded {
		if err := r.guard.Set(r.limited(), nil); err != nil {
			return fmt.Errorf("watch the limits of the container: %w", err)
		}
		r.guarded = true
	}
	r.docker.kin.lead(l.pid, r)
	return nil
}
