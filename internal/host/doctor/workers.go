package doctor

import (
	"fmt"

	"github.com/millicore/millicore/internal/host/runtimes"
)

// workers counts the worker processes of a program that doctor does not know: those of the
// group with one name and one parent, the process itself or its own, that wanted a CPU all the
// time. One that waits for requests in between is not counted.
func (s service) workers() (n int) {
	if s.Info.Runtime != runtimes.Unknown {
		return 0
	}
	for _, p := range s.others {
		if p.Name == s.Name && p.CPU.Dir == s.CPU.Dir && (p.Parent == s.PID || p.Parent == s.Parent) && p.Threads != nil && p.Threads.Full > 0 {
			n++
		}
	}
	return n
}

// fewerWorkers completes the finding about a limit that such workers use up: an experiment.
// None of them waits for anything but a CPU, so fewer would leave none idle. With 64 workers of
// nginx under 0.8 of 2 CPUs, 2 did a fifth more work.
func (s service) fewerWorkers(f *Finding, n int) {
	f.Confidence = Low
	f.Expect = Effect{Saturated: "lower p99, if one worker can do the work of several", Ordinary: "little change"}
	s.fix(f, fmt.Sprintf("if the program has a setting for the number of its worker processes, lower it first: %d of one name and parent wanted a CPU all the time, under a limit that runs %d at once. Else raise the limit, add replicas, or reduce the load on each", n, s.fit()))
}
