package doctor

import (
	"fmt"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/inspect"
)

// sharers returns the parent groups whose limit is higher than those of their child
// groups, each with the process that represents it and the shared limit.
func sharers(host inspect.Host) []service {
	tightest := map[string]bool{} // groups that services already returns
	for _, p := range host.Processes {
		tightest[p.CPU.Dir] = true
	}
	below := inspect.Host{Online: host.Online, Watched: host.Watched}
	for _, p := range host.Processes {
		for _, above := range p.Shared {
			// A pod of one container has the same limit.
			if !tightest[above.CPU.Dir] && above.CPU.CPUs > p.CPU.CPUs {
				q := p
				q.CPU, q.Throttling = above.CPU, above.Throttling
				below.Processes = append(below.Processes, q)
			}
		}
	}
	return services(below)
}

// shared is the finding about a limit that several groups with lower limits use up
// together. Their own counters do not show it: the kernel counts throttling in the
// group whose limit caused it.
func (s service) shared() []Finding {
	if s.counts == nil || s.counts.Share() < worth {
		return nil
	}
	f := s.finding(Warning, SharedLimit)
	f.weight = s.counts.Share()
	f.Title = fmt.Sprintf("limit of %s of the parent group %s, shared by %s with lower limits of their own: throttled in %s of %s periods",
		display.CPULimit(s.CPU.CPUs), s.CPU.SetBy, count(int64(s.members), "process", "processes"), display.Share(s.counts.Share()), display.Grouped(s.counts.Periods))
	f.Evidence = []string{s.limited(), s.counted(), "the child groups' counters do not show this: each counts only the throttling by its own limit"}
	f.Mechanism = "the parent's quota is used up by all groups together; then the kernel stops all of them until the next period"
	f.Expect = Effect{Saturated: "throughput grows with the parent's limit", Ordinary: "fewer stops, lower p99"}
	f.Fix = []string{fmt.Sprintf("%s on %s; or lower the limits of the groups below it, so that their sum fits into it", s.raise(), s.CPU.SetBy)}
	return []Finding{f}
}
