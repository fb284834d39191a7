package docker

import (
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/platform/guard"
)

// Who may use Docker can change the limits of a container (docker update), and a process
// of root on this machine, or a privileged one that was started in the container (docker
// exec), can move processes out of its group. A process whose parent ends becomes a child
// of the container's first process, so that all of them descend from it.

// LimitBroken describes which limit of the container is not the one that was set, or which
// process left its group; "" if all hold. See platform.LimitVerifier.
func (r *replica) LimitBroken() string {
	dirs := r.dirs()
	if len(dirs) == 0 {
		return "" // it ended before its group was found
	}
	if why := r.guard.Broken(); why != "" {
		return why
	}
	_, why := r.processes.Outside(dirs)
	return why
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
func (r *replica) watch(l *instance, at cgroup.Group) {
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.Memory, cgroup.CPUSet} {
		p, ok := at.Place(c).Get()
		if ok && strings.Contains(p.Dir, r.id) && !slices.Contains(l.dirs, p.Dir) {
			l.dirs = append(l.dirs, p.Dir)
		}
	}
	r.guard.Open(at)
	if !r.guarded {
		_ = r.guard.Set(r.limited(), nil) // only a change can fail
		r.guarded = true
	}
	if stat, err := proc.ReadStat(l.pid); err == nil { // otherwise it has ended
		r.processes.Add(guard.Process{PID: l.pid, Started: stat.Started})
	}
}
