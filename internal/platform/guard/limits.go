package guard

import (
	"fmt"
	"sync"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
)

// Limits verifies the limits of one control group. Several goroutines may use it
// concurrently.
type Limits struct {
	mu    sync.Mutex // also held while the limits are changed
	group cgroup.Group
	want  Wanted
	was   inEffect          // when the limits were set
	other map[string]string // what is right for the limits of others, by their names
}

// others are limits that an experiment does not state, or not always: whatever value they
// have when the other limits are set is right. Some kernels do not have all of the files.
var others = []struct {
	of     cgroup.Controller
	v1, v2 string // the file; "": the version has none
	what   string
}{
	{cgroup.CPU, "cpu.cfs_burst_us", "cpu.max.burst", "CPU burst in microseconds"},
	{cgroup.Memory, "", "memory.high", "memory.high"},
	{cgroup.Memory, "memory.memsw.limit_in_bytes", "memory.swap.max", "swap limit"},
	{cgroup.CPUSet, "cpuset.cpus", "cpuset.cpus", "set of CPUs"},
	{cgroup.CPUSet, "cpuset.effective_cpus", "cpuset.cpus.effective", "set of effective CPUs"},
	{cgroup.PIDs, "pids.max", "pids.max", "limit of processes and threads"},
}

// Open begins to verify a group. It replaces an earlier group, whose limits the new one
// must have.
func (g *Limits) Open(group cgroup.Group) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.group = group
}

// Set states the limits that the group must have, after apply has set them; nil: they are
// set. Nothing is verified while apply runs.
func (g *Limits) Set(l experiment.Limits, apply func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if apply != nil {
		if err := apply(); err != nil {
			return err
		}
	}
	g.want, g.was, g.other = WantedOf(l), effective(g.group), map[string]string{}
	for _, o := range others {
		if is, ok := g.group.Setting(o.of, o.v1, o.v2).Get(); ok {
			g.other[o.what] = is
		}
	}
	return nil
}

// Broken describes the first limit that is not the wanted one, or that a group above it
// does not leave; "" if all hold. A limit that cannot be read, such as that of a group that
// was removed, shows nothing.
func (g *Limits) Broken() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if own := g.group.OwnCPULimit(); own.State != cgroup.Unknown {
		if why := g.want.BrokenCPU(bandwidthOf(own)); why != "" {
			return why
		}
	}
	if own := g.group.OwnMemoryLimit(); own.State != cgroup.Unknown {
		if why := g.want.BrokenMemory(own.Bytes); why != "" {
			return why
		}
	}
	for _, o := range others {
		now := g.group.Setting(o.of, o.v1, o.v2)
		is, there := now.Get()
		was, known := g.other[o.what]
		switch {
		case !known || now.Err() != nil || is == was:
		case !there:
			return fmt.Sprintf("its %s, %q, is gone: its group has no such controller any more", o.what, was)
		default:
			return fmt.Sprintf("its %s was changed from %q to %q", o.what, was, is)
		}
	}
	return g.want.lowered(g.group, g.was, effective(g.group))
}
