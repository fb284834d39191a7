package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/analysis/disturbance"
)

// machines are the CPU times of the machines that services ran on, by name; "" is the
// machine of the lab.
type machines map[string]*machineSums

// machineSums are those of one machine, over its host frames.
type machineSums struct {
	name    string
	seconds float64 // covered by frames
	foreign float64 // core seconds
	idle    float64
	steal   float64
	cpus    int
}

func (m machines) add(name string, o machineSums) {
	s := m[name]
	if s == nil {
		s = &machineSums{name: name}
		m[name] = s
	}
	s.seconds += o.seconds
	s.foreign += o.foreign
	s.idle += o.idle
	s.steal += o.steal
	s.cpus = max(s.cpus, o.cpus)
}

// each returns the machines with data, by name.
func (m machines) each() (all []*machineSums) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if m[name].seconds > 0 {
			all = append(all, m[name])
		}
	}
	return all
}

// any reports whether the function holds for one of them.
func (m machines) any(holds func(*machineSums) bool) bool {
	return slices.ContainsFunc(m.each(), holds)
}

// fullest returns the machine with the smallest idle share; nil if there is no data.
func (m machines) fullest() *machineSums {
	all := m.each()
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(a, b *machineSums) int { return cmp.Compare(a.idleShare(), b.idleShare()) })
}

// cpus returns the CPUs of the largest machine.
func (m machines) cpus() (n int) {
	for _, s := range m {
		n = max(n, s.cpus)
	}
	return n
}

// total sums a mean over time of all machines, in cores; nil if there is no data.
func (m machines) total(of func(*machineSums) float64) *float64 {
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

func (s *machineSums) foreignCores() float64 { return s.foreign / s.seconds }
func (s *machineSums) idleCores() float64    { return s.idle / s.seconds }
func (s *machineSums) stealCores() float64   { return s.steal / s.seconds }
func (s *machineSums) idleShare() float64    { return s.idleCores() / float64(max(s.cpus, 1)) }

// busyNeighbours reports whether other processes took so much CPU that they disturb. A
// node of a cluster always runs others, so there they disturb only if they left no CPU
// idle.
func (s *machineSums) busyNeighbours() bool {
	return disturbance.Busy(s.foreignCores(), s.cpus) && (s.name == "" || s.full())
}

// busyHypervisor reports whether the hypervisor took so much CPU that it disturbs.
func (s *machineSums) busyHypervisor() bool { return disturbance.Busy(s.stealCores(), s.cpus) }

func (s *machineSums) full() bool   { return disturbance.Full(s.idleCores(), s.cpus) }
func (s *machineSums) stolen() bool { return disturbance.Stolen(s.stealCores()) }

// on returns the words for the machine if there may be several.
func (s *machineSums) on() string {
	if s.name == "" {
		return ""
	}
	return fmt.Sprintf(" on node %s", s.name)
}
