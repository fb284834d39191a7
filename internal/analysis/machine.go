package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/signals"
)

// machines are the CPU times of the machines that services ran on, by name; "" is
// the one that the lab ran on too.
type machines map[string]*machineSums

// machineSums are those of one machine, over the frames of its host halves.
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

// each gives those of which something was seen, by name.
func (m machines) each() (all []*machineSums) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if m[name].seconds > 0 {
			all = append(all, m[name])
		}
	}
	return all
}

// any reports whether something holds for one of them.
func (m machines) any(holds func(*machineSums) bool) bool {
	return slices.ContainsFunc(m.each(), holds)
}

// fullest is the one with the least idle CPU, as a share of what it has; nil where
// nothing was seen.
func (m machines) fullest() *machineSums {
	all := m.each()
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(a, b *machineSums) int { return cmp.Compare(a.idleShare(), b.idleShare()) })
}

// cpus is what the largest of them has.
func (m machines) cpus() (n int) {
	for _, s := range m {
		n = max(n, s.cpus)
	}
	return n
}

// total adds up a mean over time of all machines, in cores; nil where nothing was
// seen.
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

// crowded reports whether others took so much CPU that they disturb. A node of a
// cluster always has others: they do where they left no room.
func (s *machineSums) crowded() bool {
	return signals.Busy(s.foreignCores(), s.cpus) && (s.name == "" || s.full())
}

// robbed reports whether the hypervisor took so much.
func (s *machineSums) robbed() bool { return signals.Busy(s.stealCores(), s.cpus) }

func (s *machineSums) full() bool   { return signals.Full(s.idleCores(), s.cpus) }
func (s *machineSums) stolen() bool { return signals.Stolen(s.stealCores()) }

// on names the machine in a sentence, where there may be several.
func (s *machineSums) on() string {
	if s.name == "" {
		return ""
	}
	return fmt.Sprintf(" of the node %s", s.name)
}
