package attached

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform/meter"
)

// Observed reads the counters of a process of this machine. If its control group has a
// limit, as that of a container has, the counters are those of the whole group.
// Otherwise they are those of the process and its descendants, as nginx and gunicorn start
// them, with the throttling of the parent group that limits it.
type Observed struct {
	pid        int
	meter      *meter.Meter          // nil: the family counts
	family     *family               // the process and its descendants
	throttling *meter.ThrottleReader // nil: no limit can throttle it
	limits     experiment.Limits
	shared     string // the parent group with the CPU limit; "": its own group has it
	// With v1 the process may be in another group of another hierarchy than the limited
	// one. Those counters are then read from the family.
	ownCPU, ownMemory bool
}

// Observe starts to read a process.
func Observe(pid int) (*Observed, error) {
	g, err := cgroup.Host().Process(pid)
	if err != nil {
		return nil, fmt.Errorf("read process %d: %w", pid, err)
	}
	o := &Observed{pid: pid, family: newFamily(pid)}
	if _, err := o.family.counters(); err != nil {
		return nil, err
	}
	own, memory := g.OwnCPULimit(), g.MemoryLimit()
	if memory.State == cgroup.Limited {
		o.limits.Memory = memory.Bytes
	}
	throttles := g
	if limit := g.CPULimit(); limit.State == cgroup.Limited {
		o.limits.CPUMillis = int64(limit.CPUs*1000 + 0.5)
		o.limits.Period = limit.Period
		if own.State != cgroup.Limited || own.Dir != limit.Dir {
			o.shared = limit.Dir
			if throttles, err = cgroup.Host().At(limit.Dir); err != nil {
				return nil, fmt.Errorf("read the group %s, which limits process %d: %w", limit.Dir, pid, err)
			}
		}
		if o.throttling, err = meter.NewThrottleReader(throttles); err != nil {
			return nil, fmt.Errorf("read the throttling of process %d: %w", pid, err)
		}
	}
	holds, _ := g.Place(cgroup.Memory).Get()
	limits := cgroup.CPU
	if own.State != cgroup.Limited {
		if memory.State != cgroup.Limited || memory.Dir != holds.Dir {
			return o, nil // the group of a session, for example, has many other processes
		}
		limits = cgroup.Memory
	}
	o.ownCPU = within(g, cgroup.CPUAcct) != within(g, limits)
	o.ownMemory = within(g, cgroup.Memory) != within(g, limits)
	if o.meter, err = meter.New(g, o.limits); err != nil {
		o.Close()
		return nil, fmt.Errorf("read process %d: %w", pid, err)
	}
	return o, nil
}

// within is the group of a process in the hierarchy of a controller, relative to its
// top; "/" if there is none, as nothing is known then.
func within(g cgroup.Group, c cgroup.Controller) string {
	p, _ := g.Place(c).Get()
	return path.Join("/", strings.TrimPrefix(p.Dir, p.Top))
}

// here reports whether the process is in the network namespace of this one.
func (o *Observed) here() bool {
	own, err := os.Readlink("/proc/self/ns/net")
	its, failed := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", o.pid))
	return err == nil && failed == nil && own == its
}

// Limits are the limits of the process; zero is none.
func (o *Observed) Limits() experiment.Limits { return o.limits }

// Shared is the parent group with the CPU limit, which other processes share; "" if its
// own group has it, or there is none.
func (o *Observed) Shared() string { return o.shared }

// Counters reads the totals. Throttling is read from the group with the limit.
func (o *Observed) Counters() (signals.Counters, error) {
	c, err := o.counters()
	if err != nil {
		return c, err
	}
	c.Up = alive(o.pid)
	if o.throttling == nil {
		return c, nil
	}
	p, err := o.throttling.ThrottleSample()
	if err != nil {
		return c, err
	}
	c.Periods, c.ThrottledPeriods, c.Throttled = p.Periods, p.ThrottledPeriods, nil
	if p.Throttled != nil {
		seconds := p.Throttled.Seconds()
		c.Throttled = &seconds
	}
	return c, nil
}

func (o *Observed) counters() (signals.Counters, error) {
	c, err := o.family.counters()
	if o.meter != nil && err == nil {
		own := c
		if c, err = o.meter.Counters(); o.ownCPU {
			c.CPU, c.CPUPressure = own.CPU, nil
		}
		if o.ownMemory {
			c.Memory, c.MemoryPeak, c.OOMKills = own.Memory, nil, nil
		}
		return c, err
	}
	if o.limits.CPUMillis > 0 {
		cpus := float64(o.limits.CPUMillis) / 1000
		c.CPULimit = &cpus
	}
	if o.limits.Memory > 0 {
		c.MemoryLimit = &o.limits.Memory
	}
	return c, err
}

// ThrottleSample reads the throttling, from which windows are rebuilt. Without a CPU limit
// it has none.
func (o *Observed) ThrottleSample() (signals.ThrottleSample, error) {
	if o.throttling == nil {
		return signals.ThrottleSample{At: time.Now(), Up: true}, nil
	}
	p, err := o.throttling.ThrottleSample()
	p.Up = true // Counters checks whether it lives, once per interval
	return p, err
}

// Close closes the files.
func (o *Observed) Close() error {
	var errs []error
	if o.meter != nil {
		errs = append(errs, o.meter.Close())
	}
	if o.throttling != nil {
		errs = append(errs, o.throttling.Close())
	}
	return errors.Join(errs...)
}
