package doctor

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/runtimes/executable"
	"github.com/millicore/millicore/internal/host/threads"
	"github.com/millicore/millicore/test/testkit"
)

// program is a program whose parallelism is set to n in one way.
type program struct {
	name, exe string
	library   string // that it maps
	binary    executable.Facts
	args      []string // $n is the number
	env       map[string]string
	// setting is the one outside of the command and the environment that has the number.
	setting string
	config  string                    // the configuration file that doctor reads
	workers bool                      // the number is that of worker processes
	count   func(s *situation) int    // the number that takes effect; nil: by the table of runtimes
	edit    func(s *situation, n int) // a change by hand where the setting is
}

// lastWorkers is the number of the last option for workers among words; 0: none.
func lastWorkers(words []string) (n int) {
	for i, word := range words {
		value, ok := strings.CutPrefix(word, "--workers=")
		if (word == "-w" || word == "--workers") && i+1 < len(words) {
			value, ok = words[i+1], true
		}
		if v, err := strconv.Atoi(value); ok && err == nil {
			n = v
		}
	}
	return n
}

// gunicornCount follows gunicorn's order: the command, GUNICORN_CMD_ARGS, its file, the variable.
func gunicornCount(s *situation) int {
	for _, n := range []int{lastWorkers(s.args), lastWorkers(strings.Fields(s.env["GUNICORN_CMD_ARGS"]))} {
		if n > 0 {
			return n
		}
	}
	if s.of.config != "" {
		return s.n
	}
	n, _ := strconv.Atoi(s.env["WEB_CONCURRENCY"])
	return max(n, 1)
}

