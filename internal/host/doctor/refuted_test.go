package doctor

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/threads"
)

// fixed is the first finding about a process, with its first way to mend it.
func fixed(p ...inspect.Process) (Finding, string) {
	f := examine(p...)[0]
	return f, f.Fix[0]
}

// A program in C whose threads of OpenMP share a low limit: none of them wants a CPU all the time,
// and one does six times the work of eight.
func TestAProgramThatIsNotKnownWithThreadsOfOpenMP(t *testing.T) {
	for _, test := range []struct {
		name, math, env string
		busy            int
		want            string
	}{
		{"as many as its variable sets", "OpenMP", "8", 8, "try OMP_NUM_THREADS=1"},
		{"fewer are busy", "OpenMP", "8", 3, "raise the limit"},
		{"no variable", "OpenMP", "", 8, "raise the limit"},
		{"no library", "", "8", 8, "raise the limit"},
	} {
		p := watched(goService(1, 0.5), 60, 60, 1)
		p.Info = runtimes.Info{Runtime: runtimes.Unknown, Math: test.math, Affinity: 8, Threads: 9}
		if test.env != "" {
			p.Info.Env = map[string]string{"OMP_NUM_THREADS": test.env}
		}
		length := p.Throttling.Watch.Length
		p.Threads = &threads.Use{Length: length, Read: 9, Busy: test.busy, Ran: p.Used, BusyRan: p.Used, Waited: 2 * length}
		if _, fix := fixed(p); !strings.HasPrefix(fix, test.want) {
			t.Errorf("%s: %q, want %q", test.name, fix, test.want)
		}
	}
}

// The variables of a library do not act on threads of another number: code started these.
func TestThreadsThatCodeStartedAreNoLibrarysVariable(t *testing.T) {
	p := spinning(1, 0.5, 8)
	p.Threads.Busy = 8
	p.Info = runtimes.Info{Runtime: runtimes.Python, Affinity: 2, Threads: 12, Math: "OpenBLAS", Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read}}
	f, fix := fixed(p)
	if len(f.Changes) > 0 || !strings.HasPrefix(fix, "measure with 1 thread of its libraries first (in its code") {
		t.Errorf("%q, %+v", fix, f.Changes)
	}
}

// Processes that compute are no threads of a library, and each has a lock of its own.
func TestWorkersOfPythonAreNoLibrarysThreads(t *testing.T) {
	p := spinning(1, 0.8, 8)
	p.Info = runtimes.Info{Runtime: runtimes.Python, Affinity: 2, Threads: 1, Workers: 8, Parallelism: runtimes.Parallelism{Value: 8, Source: runtimes.Read}}
	if _, fix := fixed(p); strings.Contains(fix, "librar") || strings.Contains(fix, "OMP") {
		t.Errorf("%q", fix)
	}
}

// A collector that runs all the time looks like work, where a heap size is set and in use.
func TestACollectorMayBeWhatUsesTheLimitUp(t *testing.T) {
	for _, test := range []struct {
		name string
		info runtimes.Info
		heap string
		anon int64
		want bool
	}{
		{"a small heap", runtimes.Info{Runtime: runtimes.JVM}, "-Xmx32m", 80 << 20, true},
		{"a heap that is hardly used", runtimes.Info{Runtime: runtimes.JVM}, "-Xmx1g", 80 << 20, false},
		{"a limit in code", runtimes.Info{Runtime: runtimes.Go, Go: &runtimes.GoFacts{HeapInCode: true}}, "", 80 << 20, true},
		{"no heap size", runtimes.Info{Runtime: runtimes.JVM}, "", 80 << 20, false},
	} {
		p := watched(goService(1, 0.7), 60, 60, 1)
		p.Info, p.Anon = test.info, test.anon
		p.Command = []string{"java", test.heap, "-jar", "api.jar"}
		p.Info.Parallelism = runtimes.Parallelism{Value: 1, Source: runtimes.Read}
		f, fix := fixed(p)
		if said := strings.Contains(fix, "garbage collection"); said != test.want || said == (f.Confidence == High) || said == strings.Contains(fix, "no setting gives more") {
			t.Errorf("%s: %s, %q", test.name, f.Confidence, fix)
		}
	}
}

// The CPU time of groups below is part of a parent's: no process started or ended.
func TestTheUseOfGroupsBelowIsNoShortLivedProcess(t *testing.T) {
	parent := watched(goService(1, 0.5), 60, 60, 1)
	parent.Used /= 4
	child := goService(1, 0.3)
	child.PID, child.CPU.Dir = parent.PID+1, parent.CPU.Dir+"/child"
	with := child
	with.Shared = []inspect.Shared{{CPU: parent.CPU, Throttling: parent.Throttling}}
	for _, test := range []struct {
		name  string
		other inspect.Process
		want  bool
	}{{"a group beside", child, true}, {"a group below", with, false}} {
		found := false
		for _, f := range examine(parent, test.other) {
			found = found || strings.Contains(strings.Join(f.Evidence, ";"), "short-lived")
		}
		if found != test.want {
			t.Errorf("%s: short-lived processes are named: %v, want %v", test.name, found, test.want)
		}
	}
}

// Few stops at an ordinary load are an observation: they seldom show in the p99.
func TestFewStopsAreAnObservation(t *testing.T) {
	for throttled, want := range map[int64]Level{5: Info, 14: Info, 20: Warning} {
		f := examine(watched(goService(1, 0.5), throttled, 60, 0.7))[0]
		if f.Level != want || (len(f.Changes) == 0) != (want == Info) {
			t.Errorf("throttled in %d of 60: %s, %+v", throttled, f.Level, f.Changes)
		}
	}
}

// A loop that runs one process after another uses a limit of one CPU up, and no more of a higher one.
func TestALoopOfProcessesNeedsNoHigherLimit(t *testing.T) {
	p := watched(goService(1, 1), 0, 100, 1)
	p.Info = runtimes.Info{Runtime: runtimes.Unknown, Affinity: 8}
	p.Used = 0
	f, fix := fixed(p)
	if f.Rule != LimitUsedUp || !strings.HasPrefix(fix, "run more of the processes at once") || len(f.Changes) != 1 || !f.Changes[0].Replicas {
		t.Errorf("%s: %q, %+v", f.Title, fix, f.Changes)
	}
}

// Without root a program may not be read: nothing is said about its threads.
func TestNothingIsSaidAboutTheThreadsOfAProgramThatWasNotRead(t *testing.T) {
	p := spinning(0, 0.5, 4)
	p.Info = runtimes.Info{Runtime: runtimes.Unknown, Affinity: 8}
	p.Unseen = []string{"its executable could not be read"}
	f, fix := fixed(p)
	if f.Confidence != Low || !strings.HasPrefix(fix, "raise the limit") || !strings.Contains(fix, "as root") {
		t.Errorf("%s, %q", f.Confidence, fix)
	}
}
