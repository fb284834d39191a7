package doctor

import (
	"fmt"

	"github.com/millicore/millicore/internal/data/display"
)

// fullThread is the finding about a process of which more threads could run at once than did:
// some ran almost all the time, and the others, which could share the limit with them, did
// little. No count of threads or workers is too low then, and more of them change nothing.
// A thread that spins looks the same.
func (s service) fullThread(throttled []Finding) []Finding {
	used, ok := s.used()
	t := s.threads
	if !ok || t == nil || t.Truncated || t.Bound == 0 || about(throttled, s.PID) || used >= high || s.crowdedOut() {
		return nil
	}
	n := t.Bound
	if p := s.Info.Parallelism.Value; p > 0 && p <= n || float64(n) > s.CPU.CPUs || s.machine() > 0 && n >= s.machine() {
		return nil
	}
	// Of a group with other processes the rest of its CPU time is theirs.
	if least := float64(n) * beyond; s.spent.Seconds() > least*s.Throttling.Watch.Length.Seconds() || s.beside() > beyond-1 {
		return nil
	}
	f := s.finding(Warning, CannotUseLimit)
	f.weight, f.Confidence = s.CPU.CPUs/float64(n), Medium
	who := count(int64(n), "thread", "threads")
	f.Title = fmt.Sprintf("%s ran almost all the time under a limit of %s, and the others did little: %.2f CPUs used",
		who, display.CPULimit(s.CPU.CPUs), s.spent.Seconds()/s.Throttling.Watch.Length.Seconds())
	f.Evidence = append([]string{s.parallel(), s.limited(), s.counted()}, s.threaded()...)
	f.Mechanism = fmt.Sprintf("the work of %s is not shared, so the rest of the limit is idle while it queues, unless the thread spins", who)
	f.Expect = Effect{Saturated: "throughput grows if the work is spread", Ordinary: "shorter queues"}
	s.fix(&f, "find what this thread does (top -H shows it), and spread its work over several; or add replicas. More threads or workers that get none of it change nothing", Change{Replicas: true})
	return []Finding{f}
}

// beside is how many CPUs other processes of the group used.
func (s service) beside() (cpus float64) {
	for _, p := range s.others {
		if p.PID != s.PID && p.Parent != s.PID && p.CPU.Dir == s.CPU.Dir {
			cpus += p.Used.Seconds() / s.Throttling.Watch.Length.Seconds()
		}
	}
	return cpus
}
