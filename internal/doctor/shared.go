package doctor

import (
	"fmt"

	"github.com/millicore/millicore/internal/inspect"
)

// sharers are the groups whose limit is above that of every group below them, each
// by the process that counts in it, under the limit that they share.
func sharers(host inspect.Host) []service {
	tightest := map[string]bool{} // there the limit is judged for itself
	for _, p := range host.Processes {
		tightest[p.CPU.Dir] = true
	}
	below := inspect.Host{Online: host.Online, Watched: host.Watched}
	for _, p := range host.Processes {
		for _, above := range p.Shared {
			if !tightest[above.CPU.Dir] {
				q := p
				q.CPU, q.Throttling = above.CPU, above.Throttling
				below.Processes = append(below.Processes, q)
			}
		}
	}
	return services(below)
}

// shared is the finding about a limit that groups with lower limits of their own
// use up together: none of their counters tells of it, since a group's are of its
// own limit only.
func (s service) shared() []Finding {
	if s.counts == nil || s.counts.Share() < worth {
		return nil
	}
	f := s.finding(Warning)
	f.weight = s.counts.Share()
	f.Title = fmt.Sprintf("limit of %s of the group %s above, shared by %s with lower limits of their own: throttled in %s of %s periods",
		cpus(s.CPU.CPUs), s.CPU.SetBy, count(int64(s.members), "process", "processes"), percent(s.counts.Share()), grouped(s.counts.Periods))
	f.Evidence = []string{s.limited(), s.counted(), "the counters of the groups below do not show it: each is of its own limit"}
	f.Fix = []string{fmt.Sprintf("%s on %s; or lower the limits below it, so that together they fit into it", s.raise(), s.CPU.SetBy)}
	return []Finding{f}
}
