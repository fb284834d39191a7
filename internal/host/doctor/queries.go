package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// parallelQueries completes the finding about a PostgreSQL that uses its limit up with workers
// of parallel queries, while more of its processes serve clients than the limit has CPUs. The
// queries of several clients use all CPUs already, so workers that start and end with each only
// add work. It reports whether that is so. With 8 clients under 1.3 CPUs a server with 4 workers
// for each query answered 105 to 112 queries/s, and 180 to 187 without them.
func (s service) parallelQueries(f *Finding) bool {
	const setting, least = "max_parallel_workers_per_gather", 0.2
	serving, spent := s.serving()
	if len(s.queryWorkers) == 0 || spent < least*s.account.Group || serving <= s.fit() {
		return false
	}
	c := Change{Setting: setting, File: "postgresql.conf", Text: "0"}
	for _, p := range s.others {
		if server := p.PID == s.PID || p.PID == s.Parent; !server || p.Info.Runtime != runtimes.Postgres {
			continue
		}
		for i, arg := range p.Command {
			if strings.HasPrefix(arg, setting+"=") { // overrides the file
				c.Command = slices.Clone(p.Command)
				c.Command[i] = setting + "=0"
			}
		}
	}
	where := "in " + c.File
	if c.Command != nil {
		where = "in its command"
	}
	f.Mechanism = fmt.Sprintf("%d of its processes serve clients under a limit of %s, so they use it up by themselves; workers of parallel queries (%d at one time) used %.2f of %.2f CPUs beside them, and start and end with each query",
		serving, display.CPULimit(s.CPU.CPUs), len(s.queryWorkers), spent, s.account.Group)
	f.Expect = Effect{Saturated: "throughput grows", Ordinary: "a query that could use idle CPUs takes longer"}
	f.Confidence = Medium
	s.fix(f, fmt.Sprintf("set %s = 0 %s, or for the role of these clients (ALTER ROLE); or raise the limit", setting, where), c, Change{CPUs: s.higher()})
	return true
}

// serving is how many processes of the server were busy, for the limit that they share: they serve
// a client each. workers are the CPUs that workers of parallel queries used: those that ended
// during the watch, and those that did not.
func (s service) serving() (n int, workers float64) {
	const busy = 0.05
	length := s.Throttling.Watch.Length.Seconds()
	workers = s.account.Group - s.account.Processes
	for _, p := range s.others {
		switch {
		case p.CPU.Dir != s.CPU.Dir || p.Info.Runtime != runtimes.Postgres:
		case slices.Contains(s.queryWorkers, p.PID):
			workers += p.Used.Seconds() / length
		case p.Used.Seconds() >= busy*min(1, s.CPU.CPUs)*length:
			n++
		}
	}
	return n, workers
}
