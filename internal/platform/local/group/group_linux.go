package group

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"syscall"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/platform/guard"
)

// Group is a control group: a directory in every useful hierarchy. Several goroutines
// may use it concurrently.
type Group struct {
	name   string
	dirs   []string
	limits guard.Limits
}

// watch verifies the group's limits from now on.
func (g *Group) watch() error {
	at, err := cgroup.Host().At(g.dirs...)
	if err == nil {
		g.limits.Open(at)
	}
	return err
}

// Broken describes the first of the group's limits that is not the one that was set, as
// in "its CPU limit was changed from 500m to no limit"; "" if all are.
func (g *Group) Broken() string { return g.limits.Broken() }

// Dirs returns the directories of the group, one in each hierarchy.
func (g *Group) Dirs() []string { return g.dirs }

// Joins returns the files that a process writes 0 into to join the group.
func (g *Group) Joins() []string {
	var all []string
	for _, dir := range g.dirs {
		all = append(all, path.Join(dir, "cgroup.procs"))
	}
	return all
}

// Open returns a reader of the group's counters.
func (g *Group) Open() (*cgroup.Reader, error) {
	at, err := cgroup.Host().At(g.dirs...)
	if err != nil {
		return nil, err
	}
	return at.Open()
}

// Empty reports whether the group has no processes.
func (g *Group) Empty() (bool, error) {
	all, err := members(g.dirs, "")
	return err == nil && len(all) == 0, err
}

// PIDs returns the processes of the group, lowest first. A group that was
// removed has none.
func (g *Group) PIDs() ([]int, error) { return members(g.dirs, "") }

// RefusedPIDs is how often the kernel refused the group a process or a thread because of
// its limit; 0 also where that is not known. Linux
// Documentation/admin-guide/cgroup-v2.rst, "pids.events": max N.
func (g *Group) RefusedPIDs() int64 {
	for _, dir := range g.dirs {
		if fields := words(path.Join(dir, "pids.events")); len(fields) >= 2 && fields[0] == "max" {
			n, _ := strconv.ParseInt(fields[1], 10, 64)
			return n
		}
	}
	return 0
}

// Signal sends a signal to every process of the group.
func (g *Group) Signal(sig syscall.Signal) error {
	_, err := send(g.dirs, "", sig)
	return err
}

// Kill kills every process of the group and returns when they are gone.
func (g *Group) Kill() error { return kill(g.dirs, "") }

// Unlimit removes the CPU limit, so that killed processes end: under a small quota that
// takes seconds. It ignores errors.
func (g *Group) Unlimit() {
	for _, dir := range g.dirs {
		_ = set(dir, "cpu.max", "max")
		_ = set(dir, "cpu.cfs_quota_us", "-1")
	}
}

// Remove kills the processes in the group and removes it. It may be called again.
func (g *Group) Remove() error {
	g.Unlimit()
	if err := g.Kill(); err != nil {
		return fmt.Errorf("remove group %s: %w", g.name, err)
	}
	var errs []error
	for _, dir := range g.dirs {
		errs = append(errs, remove(dir, ""))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove group %s: %w", g.name, err)
	}
	return nil
}

// hint is the advice for a refused setting.
func (h *home) hint(s setting, err error) string {
	switch {
	case errors.Is(err, syscall.ENOENT) && (s.file == "cpu.cfs_burst_us" || s.file == "cpu.max.burst"):
		return ": bursts need Linux 5.14; leave the burst out"
	case errors.Is(err, syscall.EBUSY) && s.file == "memory.limit_in_bytes":
		return ": the group uses more; raise the limit, or restart the service (resize: false)"
	case s.file == "cpuset.cpus":
		return fmt.Sprintf(": the CPUs here are %s", available(h))
	}
	return ""
}

// available lists the CPUs that a cpuset in the home may have.
func available(h *home) string {
	for _, file := range []string{"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"} {
		if list := words(path.Join(h.Dir, file)); len(list) > 0 {
			return list[0]
		}
	}
	return "unknown"
}