func programs() []program {
	goBinary := func(version string) executable.Facts {
		return executable.Facts{Go: &debug.BuildInfo{GoVersion: version}}
	}
	const (
		python = "/usr/bin/python3.11"
		ruby   = "/usr/bin/ruby3.1"
	)
	inFile := func(s *situation) int { return s.n }
	by := func(name string) map[string]string { return map[string]string{name: "$n"} }
	jvmEdit := func(s *situation, n int) {
		for i, arg := range s.args {
			if strings.HasPrefix(arg, "-XX:ActiveProcessorCount=") {
				s.args[i] = "-XX:ActiveProcessorCount=" + strconv.Itoa(n)
			}
		}
	}
	return []program{
		{name: "Go", exe: "/app/api", binary: goBinary("go1.26.8"), args: []string{"/app/api"}, env: by("GOMAXPROCS")},
		{name: "Go by its rule", exe: "/app/api", binary: goBinary("go1.26.8"), args: []string{"/app/api"}},
		{name: "old Go", exe: "/app/api", binary: goBinary("go1.22.3"), args: []string{"/app/api"}},
		{name: "Go by its own call", exe: "/app/api", binary: goBinary("go1.26.8"), args: []string{"/app/api"},
			env: map[string]string{"GOMAXPROCS": "17"}, setting: "runtime.GOMAXPROCS", count: inFile},
		{name: "JVM", exe: "/jdk/bin/java", library: "/jdk/lib/server/libjvm.so", args: []string{"java", "Main"},
			env: map[string]string{"JAVA_TOOL_OPTIONS": "-Xss1m -XX:ActiveProcessorCount=$n"}},
		{name: "JVM by its rule", exe: "/jdk/bin/java", library: "/jdk/lib/server/libjvm.so", args: []string{"java", "Main"}},
		{name: "JVM by its command", exe: "/jdk/bin/java", library: "/jdk/lib/server/libjvm.so", args: []string{"java", "-XX:ActiveProcessorCount=$n", "Main"},
			setting: "-XX:ActiveProcessorCount", edit: jvmEdit},
		{name: ".NET", exe: "/app/App", library: "/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.1/libcoreclr.so", args: []string{"/app/App"}, env: by("DOTNET_PROCESSOR_COUNT")},
		{name: "Tokio", exe: "/app/api", binary: executable.Facts{Rustc: "1.95.0", Tokio: true}, args: []string{"/app/api"}, env: by("TOKIO_WORKER_THREADS")},
		{name: "Tokio by its rule", exe: "/app/api", binary: executable.Facts{Rustc: "1.95.0", Tokio: true}, args: []string{"/app/api"}},
		{name: "Rayon", exe: "/app/api", binary: executable.Facts{Rustc: "1.95.0", Rayon: true}, args: []string{"/app/api"}, env: by("RAYON_NUM_THREADS")},
		{name: "Deno", exe: "/usr/bin/deno", binary: executable.Facts{Deno: "2.9.6"}, args: []string{"deno", "serve", "--parallel", "m.ts"}, env: by("DENO_JOBS")},
		{name: "Node.js", exe: "/usr/bin/node", binary: executable.Facts{NodeSymbol: true, Node: "22.12.0"}, args: []string{"node", "app.js"}},
		{name: "Node.js cluster", exe: "/usr/bin/node", binary: executable.Facts{NodeSymbol: true, Node: "22.12.0"}, args: []string{"node", "app.js"}, workers: true, count: inFile},
		{name: "Bun", exe: "/usr/bin/bun", binary: executable.Facts{Bun: "1.4.5"}, args: []string{"bun", "app.ts"}},
		{name: "nginx", exe: "/usr/sbin/nginx", args: []string{"nginx: master process nginx -c /etc/n.conf"}, setting: "worker_processes", workers: true, count: inFile},
		{name: "nginx by its command", exe: "/usr/sbin/nginx", args: []string{"nginx: master process nginx -g daemon off; worker_processes $n;"}, workers: true},
		{name: "PHP-FPM", exe: "/usr/sbin/php-fpm8.2", args: []string{"php-fpm: master process"}, setting: "pm.max_children", workers: true, count: inFile},
		{name: "Envoy", exe: "/usr/bin/envoy", args: []string{"envoy", "-c", "e.yaml", "--concurrency", "$n"}},
		{name: "Envoy by its rule", exe: "/usr/bin/envoy", args: []string{"envoy", "-c", "e.yaml"}},
		{name: "HAProxy", exe: "/usr/sbin/haproxy", args: []string{"haproxy", "-f", "h.cfg"}, setting: "nbthread", config: "/h.cfg", count: inFile},
		{name: "lighttpd", exe: "/usr/sbin/lighttpd", args: []string{"lighttpd", "-D", "-f", "l.conf"}, setting: "server.max-worker", workers: true, count: inFile},
		{name: "BIND", exe: "/usr/sbin/named", args: []string{"/usr/sbin/named", "-f", "-n", "$n"}},
		{name: "Unbound", exe: "/usr/sbin/unbound", args: []string{"unbound", "-d"}, setting: "num-threads", count: inFile},
		{name: "Erlang", exe: "/usr/lib/erlang/erts-13.1.5/bin/beam.smp", args: []string{"beam.smp", "--", "-root", "/usr/lib/erlang"},
			env: map[string]string{"ERL_FLAGS": "+sbwt none +S $n"}, count: func(s *situation) int {
				words := strings.Fields(s.env["ERL_FLAGS"])
				n, _ := strconv.Atoi(words[slices.Index(words, "+S")+1])
				return n
			}},
		{name: "gunicorn", exe: python, args: []string{"python3", "/bin/gunicorn", "app"}, env: by("WEB_CONCURRENCY"), workers: true, count: gunicornCount},
		{name: "gunicorn by its command", exe: python, args: []string{"python3", "/bin/gunicorn", "-w", "$n", "app"}, workers: true, count: gunicornCount},
		{name: "gunicorn by its arguments in a variable", exe: python, args: []string{"python3", "/bin/gunicorn", "app"},
			env: map[string]string{"GUNICORN_CMD_ARGS": "--workers=$n --threads 2"}, workers: true, count: gunicornCount},
		{name: "gunicorn by its file", exe: python, args: []string{"python3", "/bin/gunicorn", "app"}, setting: "workers", config: "/gunicorn.conf.py", workers: true, count: gunicornCount},
		{name: "uvicorn", exe: python, args: []string{"python3", "/bin/uvicorn", "app"}, env: by("WEB_CONCURRENCY"), workers: true},
		{name: "granian", exe: python, args: []string{"python3", "/bin/granian", "app"}, env: by("GRANIAN_WORKERS"), workers: true},
		{name: "hypercorn", exe: python, args: []string{"python3", "/bin/hypercorn", "app", "--workers=$n"}, workers: true},
		{name: "uWSGI", exe: python, args: []string{"python3", "/bin/uwsgi", "app"}, env: by("UWSGI_PROCESSES"), workers: true},
		{name: "uWSGI by its file", exe: python, args: []string{"python3", "/bin/uwsgi", "--ini", "/srv/uwsgi.ini"}, env: map[string]string{"UWSGI_PROCESSES": "1"},
			setting: "processes", workers: true, count: inFile},
		{name: "Celery", exe: python, args: []string{"python3", "/bin/celery", "worker", "-c", "$n"}, workers: true},
		{name: "puma", exe: ruby, args: []string{"ruby", "/bin/puma", "-w", "$n"}, workers: true},
		{name: "unicorn", exe: ruby, args: []string{"ruby", "/bin/unicorn"}, setting: "worker_processes", workers: true, count: inFile},
		{name: "an unknown program", exe: "/app/api", args: []string{"/app/api"}, count: inFile},
	}
}

