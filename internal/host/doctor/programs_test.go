package doctor

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/threads"
)

// spinning is a Redis whose I/O threads all want a CPU all the time, under a limit.
func spinning(n int, limit float64, full int) inspect.Process {
	p := watched(goService(n, limit), 410, 412, 1)
	p.Command = []string{"redis-server *:6379"}
	p.Info = runtimes.Info{Runtime: runtimes.Redis, Program: "redis-server", Affinity: 8, Parallelism: runtimes.Parallelism{Value: n, Source: runtimes.Read}}
	p.Threads = &threads.Use{Length: p.Throttling.Watch.Length, Read: n + 3, Busy: full, Full: full, Held: full, Ran: p.Used, BusyRan: p.Used}
	return p
}

// Threads that spin need a CPU each, so their number is the limit rounded down, and is never
// raised.
func TestTheThreadsOfRedis(t *testing.T) {
	for _, test := range []struct {
		name    string
		process inspect.Process
		want    Change
		sure    Confidence
	}{
		{"four under less than a CPU", spinning(4, 0.8, 4), Change{Setting: "io-threads", File: "redis.conf or its command", Value: 1}, High},
		{"four under two and a half", also(spinning(4, 2.5, 4), func(p *inspect.Process) { p.Throttling.Watch.Stopped *= 10 }), Change{Setting: "io-threads", File: "redis.conf or its command", Value: 2}, High},
		{"by its command", also(spinning(4, 0.8, 4), func(p *inspect.Process) {
			p.Command = []string{"redis-server", "--io-threads", "4"}
		}), Change{Command: []string{"redis-server", "--io-threads", "1"}, Value: 1}, High},
		{"threads that sleep", spinning(4, 0.8, 1), Change{Setting: "io-threads", File: "redis.conf or its command", Value: 1}, Medium},
		{"one thread under two CPUs", also(spinning(1, 2, 1), func(p *inspect.Process) {
			p.Throttling.Watch.Throttled, p.Throttling.Watch.Stopped = 0, 0
			half := *p.Throttling.Watch.Used / 2
			p.Throttling.Watch.Used, p.Used = &half, half
		}), Change{Replicas: true}, Medium},
	} {
		f := examine(test.process)[0]
		if len(f.Changes) != 1 || f.Confidence != test.sure || !same(f.Changes[0], test.want) {
			t.Errorf("%s: %s, %s, %+v", test.name, f.Title, f.Confidence, f.Changes)
		}
		if test.want.Value > 0 && (f.Level != Critical || strings.Contains(f.Fix[0], "raise the limit")) {
			t.Errorf("%s: %s, %q", test.name, f.Level, f.Fix)
		}
	}
}

func same(a, b Change) bool {
	return slices.Equal(a.Command, b.Command) && a.Setting == b.Setting && a.File == b.File && a.Value == b.Value && a.Replicas == b.Replicas && a.CPUs == b.CPUs
}

// The variables of a library of linear algebra have an effect where more of its threads than
// the limit has CPUs spin. Threads that wait for a global lock do not want a CPU all the time.
func TestTheThreadsOfALibrary(t *testing.T) {
	for _, test := range []struct {
		name  string
		env   map[string]string
		math  string
		limit float64
		full  int
		want  string // of the changes the first
	}{
		{"two under less than a CPU", nil, "OpenBLAS", 0.35, 2, "set OMP_NUM_THREADS=1"},
		{"with its own variable", map[string]string{"OPENBLAS_NUM_THREADS": "8"}, "OpenBLAS", 0.35, 2, "set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1"},
		{"as many as the limit has CPUs", nil, "OpenBLAS", 1.5, 2, "raise the CPU limit to 2 CPUs"},
		{"eight that wait for the lock", nil, "OpenBLAS", 0.8, 0, "raise the CPU limit to 1.3 CPUs"},
		{"the variable is set already", map[string]string{"OMP_NUM_THREADS": "1"}, "OpenBLAS", 0.35, 2, ""},
		{"without such a library", nil, "", 0.35, 2, ""},
	} {
		p := spinning(1, test.limit, test.full)
		p.Threads.Busy = 8
		p.Info = runtimes.Info{Runtime: runtimes.Python, Affinity: 8, Threads: 8, Math: test.math, Env: test.env, Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read}}
		f, got := examine(p)[0], ""
		if len(f.Changes) > 0 {
			got = f.Changes[0].String()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q; %s", test.name, got, test.want, f.Title)
		}
	}
}

