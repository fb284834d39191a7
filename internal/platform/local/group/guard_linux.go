package group

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/host/proc"
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
// them. A process is in a group with all of its threads.
func Inside(dirs []string) (each, any map[int]bool, err error) {
	threads := map[int][]int{} // of the processes
	for _, dir := range dirs {
		all, inside, err := listed(dir)
		if err != nil {
			return nil, nil, err
		}
		divided := map[int]bool{}
		for _, pid := range all {
			if _, known := threads[pid]; inside != nil && !known {
				threads[pid] = proc.Threads(pid)
			}
			divided[pid] = inside != nil && divides(dir, threads[pid], inside)
		}
		here := make(map[int]bool, len(all))
		for _, pid := range all {
			if (each == nil || each[pid]) && !divided[pid] {
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

// Where is the group of a process, or of the first of its threads that is elsewhere, in the
// first hierarchy in which it is not in the directories of a group; "" if that is not known.
func Where(dirs []string, pid int) string {
	if where := elsewhere(dirs, pid); where != "" {
		return where
	}
	for _, thread := range proc.Threads(pid) {
		if where := elsewhere(dirs, thread); where != "" {
			return fmt.Sprintf("%s with its thread %d", where, thread)
		}
	}
	return ""
}

// elsewhere is Where of one thread, as /proc/PID/cgroup has it.
func elsewhere(dirs []string, thread int) string {
	at, err := cgroup.Host().Process(thread)
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

// listed returns the processes of a group and of those below it, and in v1 also their threads
// that are there. In v1 a thread is moved by the file tasks, and a process is listed wherever
// it has one. In v2 threads leave the group of their process for groups below it only.
func listed(dir string) (pids []int, threads map[int]bool, err error) {
	if exists(path.Join(dir, "tasks")) {
		threads = map[int]bool{}
	}
	groups, err := tree(dir, "")
	if err != nil {
		return nil, nil, err
	}
	for _, one := range groups {
		some, err := numbers(one, "cgroup.procs")
		if err != nil {
			return nil, nil, err
		}
		pids = append(pids, some...)
		if threads == nil {
			continue
		}
		if some, err = numbers(one, "tasks"); err != nil {
			return nil, nil, err
		}
		for _, thread := range some {
			threads[thread] = true
		}
	}
	return pids, threads, nil
}

// divides reports whether one of a process's threads is in another group than those that are
// inside. One that began after these were read is inside, and one that is just being made is
// in no group yet.
func divides(dir string, threads []int, inside map[int]bool) bool {
	return slices.ContainsFunc(threads, func(thread int) bool {
		return !inside[thread] && proc.Ran(thread) && elsewhere([]string{dir}, thread) != ""
	})
}
