// Package doctor finds the services of a host that are mis-sized for their CPU or
// memory limit, and reports the evidence and the change for each. Its rules are
// pure: they take what package inspect has read, and read nothing themselves.
// Without enough evidence they report nothing.
//
// A finding is not a measurement of latency: a throttled service is not always
// slower (docs/doctor.md). So each finding about the CPU names the run of millicore
// try that measures it.
package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/host/inspect"
)

// Level is how much a finding matters.
type Level int

// The levels.
const (
	Info     Level = iota // worth knowing; no change is recommended
	Warning               // likely costs latency or capacity
	Critical              // does so now
)

var levelNames = [...]string{"info", "warning", "critical"}

func (l Level) String() string {
	if int(l) < len(levelNames) && l >= 0 {
		return levelNames[l]
	}
	return fmt.Sprintf("Level(%d)", int(l))
}

// MarshalText writes the level's name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// ParseLevel reads a level's name.
func ParseLevel(name string) (Level, error) {
	if at := slices.Index(levelNames[:], name); at >= 0 {
		return Level(at), nil
	}
	return 0, errors.New("want info, warning or critical")
}

// Finding is one thing that is mis-sized.
type Finding struct {
	Level    Level
	PID      int      // the process that represents the service
	Name     string   // of that process, preceded by its container or unit
	Title    string   // the problem, with the most important figures
	Evidence []string // what was measured, a clause each
	Fix      []string // the exact change and how to verify it; for Info how to measure, or nothing
	weight   float64  // sorts the findings of one level, the largest first
}

// Examine returns the findings about a host, the most severe first.
func Examine(host inspect.Host) []Finding {
	var throttled []Finding
	for _, s := range services(host) {
		throttled = append(throttled, s.throttled()...)
	}
	all := slices.Concat(throttled, shortOfMemory(host))
	for _, s := range sharers(host) {
		all = append(all, s.shared()...)
	}
	for i := range host.Processes {
		s := process(host, &host.Processes[i])
		all = append(all, s.oversized(throttled)...)
		all = append(all, s.unaware()...)
		all = append(all, s.inherited()...)
		all = append(all, s.idleLimit()...)
		all = append(all, s.reported()...)
		all = append(all, s.heap(host)...)
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(b.weight, a.weight), cmp.Compare(a.PID, b.PID))
	})
	return all
}

// AtLeast reports whether a finding is at or above a level.
func AtLeast(all []Finding, level Level) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Level >= level })
}