// Below saturation the schedulers of Erlang use up the quota while they wait; at saturation
// they have work.
func TestTheSchedulersOfErlang(t *testing.T) {
	const none = "+sbwt none +sbwtdcpu none +sbwtdio none"
	for _, test := range []struct {
		name  string
		used  float64
		env   string
		flags []string
		want  Change
	}{
		{"at ordinary load", 0.8, "", nil, Change{Env: map[string]string{"ERL_FLAGS": none}}},
		{"with other options", 0.3, "+S 2", []string{"-S", "2"}, Change{Env: map[string]string{"ERL_FLAGS": "+S 2 " + none}}},
		{"at saturation", 1, "", nil, Change{CPUs: 0.8}},
		{"where it is set", 0.3, "", []string{"-sbwt", "none"}, Change{Burst: 30 * time.Millisecond}},
	} {
		p := watched(goService(2, 0.3), 170, 400, test.used)
		p.Info = runtimes.Info{Runtime: runtimes.Erlang, Affinity: 8, Flags: test.flags, Env: map[string]string{"ERL_FLAGS": test.env}, Parallelism: runtimes.Parallelism{Value: 2, Source: runtimes.Read}}
		f := examine(p)[0]
		if len(f.Changes) == 0 || !reflect.DeepEqual(f.Changes[0], test.want) {
			t.Errorf("%s: %s, %+v", test.name, f.Title, f.Changes)
		}
	}
}

// Many threads of a proxy share a limit of less than one of two CPUs: no more can run at once than
// are advised, but the switches between them cost throughput.
func TestManyThreadsOfAProxy(t *testing.T) {
	for _, test := range []struct {
		name    string
		runtime runtimes.Name
		n       int
		setting string // "": the limit is raised
	}{
		{"HAProxy, 8", runtimes.HAProxy, 8, "nbthread"},
		{"HAProxy, 4", runtimes.HAProxy, 4, ""},
		{"Envoy, 8", runtimes.Envoy, 8, "--concurrency"},
	} {
		p := watched(goService(2, 0.35), 60, 60, 1)
		p.Throttling.Watch.Stopped = 60 * 135 * time.Millisecond // by those on both CPUs
		p.Info = runtimes.Info{Runtime: test.runtime, Affinity: 2, Parallelism: runtimes.Parallelism{Value: test.n, Source: runtimes.Read}}
		c := examine(p)[0].Changes[0]
		if c.Setting != test.setting || test.setting != "" && c.Value != 2 || test.setting == "" && c.CPUs == 0 {
			t.Errorf("%s: %+v", test.name, c)
		}
	}
}

// Many threads of a library share a low limit, so that none of them ran for long. A server has
// threads of its own.
func TestTheThreadsOfALibraryUnderALowLimit(t *testing.T) {
	const fewer = "measure with 1 thread of its libraries first (in its code, or OMP_NUM_THREADS sets that of most): OpenMP is loaded, and the threads wanted 3.4 CPUs at once"
	const set = "try OMP_NUM_THREADS=1, unless the program's code sets the number of these threads: OpenMP is loaded, and the threads wanted 3.4 CPUs at once"
	for _, test := range []struct {
		name, math, server, env string
		threads                 int
		want                    string
	}{
		{"as many as CPUs", "OpenMP", "", "", 8, set},
		{"and some of the program", "OpenMP", "", "", 12, set},
		{"a number of its own", "OpenMP", "", "", 13, fewer},
		{"fewer than CPUs", "OpenMP", "", "", 7, fewer},
		{"as many as its variable says", "OpenMP", "", "6", 6, set},
		{"more threads of the program", "OpenMP", "", "6", 20, set},
		{"fewer than its variable says", "OpenMP", "", "9", 8, "measure with 1 thread of its libraries first (OMP_NUM_THREADS=9 is set, which code can override"},
		{"set already", "OpenMP", "", "1", 8, "measure with 1 thread of its libraries first (OMP_NUM_THREADS=1 is set, which code can override"},
		{"a library without a variable", "DuckDB", "", "", 13, "measure with 1 thread of its libraries first (in its code, or DuckDB's SET threads = N): DuckDB is loaded, and the threads wanted 3.4 CPUs at once"},
		{"a server with threads", "OpenMP", "gunicorn", "", 8, "raise the limit"},
		{"no library", "", "", "", 8, "raise the limit"},
	} {
		p := watched(goService(1, 0.35), 60, 60, 1)
		p.Info = runtimes.Info{Runtime: runtimes.Python, Math: test.math, Server: test.server, Affinity: 8, Threads: test.threads, Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read}}
		if test.env != "" {
			p.Info.Env = map[string]string{"OMP_NUM_THREADS": test.env}
		}
		length := p.Throttling.Watch.Length
		p.Threads = &threads.Use{Length: length, Read: 8, Busy: 1, Ran: p.Used, BusyRan: p.Used, Waited: 3 * length}
		f := examine(p)[0]
		if changed := test.want != fewer && !strings.HasPrefix(test.want, "measure"); !strings.HasPrefix(f.Fix[0], test.want) || (len(f.Changes) > 0) != changed {
			t.Errorf("%s: %q, %+v", test.name, f.Fix[0], f.Changes)
		}
		if test.want == set && f.Changes[0].Env["OMP_NUM_THREADS"] != "1" {
			t.Errorf("%s: %+v", test.name, f.Changes)
		}
	}
}

