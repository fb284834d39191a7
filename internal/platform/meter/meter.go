// Package meter reads the control group of a replica on this machine: its running
// totals (Meter), and the throttling that is sampled 100 times a second (ThrottleReader). It
// also divides the CPU use of the host among services, agents and others.
// internal/cgroup finds and parses the kernel's files. The platform knows whether a
// replica is up, and how often it was restarted.
package meter

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Group is a control group whose counters can be read.
type Group interface {
	Open() (*cgroup.Reader, error)
}

// Meter reads a group's counters. Several goroutines may use it concurrently.
type Meter struct {
	mu          sync.Mutex
	reader      *cgroup.Reader
	cpuLimit    *float64 // CPUs
	memoryLimit *int64   // bytes
}

// New returns the meter of a group with these limits.
func New(g Group, l experiment.Limits) (*Meter, error) {
	reader, err := g.Open()
	if err != nil {
		return nil, err
	}
	m := &Meter{reader: reader}
	m.Resized(l)
	return m, nil
}

// Resized records that the group's limits were changed.
func (m *Meter) Resized(l experiment.Limits) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cpuLimit, m.memoryLimit = nil, nil
	if l.CPUMillis > 0 {
		cpus := float64(l.CPUMillis) / 1000
		m.cpuLimit = &cpus
	}
	if l.Memory > 0 {
		m.memoryLimit = &l.Memory
	}
}

// Counters reads everything except Restarts and Up. Memory is the working set, as in
// Kubernetes: the memory in use without the page cache that can be dropped. MemoryPeak
// is the kernel's value, including the page cache.
func (m *Meter) Counters() (signals.Counters, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var cpu cgroup.CPUStat
	var memory cgroup.MemoryStat
	var pressure cgroup.Pressure
	err := errors.Join(m.reader.ReadCPU(&cpu), m.reader.ReadMemory(&memory), m.reader.ReadPressure(&pressure))
	if err != nil {
		return signals.Counters{}, fmt.Errorf("read counters: %w", err)
	}
	kills := memory.OOMKills
	if kills.State() != cgroup.Measured {
		kills = memory.OOMKillsLocal
	}
	c := signals.Counters{
		At:               time.Now(),
		CPU:              seconds(cpu.Usage),
		Periods:          number(cpu.Periods),
		ThrottledPeriods: number(cpu.ThrottledPeriods),
		Throttled:        seconds(cpu.Throttled),
		Bursts:           number(cpu.Bursts),
		OOMKills:         number(kills),
		Refaults:         number(memory.Refaults),
		CPULimit:         m.cpuLimit,
		Memory:           number(memory.WorkingSet()),
		MemoryPeak:       number(memory.Peak),
		MemoryLimit:      m.memoryLimit,
	}
	if some, ok := pressure.Memory.Some.Get(); ok {
		c.MemoryStall = seconds(cgroup.ValueOf(some.Total))
	}
	if some, ok := pressure.CPU.Some.Get(); ok {
		c.CPUPressure = seconds(cgroup.ValueOf(some.Total))
	}
	return c, nil
}

// OOMKills returns the OOM kills so far; 0 if they are not counted.
func (m *Meter) OOMKills() int64 {
	c, err := m.Counters()
	if err != nil || c.OOMKills == nil {
		return 0
	}
	return *c.OOMKills
}

// OutOfMemory describes that a process was killed because it ran out of memory. limit is
// its memory limit in bytes; 0 is none.
func OutOfMemory(limit int64) string {
	if limit == 0 {
		return "it was killed: out of memory on this machine"
	}
	return fmt.Sprintf("it was killed: out of memory: it reached its limit of %d bytes", limit)
}

// Close closes the group's files. It may be called again.
func (m *Meter) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.reader.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

func number(v cgroup.Value[int64]) *int64 {
	if n, ok := v.Get(); ok {
		return &n
	}
	return nil
}

func seconds(v cgroup.Value[time.Duration]) *float64 {
	if d, ok := v.Get(); ok {
		s := d.Seconds()
		return &s
	}
	return nil
}
