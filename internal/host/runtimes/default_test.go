package runtimes

import (
	"strings"
	"testing"
)

// goInfo is a Go process of a toolchain; aware as the runtime would be.
func goInfo(version string, aware bool, env map[string]string) Info {
	return Info{Runtime: Go, Version: version, Go: &GoFacts{Aware: aware}, Env: env}
}

func TestDefault(t *testing.T) {
	eight := Machine{Online: 8, Affinity: 8}
	four := Machine{Online: 8, Affinity: 4}
	automax := goInfo("go1.24.2", false, nil)
	automax.Go.Automaxprocs = "v1.6.0"
	automaxSet := automax
	automaxSet.Env = map[string]string{"GOMAXPROCS": "5"}
	automaxEmpty := automax
	automaxEmpty.Env = map[string]string{"GOMAXPROCS": ""}
	tests := []struct {
		name  string
		info  Info
		limit Limit
		on    Machine
		want  int
		why   string // a part of it
	}{
		// Go to 1.24, or a go line of then.
		{"Go 1.24 sees the affinity mask only", goInfo("go1.24.5", false, nil), LimitOf(1.5), four, 4, "before 1.25"},
		{"Go 1.26 with a go line of 1.24 too", goInfo("go1.26.8", false, nil), LimitOf(1.5), eight, 8, "containermaxprocs=0 is built in"},
		{"GODEBUG switches awareness on again", goInfo("go1.26.8", false, map[string]string{"GODEBUG": "containermaxprocs=1"}), LimitOf(3), eight, 3, "rounds"},
		{"GODEBUG cannot give it to an old toolchain", goInfo("go1.24.5", false, map[string]string{"GODEBUG": "containermaxprocs=1"}), LimitOf(3), eight, 8, "before 1.25"},
		// Go from 1.25.
		{"Go 1.26 rounds up", goInfo("go1.26.8", true, nil), LimitOf(2.1), eight, 3, "rounds the limit of 2.1 CPUs up"},
		{"Go 1.25 is 2 under half a CPU", goInfo("go1.25.0", true, nil), LimitOf(0.5), eight, 2, "at least 2"},
		{"Go 1.25 is 2 under 1.5 CPUs", goInfo("go1.25.0", true, nil), LimitOf(1.5), eight, 2, ""},
		{"Go 1.26 is capped by the mask", goInfo("go1.26.8", true, nil), LimitOf(6), four, 4, ""},
		{"Go 1.26 on one CPU stays 1", goInfo("go1.26.8", true, nil), LimitOf(6), Machine{Online: 1}, 1, ""},
		{"Go 1.26 without a limit", goInfo("go1.26.8", true, nil), Limit{}, four, 4, "no limit"},
		{"Go 1.26 reads the leaf alone", goInfo("go1.26.8", true, nil), Limit{CPUs: 2}, eight, 8, "no limit"},
		{"GODEBUG switches awareness off", goInfo("go1.26.8", true, map[string]string{"GODEBUG": "x=1,containermaxprocs=0"}), LimitOf(3), eight, 8, "GODEBUG has"},
		{"GOMAXPROCS counts first", goInfo("go1.26.8", true, map[string]string{"GOMAXPROCS": "16"}), LimitOf(3), eight, 16, "GOMAXPROCS=16"},
		{"GOMAXPROCS=0 is none", goInfo("go1.26.8", true, map[string]string{"GOMAXPROCS": "0"}), LimitOf(3), eight, 3, ""},
		// automaxprocs.
		{"automaxprocs rounds down", automax, LimitOf(2.9), eight, 2, "automaxprocs v1.6.0"},
		{"automaxprocs is at least 1", automax, LimitOf(0.2), eight, 1, ""},
		{"automaxprocs is not capped", automax, LimitOf(12), four, 12, ""},
		{"automaxprocs yields to GOMAXPROCS", automaxSet, LimitOf(2), eight, 5, ""},
		{"even to an empty one", automaxEmpty, LimitOf(2), eight, 8, ""},
		{"automaxprocs without a limit does nothing", automax, Limit{}, eight, 8, ""},
		// Event loops and global locks.
		{"Node is one loop", Info{Runtime: Node}, LimitOf(4), eight, 1, "event loop"},
		{"Node with a cluster", Info{Runtime: Node, Workers: 3}, LimitOf(4), eight, 3, "3 worker processes; each runs one event loop"},
		{"gunicorn with workers", Info{Runtime: Python, Server: "gunicorn", Workers: 2}, LimitOf(4), eight, 2, "2 worker processes; each runs one thread of Python code at a time (the global interpreter lock)"},
		{"Bun is one loop", Info{Runtime: Bun}, LimitOf(4), eight, 1, "event loop"},
		{"Deno is one loop", Info{Runtime: Deno}, LimitOf(4), eight, 1, "event loop"},
		{"deno serve --parallel is the limit", Info{Runtime: Deno, Flags: []string{"serve", "--parallel"}}, LimitOf(2.5), eight, 2, "--parallel"},
		{"DENO_JOBS", Info{Runtime: Deno, Flags: []string{"serve", "--parallel"}, Env: map[string]string{"DENO_JOBS": "6"}}, LimitOf(2.5), eight, 6, "DENO_JOBS"},
		{"Python is one lock", Info{Runtime: Python}, LimitOf(4), eight, 1, "interpreter lock"},
		{"gunicorn's workers", Info{Runtime: Python, Server: "gunicorn", Env: map[string]string{"WEB_CONCURRENCY": "4"}}, LimitOf(2), eight, 4, "gunicorn"},
		{"hypercorn does not read WEB_CONCURRENCY", Info{Runtime: Python, Server: "hypercorn", Env: map[string]string{"WEB_CONCURRENCY": "4"}}, LimitOf(2), eight, 1, "interpreter lock"},
		{"the command counts before the variable", Info{Runtime: Python, Server: "granian", Flags: []string{"--workers", "3"}, Env: map[string]string{"GRANIAN_WORKERS": "4"}}, LimitOf(2), eight, 3, "command"},
		{"granian's variable", Info{Runtime: Python, Server: "granian", Env: map[string]string{"GRANIAN_WORKERS": "4"}}, LimitOf(2), eight, 4, "GRANIAN_WORKERS"},
		{"gunicorn's arguments in a variable before WEB_CONCURRENCY", Info{Runtime: Python, Server: "gunicorn", Env: map[string]string{"WEB_CONCURRENCY": "4", "GUNICORN_CMD_ARGS": "--threads 2 -w3"}}, LimitOf(2), eight, 3, "GUNICORN_CMD_ARGS"},
		{"uWSGI's variable", Info{Runtime: Python, Server: "uwsgi", Env: map[string]string{"UWSGI_PROCESSES": "3"}}, LimitOf(2), eight, 3, "UWSGI_PROCESSES"},
		{"uWSGI's option", Info{Runtime: Python, Server: "uwsgi", Flags: []string{"-p2"}}, LimitOf(2), eight, 2, "command"},
		{"Celery takes the host", Info{Runtime: Python, Server: "celery"}, LimitOf(1), four, 8, "regardless"},
		{"Celery with an option", Info{Runtime: Python, Server: "celery", Flags: []string{"--concurrency=2"}}, LimitOf(1), four, 2, "command"},
		{"unicorn without workers", Info{Runtime: Ruby, Server: "unicorn"}, LimitOf(4), eight, 1, "VM lock"},
		{"Python without the lock", Info{Runtime: Python, Version: "3.14", Lockless: true}, LimitOf(4), eight, 0, "no global lock"},
		{"Ruby is one lock", Info{Runtime: Ruby}, LimitOf(4), eight, 1, "VM lock"},
		// JVM.
		{"the JVM rounds up", Info{Runtime: JVM, Version: "17.0.15"}, LimitOf(1.5), eight, 2, "rounds"},
		{"the JVM is 1 under half a CPU", Info{Runtime: JVM, Version: "21"}, LimitOf(0.5), eight, 1, ""},
		{"JVM 25 sees limits above", Info{Runtime: JVM, Version: "25.0.3"}, Limit{CPUs: 3}, eight, 3, ""},
		{"JVM 21.0.9 too", Info{Runtime: JVM, Version: "21.0.9"}, Limit{CPUs: 3}, eight, 3, ""},
		{"JVM 21.0.8 reads the leaf alone", Info{Runtime: JVM, Version: "21.0.8"}, Limit{CPUs: 3}, eight, 8, "no limit"},
		{"JVM 17 reads the leaf alone", Info{Runtime: JVM, Version: "17.0.15"}, Limit{CPUs: 1, Leaf: 2}, eight, 2, "2 CPUs"},
		{"the JVM is capped by the host", Info{Runtime: JVM}, LimitOf(20), eight, 8, ""},
		{"JVM 8u362 does not know v2", Info{Runtime: JVM, Version: "1.8.0_362"}, LimitOf(2), eight, 8, "cgroup v2"},
		{"JVM 8u372 does", Info{Runtime: JVM, Version: "1.8.0_372"}, LimitOf(2), eight, 2, ""},
		{"JVM 11.0.15 does not", Info{Runtime: JVM, Version: "11.0.15"}, LimitOf(2), eight, 8, ""},
		{"JVM 11.0.16 does", Info{Runtime: JVM, Version: "11.0.16.1"}, LimitOf(2), eight, 2, ""},
		{"JVM 14 does not", Info{Runtime: JVM, Version: "14.0.2"}, LimitOf(2), eight, 8, ""},
		{"ActiveProcessorCount counts first", Info{Runtime: JVM, Env: map[string]string{"JAVA_TOOL_OPTIONS": "-Xmx1g -XX:ActiveProcessorCount=6"}}, LimitOf(2), eight, 6, "JAVA_TOOL_OPTIONS"},
		{"the command's before JAVA_TOOL_OPTIONS", Info{Runtime: JVM, Flags: []string{"-XX:ActiveProcessorCount=3"}, Env: map[string]string{"JAVA_TOOL_OPTIONS": "-XX:ActiveProcessorCount=6"}}, LimitOf(2), eight, 3, "the command"},
		{"-UseContainerSupport", Info{Runtime: JVM, Flags: []string{"-XX:-UseContainerSupport"}}, LimitOf(2), eight, 8, "UseContainerSupport"},
		// .NET.
		{".NET rounds up", Info{Runtime: DotNet}, LimitOf(1.5), eight, 2, ""},
		{".NET is 1 under half a CPU", Info{Runtime: DotNet}, LimitOf(0.5), eight, 1, ""},
		{".NET is capped by the mask", Info{Runtime: DotNet}, LimitOf(7), four, 4, ""},
		{".NET reads the leaf alone", Info{Runtime: DotNet}, Limit{CPUs: 2}, eight, 8, ""},
		{"COMPlus_PROCESSOR_COUNT before .NET 6", Info{Runtime: DotNet, Version: "3.1.32", Env: map[string]string{"DOTNET_PROCESSOR_COUNT": "3", "COMPlus_PROCESSOR_COUNT": "4"}}, LimitOf(1), eight, 4, "COMPlus"},
		{"DOTNET_PROCESSOR_COUNT", Info{Runtime: DotNet, Env: map[string]string{"DOTNET_PROCESSOR_COUNT": "3"}}, LimitOf(1), eight, 3, "is set"},
		// Rust.
		{"Rust rounds down", Info{Runtime: Rust}, LimitOf(1.5), eight, 1, "down"},
		{"Rust is at least 1", Info{Runtime: Rust}, LimitOf(0.1), eight, 1, ""},
		{"Rust sees limits above", Info{Runtime: Rust, Tokio: true}, Limit{CPUs: 3}, eight, 3, ""},
		{"Tokio", Info{Runtime: Rust, Tokio: true, Env: map[string]string{"TOKIO_WORKER_THREADS": "2"}}, LimitOf(5), eight, 2, "TOKIO_WORKER_THREADS"},
		{"Tokio's variable means nothing without Tokio", Info{Runtime: Rust, Env: map[string]string{"TOKIO_WORKER_THREADS": "2"}}, LimitOf(5), eight, 5, ""},
		{"Tokio 1.38 rounds up", Info{Runtime: Rust, Tokio: true, RoundsUp: true}, LimitOf(1.5), eight, 2, "num_cpus"},
		{"and reads the leaf alone", Info{Runtime: Rust, Tokio: true, RoundsUp: true}, Limit{CPUs: 1}, eight, 8, "no limit"},
		{"Rayon", Info{Runtime: Rust, Rayon: true, Env: map[string]string{"RAYON_NUM_THREADS": "2"}}, LimitOf(5), eight, 2, "RAYON_NUM_THREADS"},
		{"Rayon rounds down", Info{Runtime: Rust, Rayon: true}, LimitOf(1.5), eight, 1, "down"},
		// Servers in other languages.
		{"PHP-FPM has what its pool has", Info{Runtime: PHP, Workers: 5}, LimitOf(1), eight, 5, "pm.max_children"},
		{"PHP-FPM without workers", Info{Runtime: PHP}, LimitOf(1), eight, 0, "pm.max_children"},
		{"Envoy takes the host", Info{Runtime: Envoy}, LimitOf(1.5), four, 8, "regardless"},
		{"Envoy with --cpuset-threads rounds down", Info{Runtime: Envoy, Flags: []string{"--cpuset-threads"}}, LimitOf(2.5), eight, 2, "down"},
		{"to at least 1", Info{Runtime: Envoy, Flags: []string{"--cpuset-threads"}}, LimitOf(0.5), eight, 1, "down"},
		{"and reads the leaf alone", Info{Runtime: Envoy, Flags: []string{"--cpuset-threads"}}, Limit{CPUs: 1}, four, 4, "mask"},
		{"its detection switched off", Info{Runtime: Envoy, Flags: []string{"--cpuset-threads"}, Env: map[string]string{"ENVOY_CGROUP_CPU_DETECTION": "False"}}, LimitOf(1), four, 4, "mask"},
		{"Envoy's --concurrency", Info{Runtime: Envoy, Flags: []string{"--concurrency", "3", "--cpuset-threads"}}, LimitOf(1), eight, 3, "--concurrency"},
		{"--concurrency 0 is 1", Info{Runtime: Envoy, Flags: []string{"--concurrency=0"}}, LimitOf(1), eight, 1, "--concurrency"},
		{"Erlang rounds down", Info{Runtime: Erlang, Version: "13.1.5"}, LimitOf(2.5), eight, 2, "down"},
		{"Erlang is at least 1", Info{Runtime: Erlang, Version: "13.1.5"}, LimitOf(0.5), eight, 1, "down"},
		{"Erlang/OTP 22 takes the mask", Info{Runtime: Erlang, Version: "10.7.2"}, LimitOf(2), four, 4, "before 23"},
		{"Erlang with +S", Info{Runtime: Erlang, Flags: []string{"-S", "2:2", "-S1"}}, LimitOf(4), eight, 1, "+S"},
		{"Erlang with +SP", Info{Runtime: Erlang, Version: "13.1.5", Flags: []string{"-SP", "100:50"}}, LimitOf(8), eight, 4, "50% of 8"},
		{"Erlang with both", Info{Runtime: Erlang, Flags: []string{"-SP", "50:25", "-S", "4:4"}}, LimitOf(8), eight, 1, "25% of 4"},
		{"PostgreSQL", Info{Runtime: Postgres}, LimitOf(1), eight, 0, "each connection"},
		{"HAProxy takes the mask", Info{Runtime: HAProxy}, LimitOf(1), four, 4, "regardless of the limit"},
		// nginx.
		{"nginx auto with musl is the mask", Info{Runtime: Nginx, Musl: true, Flags: []string{"worker_processes auto;"}}, LimitOf(1), four, 4, "musl"},
		{"nginx in the official image, tuned", Info{Runtime: Nginx, Env: map[string]string{"NGINX_ENTRYPOINT_WORKER_PROCESSES_AUTOTUNE": "1"}}, LimitOf(1.5), four, 2, "AUTOTUNE"},
		{"nginx auto is the host", Info{Runtime: Nginx, Flags: []string{"worker_processes auto;"}}, LimitOf(1), four, 8, "auto"},
		{"nginx with a number", Info{Runtime: Nginx, Flags: []string{"daemon off; worker_processes 3;"}}, LimitOf(1), four, 3, "command line"},
		{"nginx as its configuration has it", Info{Runtime: Nginx, Workers: 2}, LimitOf(1), four, 2, "configuration"},
		{"an unknown program", Info{Runtime: Unknown}, LimitOf(1), four, 0, "no rule"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n, why := Default(test.info, test.limit, test.on)
			if n != test.want || !strings.Contains(why, test.why) {
				t.Errorf("got %d (%s), want %d (…%s…)", n, why, test.want, test.why)
			}
		})
	}
}

