package disturbance

import (
	"cmp"
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/data/signals"
)

// Machines are the CPU times of the machines that services ran on, by name; "" is the
// machine of the lab.
type Machines map[string]*Machine

// Machine sums the host frames of one machine.
type Machine struct {
	Name string // "": the machine of the lab
	CPUs int

	seconds float64 // covered by frames
	foreign float64 // core seconds
	idle    float64
	steal   float64
}

func (m Machines) add(o Machine) {
	s := m[o.Name]
	if s == nil {
		s = &Machine{Name: o.Name}
		m[o.Name] = s
	}
	s.seconds += o.seconds
	s.foreign += o.foreign
	s.idle += o.idle
	s.steal += o.steal
	s.CPUs = max(s.CPUs, o.CPUs)
}

// each returns the machines that were measured for long enough, by name.
func (m Machines) each() (all []*Machine) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if m[name].measured() {
			all = append(all, m[name])
		}
	}
	return all
}

// any reports whether the function holds for one of them.
func (m Machines) any(holds func(*Machine) bool) bool {
	return slices.ContainsFunc(m.each(), holds)
}

// Fullest returns the machine with the smallest idle share; nil if there is no data.
func (m Machines) Fullest() *Machine {
	all := m.each()
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(a, b *Machine) int { return cmp.Compare(a.IdleShare(), b.IdleShare()) })
}

// CPUs returns the CPUs of the largest machine.
func (m Machines) CPUs() (n int) {
	for _, s := range m {
		n = max(n, s.CPUs)
	}
	return n
}

// Total sums a mean over time of all machines, in cores; nil if there is no data.
func (m Machines) Total(of func(*Machine) float64) *float64 {
	all := m.each()
	if len(all) == 0 {
		return nil
	}
	sum := 0.0
	for _, s := range all {
		sum += of(s)
	}
	return &sum
}

// measured reports whether the frames cover enough time for a figure in cores.
func (m *Machine) measured() bool { return m.seconds >= signals.Measurable.Seconds() }

// ForeignCores is the CPU of processes that the experiment did not start.
func (m *Machine) ForeignCores() float64 { return m.foreign / m.seconds }

// IdleCores is the CPU that nothing used.
func (m *Machine) IdleCores() float64 { return m.idle / m.seconds }

// StealCores is the CPU that the hypervisor gave to other machines.
func (m *Machine) StealCores() float64 { return m.steal / m.seconds }

// IdleShare is the idle CPU as a share of the machine's CPUs, 0..1.
func (m *Machine) IdleShare() float64 { return m.IdleCores() / float64(max(m.CPUs, 1)) }

// busyNeighbours reports whether other processes took so much CPU that they disturb. A
// node of a cluster always runs others, so there they disturb only if they left no CPU
// idle.
func (m *Machine) busyNeighbours() bool {
	return Busy(m.ForeignCores(), m.CPUs) && (m.Name == "" || m.full())
}

// busyHypervisor reports whether the hypervisor took so much CPU that it disturbs.
func (m *Machine) busyHypervisor() bool { return Busy(m.StealCores(), m.CPUs) }

func (m *Machine) full() bool { return Full(m.IdleCores(), m.CPUs) }
