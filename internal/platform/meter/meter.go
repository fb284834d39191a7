// Package meter reads a replica's control group into the signals that a
// platform of this machine gives of it: its running totals (Meter), and what is
// looked at a hundred times a second (Pulser). How the kernel's files are found
// and parsed is maxprocs/cgroup's; whether a replica is up, and how often it was
// started again, is the platform's.
package meter

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
	"github.com/millicore/millicore/maxprocs/cgroup"
)

// Group is a control group whose counters can be read.
type Group interface {
	Open() (*cgroup.Reader, error)
}

// Meter reads a group's counters. It may be used by several goroutines at once.
type Meter struct {
	mu          sync.Mutex
	reader      *cgroup.Reader
	cpuLimit    *float64 // CPUs
	memoryLimit *int64   // bytes
}

// New returns the meter of a group that was given these limits.
func New(g Group, l experiment.Limits) (*Meter, error) {
	reader, err := g.Open()
	if err != nil {
		return nil, err
	}
	m := &Meter{reader: reader}
	m.Resized(l)
	return m, nil
}

// Resized tells that the group was given other limits.
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

// Counters reads everything but Restarts and Up. Memory is the working set,
// which is what the kubelet shows: use less the page cache that can simply be
// dropped. MemoryPeak is the kernel's, page cache included.
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
		CPULimit:         m.cpuLimit,
		Memory:           number(memory.WorkingSet()),
		MemoryPeak:       number(memory.Peak),
		MemoryLimit:      m.memoryLimit,
	}
	if some, ok := pressure.CPU.Some.Get(); ok {
		c.CPUPressure = seconds(cgroup.ValueOf(some.Total))
	}
	return c, nil
}

// OOMKills returns the OOM kills so far; 0 where they are not counted.
func (m *Meter) OOMKills() int64 {
	c, err := m.Counters()
	if err != nil || c.OOMKills == nil {
		return 0
	}
	return *c.OOMKills
}

// Starved says in words that a process under a limit of memory was killed for
// want of it. The limit is in bytes; 0 is none.
func Starved(limit int64) string {
	if limit == 0 {
		return "it was killed for want of memory on this machine"
	}
	return fmt.Sprintf("it was killed for want of memory: it reached its limit of %d bytes", limit)
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