func TestReported(t *testing.T) {
	eight := Machine{Online: 8, Affinity: 6}
	tests := []struct {
		name  string
		info  Info
		limit Limit
		want  int
	}{
		{"Node 20 takes the mask", Info{Runtime: Node, Version: "20.20.2"}, LimitOf(1.5), 6},
		{"libuv 1.49 multiplies with the weight", Info{Runtime: Node, Libuv: "1.49.2"}, Limit{CPUs: 4, Leaf: 4, Weight: 50}, 2},
		{"libuv 1.50 by the default weight", Info{Runtime: Node, Libuv: "1.50.0"}, LimitOf(2.5), 2},
		{"libuv 1.51 rounds down over ancestors", Info{Runtime: Node, Libuv: "1.51.0"}, Limit{CPUs: 2.9}, 2},
		{"libuv 1.51 takes half a CPU for no limit", Info{Runtime: Node, Libuv: "1.51.0"}, LimitOf(0.5), 6},
		{"libuv 1.52 takes it for 1", Info{Runtime: Node, Libuv: "1.52.1"}, LimitOf(0.5), 1},
		{"Node without a limit", Info{Runtime: Node, Libuv: "1.52.1"}, Limit{}, 6},
		{"Bun to 1.3.11 takes the host", Info{Runtime: Bun, Version: "1.3.11"}, LimitOf(1.5), 8},
		{"Bun after rounds up", Info{Runtime: Bun, Version: "1.3.12"}, LimitOf(1.5), 2},
		{"Bun 1.4.5 rounds down", Info{Runtime: Bun, Version: "1.4.5"}, LimitOf(1.5), 1},
		{"Bun's variable", Info{Runtime: Bun, Version: "1.4.5", Env: map[string]string{"WTF_numberOfProcessorCores": "3"}}, LimitOf(1.5), 3},
		{"Deno rounds down", Info{Runtime: Deno}, LimitOf(2.5), 2},
		{"Python takes the host", Info{Runtime: Python, Version: "3.14"}, LimitOf(1.5), 8},
		{"Python 3.13 has a variable", Info{Runtime: Python, Version: "3.13", Env: map[string]string{"PYTHON_CPU_COUNT": "2"}}, LimitOf(1.5), 2},
		{"Python 3.12 has not", Info{Runtime: Python, Version: "3.12", Env: map[string]string{"PYTHON_CPU_COUNT": "2"}}, LimitOf(1.5), 8},
		{"Ruby takes the mask", Info{Runtime: Ruby}, LimitOf(1.5), 6},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n, call, why, ok := Reported(test.info, test.limit, eight)
			if !ok || n != test.want || call == "" || why == "" {
				t.Errorf("got %d by %q (%s) %v, want %d", n, call, why, ok, test.want)
			}
		})
	}
	if _, _, _, ok := Reported(Info{Runtime: Go}, LimitOf(1), eight); ok {
		t.Error("Go has no second number")
	}
}

