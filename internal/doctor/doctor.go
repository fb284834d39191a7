// Package doctor says which services of a host are mis-sized, by what evidence,
// and what to change. Its rules are pure: they read nothing, and take what
// package inspect has seen. They hold back where too little was seen to tell, and
// say nothing where there is nothing to say.
//
// A finding is no measurement of latency: a throttled service is not always
// slower (docs/doctor.md). So each names the run of millicore try that tells.
package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/inspect"
)

// Level is how much a finding matters.
type Level int

// The levels.
const (
	Info     Level = iota // worth knowing
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
	PID      int      // the process that it is about, which stands for its service
	Name     string   // of that process, after its container's or unit's
	Title    string   // what is the matter, with the figures that matter most
	Evidence []string // what was seen, a clause each
	Fix      []string // the exact change, then how to verify it
	weight   float64  // of findings of one level, the heavier comes first
}

// Examine returns what is mis-sized on a host, the worst first.
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
		all = append(all, s.told()...)
		all = append(all, s.heap()...)
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
