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
	"github.com/millicore/millicore/internal/host/runtimes"
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
	PID      int    // the process that represents the service
	Name     string // of that process, preceded by its container or unit
	Rule     Rule
	Limit    string   // the limit that it is about, with its unit
	Title    string   // the problem, with the most important figures
	Evidence []string // what was measured, a clause each
	Fix      []string // the exact change and how to verify it; for Info how to measure, or nothing
	// Mechanism is how the evidence costs latency or capacity, the cause before the first
	// semicolon; "" for an observation that is its own explanation.
	Mechanism string
	// Used is the share of the limit in use, and Throttled that of the periods in which it
	// was used up, over the watch; nil: not measured, or it has none.
	Used, Throttled *float64
	// Expect is the effect of the change; zero if none is recommended.
	Expect Effect
	// Confidence is how certain the finding and its change are.
	Confidence Confidence
	// Changes are the recommended change and its alternatives, for programs; nil if
	// none can be stated as a value.
	Changes []Change
	Process *inspect.Process // the subject, with the limit that the finding is about
	weight  float64          // sorts the findings of one level, the largest first
}

// Effect is what to expect of a change, in words.
type Effect struct {
	Saturated string // at saturation
	Ordinary  string // at 60% of the load that saturates
}

// Confidence is how certain a finding and its change are.
type Confidence string

// The confidences.
const (
	High   Confidence = "high"   // cause and remedy were read
	Medium Confidence = "medium" // a part is predicted, or depends on the load
	Low    Confidence = "low"    // likely, and to be measured first
)

// Examine returns the findings about a host, the most severe first.
func Examine(host inspect.Host) []Finding {
	host.Processes = slices.DeleteFunc(slices.Clone(host.Processes), isSandbox)
	var throttled []Finding
	var saturated []Finding
	for _, s := range services(host) {
		if found := s.contended(host); found != nil { // the limit is not what they show
			throttled = append(throttled, found...)
			continue
		}
		found := s.throttled()
		found = append(found, s.handsOver(found)...)
		throttled = append(throttled, found...)
		saturated = append(saturated, s.saturated(host, found)...)
		saturated = append(saturated, s.spareCPU()...)
	}
	all := slices.Concat(throttled, saturated, shortOfMemory(host), spareMemory(host))
	for _, s := range sharers(host) {
		all = append(all, s.shared()...)
	}
	masters := map[int]runtimes.Name{}
	for _, p := range host.Processes {
		if p.Info.Workers > 0 {
			masters[p.PID] = p.Info.Runtime
		}
	}
	for i := range host.Processes {
		s := process(host, &host.Processes[i])
		all = append(all, s.oversized(throttled)...)
		all = append(all, s.unaware()...)
		all = append(all, s.inherited()...)
		if masters[s.Parent] != s.Info.Runtime { // a worker's use is in its master's finding
			all = append(all, s.idleLimit(host, throttled)...)
		}
		all = append(all, s.reported()...)
		all = append(all, s.heap(host)...)
		all = append(all, s.cache(host)...)
		all = append(all, s.collecting()...)
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(b.weight, a.weight), cmp.Compare(a.PID, b.PID))
	})
	return all
}

// isSandbox reports whether a process only holds the namespaces of a pod. It is limited by the
// group of the pod, which its containers use up.
func isSandbox(p inspect.Process) bool {
	return p.Pod != "" && p.PodContainer == "" && p.Name == "pause"
}

// AtLeast reports whether a finding is at or above a level.
func AtLeast(all []Finding, level Level) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Level >= level })
}