func TestVersions(t *testing.T) {
	for s, want := range map[string]string{
		"go1.26.8": "go1.26.8", "go1.26.8 X:nodwarf5": "go1.26.8", "devel go1.27-0123abc Mon Jan 1": "go1.27",
		"go1.25rc1": "go1.25rc1", "unknown": "", "": "",
	} {
		if got := goVersion(s); got != want {
			t.Errorf("goVersion(%q) = %q, want %q", s, got, want)
		}
	}
	if !GoAtLeast("go1.25rc1", "go1.25") || GoAtLeast("go1.24.9", "go1.25") || GoAtLeast("", "go1.1") {
		t.Error("a release candidate of 1.25 is 1.25")
	}
	if !atLeast("v22.12.0", 22, 12) || atLeast("22.9", 22, 12) || !atLeast("23", 22, 12) || atLeast("", 0) {
		t.Error("versions are compared number by number")
	}
}

func TestGoLine(t *testing.T) {
	for setting, want := range map[string]string{
		"panicnil=1,httplaxcontentlength=1,containermaxprocs=0":                    "go 1.20 or older",
		"httplaxcontentlength=1,containermaxprocs=0":                               "go 1.21",
		"asynctimerchan=1,containermaxprocs=0,decoratemappings=0,updatemaxprocs=0": "go 1.22",
		"containermaxprocs=0,decoratemappings=0,randseednop=0":                     "go 1.23",
		"containermaxprocs=0,decoratemappings=0":                                   "go 1.24",
		"containermaxprocs=0":                                                      "",
	} {
		if got := GoLine(setting); got != want {
			t.Errorf("GoLine(%q) = %q, want %q", setting, got, want)
		}
	}
}
