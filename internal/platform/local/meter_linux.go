package local

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform/local/group"
	"github.com/millicore/millicore/internal/signals"
	"github.com/millicore/millicore/maxprocs/cgroup"
)

// meter reads a group's counters. The group stays the same when its process is
// restarted, so they run on.
type meter struct {
	cpuLimit    *float64 // CPUs
	memoryLimit *int64   // bytes

	mu     sync.Mutex
	reader *cgroup.Reader
}

func newMeter(g *group.Group, l experiment.Limits) (*meter, error) {
	reader, err := g.Open()
	if err != nil {
		return nil, err
	}
	m := &meter{reader: reader}
	if l.CPUMillis > 0 {
		cpus := float64(l.CPUMillis) / 1000
		m.cpuLimit = &cpus
	}
	if l.Memory > 0 {
		m.memoryLimit = &l.Memory
	}
	return m, nil
}

// counters reads everything but Restarts and Up. Memory is the working set,
// which is what the kubelet shows: use less the page cache that can simply be
// dropped. MemoryPeak is the kernel's, page cache included.
func (m *meter) counters() (signals.Counters, error) {
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

// oomKills returns the OOM kills so far; 0 where they are not counted.
func (m *meter) oomKills() int64 {
	c, err := m.counters()
	if err != nil || c.OOMKills == nil {
		return 0
	}
	return *c.OOMKills
}

func (m *meter) close() error {
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