// Threads of a library that hand over to each other after microseconds do little else. Those
// behind the lock of the interpreter, and those of a server, look like it and are not.
func TestThreadsThatHandOver(t *testing.T) {
	const µs = time.Microsecond
	const more = "raise the limit, add replicas, or reduce the load on each. If its busy threads are of a library, measure with fewer of them too"
	for _, test := range []struct {
		name         string
		limit, used  float64
		throttled    int64
		math, server string
		threads      int
		listens      bool
		turn         time.Duration
		wanted       float64
		rule         Rule
		confidence   Confidence
		env          string
		fix          string
	}{
		{"no library is known", 0.35, 1, 60, "", "", 8, false, 10 * µs, 6.2, LimitUsedUp, Medium, "", more},
		{"a thread for each connection", 0.35, 1, 60, "OpenMP", "", 33, true, 9 * µs, 18, LimitUsedUp, Medium, "", more},
		{"a thread for each connection, which nothing stops", 1.4, 0.55, 0, "OpenMP", "", 10, true, 9 * µs, 7, "", "", "", ""},
		{"many threads of a client", 1.4, 0.55, 0, "OpenMP", "", 13, false, 9 * µs, 3.9, "", "", "", ""},
		{"OpenMP that nothing stops", 1.4, 0.9, 0, "OpenMP", "", 8, false, 11 * µs, 3.3, PoolsAboveLimit, Medium, "2", "try OMP_NUM_THREADS=2, unless"},
		{"the same at little load", 1.4, 0.4, 0, "OpenMP", "", 8, false, 11 * µs, 3.3, "", "", "", ""},
		{"the same in a server", 1.4, 0.55, 0, "OpenMP", "gunicorn", 8, false, 11 * µs, 3.3, "", "", "", ""},
		{"threads that wait little", 1.4, 0.55, 0, "OpenMP", "", 8, false, 11 * µs, 1.3, "", "", "", ""},
		{"threads behind the lock", 1.4, 0.55, 0, "OpenMP", "", 8, false, 50 * µs, 3.3, "", "", "", ""},
	} {
		p := watched(goService(1, test.limit), test.throttled, 60, test.used)
		p.Info = runtimes.Info{Runtime: runtimes.Python, Math: test.math, Server: test.server, Affinity: 8, Threads: test.threads, Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read}}
		p.Listens = &test.listens
		length := p.Throttling.Watch.Length
		wanted := time.Duration(test.wanted * float64(length))
		p.Threads = &threads.Use{Length: length, Read: 8, Ran: p.Used, Waited: wanted - p.Used, Turns: int64(p.Used / test.turn)}
		found := examine(p)
		if test.rule == "" {
			if AtLeast(found, Warning) {
				t.Errorf("%s: %v", test.name, titles(found))
			}
			continue
		}
		f := found[0]
		if f.Rule != test.rule || f.Confidence != test.confidence || !strings.HasPrefix(f.Fix[0], test.fix) {
			t.Errorf("%s: %s, %s, %q", test.name, f.Rule, f.Confidence, f.Fix[0])
		}
		if test.env != "" && f.Changes[0].Env["OMP_NUM_THREADS"] != test.env {
			t.Errorf("%s: %+v", test.name, f.Changes)
		}
	}
}

// A pool of a Rust program that its code sizes is changed there: no variable can.
func TestAPoolThatTheCodeSizes(t *testing.T) {
	for _, test := range []struct {
		name         string
		value, ruled int // its parallelism, and what the variable or the rule gives
		source       runtimes.Source
		limit        float64
		full         int
		env, setting string
	}{
		{"by the rule", 1, 1, runtimes.Predicted, 1.7, 1, "2", ""},
		{"fewer than its variable", 1, 2, runtimes.Read, 1.7, 1, "", "worker_threads"},
		{"more than the rule, under a small limit", 1, 1, runtimes.Predicted, 0.35, 8, "", "worker_threads"},
	} {
		p := watched(goService(test.value, test.limit), 0, 60, 0.59)
		if test.full > 1 {
			p = watched(goService(test.value, test.limit), 60, 60, 1)
		}
		p.Info = runtimes.Info{Runtime: runtimes.Rust, Tokio: true, Affinity: 8, Threads: 9, Pooled: test.full,
			Parallelism: runtimes.Parallelism{Value: test.value, Source: test.source}}
		if test.ruled > 1 {
			p.Info.Env = map[string]string{"TOKIO_WORKER_THREADS": strconv.Itoa(test.ruled)}
		}
		length := p.Throttling.Watch.Length
		p.Threads = &threads.Use{Length: length, Read: 9, Full: test.full, Busy: test.full, Bound: 1, Ran: p.Used, BusyRan: p.Used}
		f := examine(p)[0]
		if f.Changes[0].Env["TOKIO_WORKER_THREADS"] != test.env || f.Changes[0].Setting != test.setting {
			t.Errorf("%s: %s: %+v", test.name, f.Title, f.Changes)
		}
		if test.full > 1 && !strings.Contains(f.Title, "parallelism 8 exceeds") {
			t.Errorf("%s: %s", test.name, f.Title)
		}
	}
}

// also changes a process that nothing else has.
func also(p inspect.Process, change func(*inspect.Process)) inspect.Process {
	change(&p)
	return p
}
