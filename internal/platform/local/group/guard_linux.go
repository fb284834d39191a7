package group

import (
	"strings"

	"github.com/millicore/millicore/internal/cgroup"
)

// watch opens the files with the limits of a group's directory in a home.
func (g *Group) watch(h Home, dir string) error {
	for _, c := range h.Controllers {
		if err := g.limits.Open(h.Version, c, dir); err != nil {
			return err
		}
	}
	return nil
}

// Broken describes the first of the group's limits that is not the one that was set, as
// in "its CPU limit was changed from 500m to no limit"; "" if all are.
func (g *Group) Broken() string { return g.limits.Broken() }

// Inside returns the processes that are in the group in each of its hierarchies, and those
// that are in it in any.
func (g *Group) Inside() (each, any map[int]bool, err error) { return Inside(g.dirs) }

// Where is the group of a process in the first hierarchy in which it is not in g; "" if
// that is not known.
func (g *Group) Where(pid int) string { return Where(g.dirs, pid) }

// Inside returns the processes that are in the directories of a group in each hierarchy,
// and those that are in any. Processes in groups below it are inside: its limits apply to
// them.
func Inside(dirs []string) (each, any map[int]bool, err error) {
	for _, dir := range dirs {
		all, err := PIDs(dir)
		if err != nil {
			return nil, nil, err
		}
		here := make(map[int]bool, len(all))
		for _, pid := range all {
			if each == nil || each[pid] {
				here[pid] = true
			}
		}
		if any == nil {
			any = map[int]bool{}
		}
		for _, pid := range all {
			any[pid] = true
		}
		each = here
	}
	return each, any, nil
}

// Where is the group of a process in the first hierarchy in which it is not in the
// directories of a group, as /proc/PID/cgroup has it; "" if that is not known.
func Where(dirs []string, pid int) string {
	at, err := cgroup.Host().Process(pid)
	if err != nil {
		return ""
	}
	own, err := cgroup.Host().At(dirs...)
	if err != nil {
		return ""
	}
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.Memory, cgroup.CPUSet, cgroup.Unified} {
		is, known := at.Place(c).Get()
		was, used := own.Place(c).Get()
		if known && used && is.Dir != was.Dir && !strings.HasPrefix(is.Dir, was.Dir+"/") {
			return is.Dir
		}
	}
	return ""
}