// situation is a program under a limit and a load.
type situation struct {
	of      program
	args    []string
	env     map[string]string
	n       int // in its file, or of its own
	machine int // CPUs
	limit   float64
	burst   time.Duration
	load    float64 // CPUs that the requests need
	bursts  float64 // share of the periods in which all its threads run, below saturation
	// inherited is whether a group above sets the limit, which some runtimes do not read.
	inherited bool
}

// read is the limit by the groups that set it.
func (s *situation) read() runtimes.Limit {
	if s.inherited {
		return runtimes.Limit{CPUs: s.limit}
	}
	return runtimes.LimitOf(s.limit)
}

func newSituation(of program, n int) *situation {
	number := strconv.Itoa(n)
	s := &situation{of: of, n: n, env: map[string]string{}}
	for _, arg := range of.args {
		s.args = append(s.args, strings.ReplaceAll(arg, "$n", number))
	}
	for name, value := range of.env {
		s.env[name] = strings.ReplaceAll(value, "$n", number)
	}
	return s
}

// info is what is detected of the program, and its true parallelism.
func (s *situation) info() (runtimes.Info, int) {
	e := runtimes.Evidence{PID: 42, Exe: s.of.exe, Args: s.args, Env: s.env, Binary: s.of.binary, Affinity: s.machine, Threads: 1}
	if s.of.library != "" {
		e.Mappings = []runtimes.Mapping{{Path: s.of.library}}
	}
	n, _ := runtimes.Default(runtimes.Decide(e), s.read(), runtimes.Machine{Online: s.machine, Affinity: s.machine})
	if s.of.count != nil {
		n = s.of.count(s)
	}
	switch path.Base(s.of.exe) {
	case "envoy":
		for i := range n {
			e.ThreadNames = append(e.ThreadNames, fmt.Sprintf("wrk:worker_%d", i))
		}
	case "haproxy", "unbound":
		e.Threads = n
	case "named":
		for i := range 2 * n {
			e.ThreadNames = append(e.ThreadNames, fmt.Sprintf("isc-net-%04d", i))
		}
	case "beam.smp": // erl passes the options on
		e.Args = slices.Insert(slices.Clone(s.args), 1, "-S", strconv.Itoa(n))
	}
	if s.of.binary.Go != nil {
		e.Gomaxprocs = n
	}
	if s.of.binary.Rustc != "" { // and its main thread
		e.Threads = n + 1
		for i := 0; i < n && s.of.binary.Tokio; i++ {
			e.ThreadNames = append(e.ThreadNames, "tokio-rt-worker")
		}
	}
	if s.of.workers {
		e.Workers = n
	}
	return runtimes.Decide(e), n
}

