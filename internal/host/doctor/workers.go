package doctor

import "github.com/millicore/millicore/internal/host/runtimes"

// workers counts the worker processes of a program that doctor does not know: those of the
// group with one name and one parent, the process itself or its own, that wanted a CPU all the
// time. One that waits for requests in between is not counted. With 64 such workers of nginx
// under 0.8 of 2 CPUs, 2 did a fifth more work.
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
