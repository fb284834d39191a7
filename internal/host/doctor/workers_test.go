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
// fewer of them; else the limit is raised.
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
		want string // how the recommendation begins
		sure Confidence
	}{
		"four":                      {equal(runtimes.Unknown, 4, 4, 0.8), "if the program has a setting for the number of its worker processes, lower it first: 4 of one name", Low},
		"one":                       {equal(runtimes.Unknown, 1, 1, 0.8), "raise the limit", Medium},
		"as many as the limit runs": {equal(runtimes.Unknown, 4, 2, 1.5), "raise the limit", Medium},
		"four that also wait":       {equal(runtimes.Unknown, 4, 0, 0.8), "raise the limit", Medium},
		"of a known program":        {equal(runtimes.Postgres, 4, 4, 0.8), "raise the limit", High},
		"of other names": {func() []inspect.Process {
			all := equal(runtimes.Unknown, 4, 4, 0.8)
			for i, name := range []string{"a", "b", "c", "d"} {
				all[i+1].Name = name
			}
			return all
		}(), "raise the limit", Medium},
		"of other parents": {func() []inspect.Process {
			all := equal(runtimes.Unknown, 4, 4, 0.8)
			for i := range all {
				all[i].Parent = 200 + i
			}
			return all
		}(), "raise the limit", Medium},
	} {
		found := examine(test.of...)
		if len(found) == 0 || !strings.HasPrefix(found[0].Fix[0], test.want) || found[0].Confidence != test.sure {
			t.Errorf("%s: %+v", name, found)
			continue
		}
		if raised := len(found[0].Changes) > 0; raised == (test.sure == Low) {
			t.Errorf("%s: %+v", name, found[0].Changes)
		}
	}
}