// host is what a watch of 10 s sees.
func (s *situation) host() inspect.Host {
	const length, period = 10 * time.Second, 100 * time.Millisecond
	info, n := s.info()
	running := float64(min(n, s.machine))
	capacity := min(running, s.limit)
	saturated := s.load >= capacity
	used := time.Duration(min(s.load, capacity) * float64(length))
	w := inspect.Counts{Length: length, Periods: 100, Used: &used}
	missing := time.Duration((running - s.limit) * float64(period))
	if !saturated {
		missing -= s.burst
	}
	switch {
	case missing <= 0:
	case saturated:
		w.Throttled = 100
	default:
		w.Throttled = int64(100 * s.bursts)
	}
	w.Stopped = time.Duration(w.Throttled) * missing
	master := inspect.Process{
		PID: 42, Name: "api", Command: s.args, Info: info, Config: s.of.config, Folder: "/", Exe: s.of.exe,
		CPU: inspect.CPULimit{State: inspect.Limited, CPUs: s.limit, Own: s.limit, Period: period, Burst: s.burst, Version: 2, CanBurst: true,
			Group: "/a", SetBy: "/a", Dir: "/sys/fs/cgroup/a"},
		Throttling: &inspect.Throttling{Since: w, Watch: &w},
	}
	if s.inherited {
		master.CPU.Own, master.CPU.SetBy = 0, "/pods"
	}
	master.Ruled, master.Why = runtimes.Default(info, s.read(), runtimes.Machine{Online: s.machine, Affinity: s.machine})
	if p := &master.Info.Parallelism; p.Value == 0 && master.Ruled > 0 {
		*p = runtimes.Parallelism{Value: master.Ruled, Source: runtimes.Predicted, From: master.Why}
	}
	threads := func(used time.Duration, n int) *threads.Use {
		t := threads.Use{Length: length, Read: n, Ran: used, BusyRan: used}
		if used >= length/20 {
			t.Busy = n
		}
		if saturated {
			t.Full, t.Waited = n, max(0, time.Duration(n)*length-used)
			t.BusyWaited = t.Waited
		}
		return &t
	}
	host := inspect.Host{Online: s.machine, Watched: length}
	if !s.of.workers {
		master.Used, master.Threads = used, threads(used, n)
		host.Processes = []inspect.Process{master}
		return host
	}
	master.Threads = threads(0, 0)
	host.Processes = []inspect.Process{master}
	for i := range n {
		worker := master
		worker.PID, worker.Parent, worker.Used, worker.Info.Workers = 43+i, 42, used/time.Duration(n), 0
		worker.Info.Parallelism = runtimes.Parallelism{Value: 1, Source: runtimes.Read}
		worker.Threads = threads(worker.Used, 1)
		host.Processes = append(host.Processes, worker)
	}
	return host
}

// with is the situation after a change.
func (s *situation) with(c Change) *situation {
	next := *s
	next.args, next.env = slices.Clone(s.args), maps.Clone(s.env)
	maps.Copy(next.env, c.Env)
	if c.Command != nil {
		next.args = c.Command
		if path.Base(s.of.exe) == "nginx" {
			next.args = []string{"nginx: master process " + strings.Join(c.Command, " ")}
		}
	}
	switch {
	case c.Command != nil || c.Setting == "":
	case c.Setting == s.of.setting && s.of.edit != nil:
		s.of.edit(&next, c.Value)
	case c.Setting == s.of.setting:
		next.n = c.Value
	}
	if c.CPUs > 0 {
		next.limit = c.CPUs
	}
	if c.Burst > 0 {
		next.burst = c.Burst
	}
	if c.Replicas && c.Env == nil && c.Command == nil && c.CPUs == 0 {
		next.load /= 2
	}
	return &next
}

func (s *situation) String() string {
	return fmt.Sprintf("%s, %q %v %d, limit %v (from above: %v), burst %s, %d CPUs, load %v, bursts %v",
		s.of.name, s.args, s.env, s.n, s.limit, s.inherited, s.burst, s.machine, s.load, s.bursts)
}

// parallelOnly reports whether a change is of the parallelism alone.
func parallelOnly(c Change) bool {
	return c.CPUs == 0 && c.Burst == 0 && (c.Env != nil || c.Command != nil || c.Setting != "")
}

