package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/threads"
)

// What started and ended during the watch cannot be counted: no parallelism is stated, and no
// advice rests on one.
func TestShortLivedThreadsAndProcesses(t *testing.T) {
	const length = 10 * time.Second
	cpus := func(n float64) time.Duration { return time.Duration(n * float64(length)) }
	of := func(runtime runtimes.Name, group, process, thread float64, throttled int64) inspect.Process {
		p := goService(1, 0.8)
		p.Info = runtimes.Info{Runtime: runtime, Affinity: 8, Parallelism: runtimes.Parallelism{Value: 4, Source: runtimes.Read}}
		used := cpus(group)
		w := inspect.Counts{Length: length, Periods: 100, Throttled: throttled, Stopped: time.Duration(throttled) * 100 * time.Millisecond, Used: &used}
		p.Throttling = &inspect.Throttling{Since: w, Watch: &w}
		p.Used, p.Threads = cpus(process), &threads.Use{Length: length, Read: 4, Busy: 1, Ran: cpus(thread), BusyRan: cpus(thread)}
		return p
	}
	const (
		unknown   = "parallelism not known"
		threaded  = "short-lived threads, which started or ended during the watch, used 0.67 of 0.80 CPUs"
		processes = "short-lived processes, which started or ended during the watch, used 0.78 of 0.80 CPUs"
	)
	for _, test := range []struct {
		name     string
		of       inspect.Process
		evidence []string
		not      string
		partial  bool
	}{
		{name: "worker threads that end when they are idle", of: of(runtimes.Node, 0.8, 0.8, 0.13, 95), evidence: []string{unknown, threaded}},
		{name: "forked children", of: of(runtimes.Unknown, 0.8, 0.02, 0.02, 95), evidence: []string{unknown, processes}},
		{name: "children of a runtime whose parallelism is known", of: of(runtimes.Go, 0.8, 0.02, 0.02, 95), evidence: []string{unknown, processes}},
		{name: "a pool that is bounded by a setting", of: of(runtimes.Go, 0.8, 0.8, 0.13, 95), evidence: []string{"parallelism 4", threaded}},
		{name: "threads that exist", of: of(runtimes.Node, 0.8, 0.8, 0.8, 95), evidence: []string{"parallelism 4"}, not: "short-lived"},
		{name: "one process of a group", of: of(runtimes.Node, 0.8, 0.02, 0.02, 95), evidence: []string{"parallelism 4"}, not: "short-lived", partial: true},
		{name: "without throttling", of: of(runtimes.Unknown, 0.8, 0.02, 0.02, 0), evidence: []string{unknown, processes}},
	} {
		all := Examine(inspect.Host{Online: 8, Processes: []inspect.Process{test.of}, Partial: test.partial})
		if len(all) == 0 || all[0].Level == Info {
			t.Errorf("%s: got %q", test.name, titles(all))
			continue
		}
		f := all[0]
		evidence := strings.Join(f.Evidence, "\n")
		for _, want := range test.evidence {
			if !strings.Contains(evidence, want) {
				t.Errorf("%s: %q is not in %s", test.name, want, evidence)
			}
		}
		if test.not != "" && strings.Contains(evidence, test.not) {
			t.Errorf("%s: %q is in %s", test.name, test.not, evidence)
		}
		if strings.Contains(evidence, unknown) && (f.Confidence == High || strings.Contains(strings.Join(f.Fix, " "), "no setting gives") ||
			strings.Contains(strings.Join(f.Fix, " "), "gives nothing") || len(f.Changes) == 0 || f.Changes[0].CPUs == 0) {
			t.Errorf("%s: %s, %q, %+v", test.name, f.Confidence, f.Fix, f.Changes)
		}
	}
}
