package given

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/signals"
	"github.com/millicore/millicore/maxprocs/cgroup"
)

// Observed is a process of this machine that is looked at: through its control
// group where that has a limit, as a container's has, and then with all that is
// in the group; else by itself, with the throttling of the group above that limits
// it.
type Observed struct {
	pid    int
	meter  *meter.Meter  // nil: the process by itself
	pulser *meter.Pulser // nil: there is no limit that could throttle it
	limits experiment.Limits
	shared string // the group above that sets the CPU limit; "": its own does
	// What v1 counts in another hierarchy, in which the process is in another group
	// than the one that is limited, is taken of the process by itself.
	ownCPU, ownMemory bool
}

// Observe looks at a process.
func Observe(pid int) (*Observed, error) {
	g, err := cgroup.Host().Process(pid)
	if err != nil {
		return nil, fmt.Errorf("look at process %d: %w", pid, err)
	}
	o := &Observed{pid: pid}
	if _, err := processCounters(pid); err != nil {
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
				return nil, fmt.Errorf("look at the group %s, which limits process %d: %w", limit.Dir, pid, err)
			}
		}
		if o.pulser, err = meter.NewPulser(throttles); err != nil {
			return nil, fmt.Errorf("look at the throttling of process %d: %w", pid, err)
		}
	}
	holds, _ := g.Place(cgroup.Memory).Get()
	limits := cgroup.CPU
	if own.State != cgroup.Limited {
		if memory.State != cgroup.Limited || memory.Dir != holds.Dir {
			return o, nil // a session's group, say, holds much besides
		}
		limits = cgroup.Memory
	}
	o.ownCPU = within(g, cgroup.CPUAcct) != within(g, limits)
	o.ownMemory = within(g, cgroup.Memory) != within(g, limits)
	if o.meter, err = meter.New(g, o.limits); err != nil {
		o.Close()
		return nil, fmt.Errorf("look at process %d: %w", pid, err)
	}
	return o, nil
}

// within is the group of a process in the hierarchy of a controller, from its top;
// "/" where there is none, since then nothing can be told of it.
func within(g cgroup.Group, c cgroup.Controller) string {
	p, _ := g.Place(c).Get()
	return path.Join("/", strings.TrimPrefix(p.Dir, p.Top))
}

// Limits are those that the process meets; zero is none.
func (o *Observed) Limits() experiment.Limits { return o.limits }

// Shared names the group above that sets the CPU limit, which others may use up
// too; "" where its own group sets it, or none.
func (o *Observed) Shared() string { return o.shared }

// Counters reads the totals; those of throttling where the limit is set.
func (o *Observed) Counters() (signals.Counters, error) {
	c, err := o.counters()
	if err != nil {
		return c, err
	}
	c.Up = alive(o.pid)
	if o.pulser == nil {
		return c, nil
	}
	p, err := o.pulser.Pulse()
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
	c, err := processCounters(o.pid)
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

// Pulse reads what tells throttle windows.
func (o *Observed) Pulse() (signals.Pulse, error) {
	if o.pulser == nil {
		return signals.Pulse{}, errors.New("no limit throttles it")
	}
	p, err := o.pulser.Pulse()
	p.Up = true // whether it lives is asked once an interval
	return p, err
}

// Close closes the files.
func (o *Observed) Close() error {
	var errs []error
	if o.meter != nil {
		errs = append(errs, o.meter.Close())
	}
	if o.pulser != nil {
		errs = append(errs, o.pulser.Close())
	}
	return errors.Join(errs...)
}