// examined has what was done with a program: the situations that were followed, and the
// findings in each.
type examined struct {
	followed map[string]bool
	ways     map[int]bool // the directions in which the parallelism was changed
	found    map[string][]Finding
}

func (e examined) examine(s *situation) []Finding {
	key := s.String()
	found, known := e.found[key]
	if !known {
		found = Examine(s.host())
		e.found[key] = found
	}
	return found
}

// follow applies every change of every finding, and those of what is found then, until
// nothing is recommended any more. way is the direction of the last change of the
// parallelism under this limit, 0 for none.
func (e examined) follow(t *testing.T, s *situation, way int, trail []string) {
	t.Helper()
	key := fmt.Sprint(way, s)
	if e.followed[key] {
		return
	}
	e.followed[key] = true
	trail = append(trail, s.String())
	fail := func(f Finding, c Change, what string) {
		t.Helper()
		t.Fatalf("%s\n%s\n%s: %q %+v", strings.Join(trail, "\n"), f.Title, what, f.Fix, c)
	}
	_, before := s.info()
	for _, f := range e.examine(s) {
		if f.Level == Info {
			continue
		}
		if len(trail) > 40 {
			fail(f, Change{}, "there is no end")
		}
		for _, c := range f.Changes {
			next := s.with(c)
			_, after := next.info()
			toward := way
			switch {
			case next.String() == s.String():
				fail(f, c, "the change has no effect")
			case next.limit < s.limit:
				fail(f, c, "the limit is lowered")
			case c.Value > 0 && after != c.Value:
				fail(f, c, fmt.Sprintf("the parallelism became %d", after))
			case parallelOnly(c) && after == before:
				fail(f, c, "the parallelism stays as it is")
			case parallelOnly(c) && (after-before)*way < 0:
				fail(f, c, "the change reverts one that was advised")
			case parallelOnly(c) && float64(after) < s.limit && after < s.machine:
				fail(f, c, "the parallelism cannot use the limit")
			case after > before:
				toward = 1
			case after < before:
				toward = -1
			case next.limit > s.limit:
				toward = 0
			}
			e.ways[toward] = true
			for _, g := range e.examine(next) {
				same := g.Level > Info && reflect.DeepEqual(g.Changes, f.Changes) && !c.Replicas // of which one more may not be enough
				if same || g.Level > Info && parallelOnly(c) && slices.ContainsFunc(g.Changes, parallelOnly) {
					trail = append(trail, next.String(), g.Title)
					fail(f, c, "the change does not end the advice")
				}
			}
			e.follow(t, next, toward, trail)
		}
	}
}

// A change that is followed ends its finding, is never followed by the opposite, and the
// advice comes to an end: for every program of the table, as each place sets its number,
// under each limit, machine and load.
func TestEveryChangeThatIsFollowed(t *testing.T) {
	limits := []float64{0.2, 0.5, 1, 1.5, 1.9, 2, 2.5, 4}
	machines := []int{1, 2, 4, 16}
	loads := []float64{0.15, 1, 1.5, 8}
	step := testkit.Samples(7, 3, 1)
	situations := 0
	ways := map[int]bool{}
	for _, of := range programs() {
		e := examined{followed: map[string]bool{}, ways: ways, found: map[string][]Finding{}}
		from := []bool{false}
		if name := of.name; strings.Contains(name, "Go") || strings.HasPrefix(name, "JVM") {
			from = append(from, true)
		}
		for n := 1; n <= 16; n += step {
			for _, limit := range limits {
				for _, machine := range machines {
					for _, load := range loads {
						for _, bursts := range []float64{0, 0.1, 0.3} {
							for _, inherited := range from {
								s := newSituation(of, n)
								s.limit, s.inherited, s.machine, s.load, s.bursts = limit, inherited, machine, load, bursts
								e.follow(t, s, 0, nil)
							}
						}
					}
				}
			}
		}
		situations += len(e.followed)
	}
	t.Logf("%d situations", situations)
	if !ways[1] || !ways[-1] {
		t.Errorf("both more and less parallelism were to be advised: %v", ways)
	}
}
