package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/threads"
)

// Several equal workers of an unknown program that always want a CPU are an experiment with
// fewer of them, beside the higher limit.
func TestEqualWorkersOfAnUnknownProgram(t *testing.T) {
	// equal are a process that waits and n of its own, of which full wanted a CPU all the time.
	equal := func(runtime runtimes.Name, n, full int, limit float64) []inspect.Process {
		first := watched(goService(1, limit), 410, 412, 1)
		length, spent := first.Throttling.Watch.Length, first.Used/time.Duration(n)
		first.Info = runtimes.Info{Runtime: runtime, Program: "encode", Affinity: 8}
		all := []inspect.Process{also(first, func(p *inspect.Process) { p.Used, p.Threads = 0, &threads.Use{Length: length, Read: 1} })}
		for i := range n {
			all = append(all, also(first, func(p *inspect.Process) {
				p.PID, p.Parent, p.Used = 100+i, first.PID, spent
				p.Threads = &threads.Use{Length: length, Read: 1, Busy: 1, Ran: spent, BusyRan: spent}
				if i < full {
					p.Threads.Full, p.Threads.Waited = 1, length-spent
				}
			}))
		}
		return all
	}
	for name, test := range map[string]struct {
		of   []inspect.Process
		want bool // fewer are to be measured too
		sure Confidence
	}{
		"four":                      {equal(runtimes.Unknown, 4, 4, 0.8), true, Medium},
		"one":                       {equal(runtimes.Unknown, 1, 1, 0.8), false, Medium},
		"as many as the limit runs": {equal(runtimes.Unknown, 4, 2, 1.5), false, Medium},
		"four that also wait":       {equal(runtimes.Unknown, 4, 0, 0.8), false, Medium},
		"of a known program":        {equal(runtimes.Postgres, 4, 4, 0.8), false, High},
		"of other names": {func() []inspect.Process {
			all := equal(runtimes.Unknown, 4, 4, 0.8)
			for i, name := range []string{"a", "b", "c", "d"} {
				all[i+1].Name = name
			}
			return all
		}(), false, Medium},
		"of other parents": {func() []inspect.Process {
			all := equal(runtimes.Unknown, 4, 4, 0.8)
			for i := range all {
				all[i].Parent = 200 + i
			}
			return all
		}(), false, Medium},
	} {
		f := examine(test.of...)[0]
		got := strings.Contains(f.Fix[0], ". If the number of its worker processes can be set, measure with fewer too: 4 of one name")
		if got != test.want || f.Confidence != test.sure || !strings.HasPrefix(f.Fix[0], "raise the limit") || f.Changes[0].CPUs <= test.of[0].CPU.CPUs {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
