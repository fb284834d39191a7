package runtimes

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/runtimes/executable"
)

// A program is named as it was started, not by the target of a link.
func TestTheNameOfAnUnknownProgram(t *testing.T) {
	for _, test := range []struct {
		name, exe, kernel string
		args              []string
		want              string
	}{
		{"a link, and a title", "/usr/bin/redis-check-rdb", "redis-server", []string{"redis-server *:6379"}, "redis-server"},
		{"a link", "/usr/bin/busybox", "httpd", []string{"httpd", "-f"}, "httpd"},
		{"a name of more than 15 bytes", "/opt/a-service-with-a-long-name", "a-service-with-", []string{"/opt/a-service-with-a-long-name"}, "a-service-with-a-long-name"},
		{"a folder with a space", "/opt/my apps/server", "server", []string{"/opt/my apps/server", "-x"}, "server"},
		{"a title with a colon", "/usr/sbin/dovecot", "dovecot", []string{"dovecot: master"}, "dovecot"},
		{"a title with a path", "/usr/sbin/smbd", "smbd", []string{"smbd: /srv/share"}, "smbd"},
		{"a login shell", "/usr/bin/bash", "bash", []string{"-bash"}, "bash"},
		{"a thread that renamed itself", "/usr/bin/server", "main", []string{"/usr/bin/server"}, "server"},
		{"without a command", "/usr/bin/server", "server", nil, "server"},
		{"a command that is not known", "", "server", nil, "server"},
		{"nothing", "", "", []string{""}, ""},
	} {
		if got := Decide(Evidence{Exe: test.exe, Name: test.kernel, Args: test.args}).Program; got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestDecide(t *testing.T) {
	mapped := func(paths ...string) (all []Mapping) {
		for _, p := range paths {
			all = append(all, Mapping{Path: p})
		}
		return all
	}
	build := &debug.BuildInfo{
		GoVersion: "go1.26.8",
		Deps:      []*debug.Module{{Path: "go.uber.org/automaxprocs", Version: "v1.6.0"}},
		Settings:  []debug.BuildSetting{{Key: "DefaultGODEBUG", Value: "containermaxprocs=0,updatemaxprocs=0"}},
	}
	tests := []struct {
		name     string
		evidence Evidence
		want     Info
	}{
		{"Go, read from memory",
			Evidence{Exe: "/srv/app", Gomaxprocs: 3, Env: map[string]string{"GOMAXPROCS": "3"}, Binary: executable.Facts{Go: build, Pprof: true}},
			Info{Runtime: Go, Version: "go1.26.8", VersionFrom: Read,
				Parallelism: Parallelism{3, Read, "runtime.gomaxprocs in the process's memory"},
				Go:          &GoFacts{Automaxprocs: "v1.6.0", DefaultGODEBUG: "containermaxprocs=0,updatemaxprocs=0", Pprof: true},
				Env:         map[string]string{"GOMAXPROCS": "3"}}},
		{"Go that sets its own",
			Evidence{Exe: "/srv/app", Gomaxprocs: 4, Env: map[string]string{"GOMAXPROCS": "3"}, Binary: executable.Facts{Go: build}},
			Info{Runtime: Go, Version: "go1.26.8", VersionFrom: Read,
				Parallelism: Parallelism{4, Read, "runtime.gomaxprocs in the process's memory"},
				Go:          &GoFacts{Automaxprocs: "v1.6.0", DefaultGODEBUG: "containermaxprocs=0,updatemaxprocs=0"},
				Env:         map[string]string{"GOMAXPROCS": "3"},
				Notes:       []string{"GOMAXPROCS=3 is set, but the process runs with 4: it sets its own value, so the variable has no effect"}}},
		{"Go, stripped: declared",
			Evidence{Exe: "/srv/app", Env: map[string]string{"GOMAXPROCS": "3"}, Binary: executable.Facts{Go: &debug.BuildInfo{GoVersion: "go1.24"}}},
			Info{Runtime: Go, Version: "go1.24", VersionFrom: Read, Go: &GoFacts{}, Env: map[string]string{"GOMAXPROCS": "3"},
				Parallelism: Parallelism{3, Declared, "GOMAXPROCS in the environment"}}},
		{"Go, stripped: left to Default",
			Evidence{Exe: "/srv/app", Binary: executable.Facts{Go: &debug.BuildInfo{GoVersion: "go1.25.1"}}},
			Info{Runtime: Go, Version: "go1.25.1", VersionFrom: Read, Go: &GoFacts{Aware: true}}},
		{"Node by its symbol",
			Evidence{Exe: "/usr/bin/node", Binary: executable.Facts{NodeSymbol: true, Node: "20.20.2"}, Env: map[string]string{"NODE_VERSION": "22.0.0"}},
			Info{Runtime: Node, Version: "20.20.2", VersionFrom: Read,
				Parallelism: Parallelism{1, Read, "1 process, one thread of code per process"},
				Pool:        &Parallelism{4, Predicted, "libuv's pool has 4 threads on any number of CPUs"}}},
		{"Node by libnode, with a libuv of its own",
			Evidence{Exe: "/usr/bin/nodejs", Mappings: mapped("/usr/lib/libnode.so.108", "/usr/lib/libuv.so.1.49.2"), Workers: 2,
				Env: map[string]string{"NODE_VERSION": "22.12.0", "UV_THREADPOOL_SIZE": "16"}},
			Info{Runtime: Node, Version: "22.12.0", VersionFrom: Declared, Libuv: "1.49.2", Workers: 2,
				Parallelism: Parallelism{2, Read, "2 worker processes, one thread of code per process"},
				Pool:        &Parallelism{16, Declared, "UV_THREADPOOL_SIZE in the environment"},
				Env:         map[string]string{"UV_THREADPOOL_SIZE": "16"}}},
		{"Node with PORT",
			Evidence{Exe: "/usr/bin/node", Binary: executable.Facts{NodeSymbol: true}, Env: map[string]string{"PORT": "8080"}},
			Info{Runtime: Node, PortEnv: 8080,
				Parallelism: Parallelism{1, Read, "1 process, one thread of code per process"},
				Pool:        &Parallelism{4, Predicted, "libuv's pool has 4 threads on any number of CPUs"}}},
		{"Bun that is installed as node",
			Evidence{Exe: "/usr/local/bin/node", Binary: executable.Facts{Bun: "1.4.5"}},
			Info{Runtime: Bun, Version: "1.4.5", VersionFrom: Read, Parallelism: Parallelism{1, Read, "1 process, one thread of code per process"}}},
		{"Deno, which is also a Rust program",
			Evidence{Exe: "/usr/bin/deno", Args: []string{"deno", "serve", "--parallel", "m.ts"}, Env: map[string]string{"DENO_JOBS": "2"}, Binary: executable.Facts{Deno: "2.9.6", Rustc: "1.95.0", Tokio: true}},
			Info{Runtime: Deno, Version: "2.9.6", VersionFrom: Read, Flags: []string{"serve", "--parallel"}, Env: map[string]string{"DENO_JOBS": "2"},
				Parallelism: Parallelism{2, Declared, "DENO_JOBS in the environment"}}},
		{"JVM",
			Evidence{Exe: "/opt/jdk/bin/java", Mappings: mapped("/opt/jdk/lib/server/libjvm.so"), JavaRelease: "X=1\nJAVA_VERSION=\"17.0.15\"\n",
				Args: []string{"java", "-cp", "a", "-XX:ActiveProcessorCount=2", "Main", "-XX:ActiveProcessorCount=9"}},
			Info{Runtime: JVM, Version: "17.0.15", VersionFrom: Read, Flags: []string{"-XX:ActiveProcessorCount=2"},
				Parallelism: Parallelism{2, Declared, "-XX:ActiveProcessorCount in the command"}}},
		{"Python by its name",
			Evidence{Exe: "/usr/bin/python3.11", Args: []string{"python3", "/usr/bin/gunicorn", "-w", "3", "app"}, Workers: 3},
			Info{Runtime: Python, Version: "3.11", VersionFrom: Read, Workers: 3, Server: "gunicorn", Flags: []string{"-w", "3"},
				Parallelism: Parallelism{3, Read, "3 worker processes, one thread of code per process"}}},
		{"Python in another program",
			Evidence{Exe: "/usr/bin/uwsgi", Mappings: mapped("/usr/lib/libpython3.12.so.1.0")},
			Info{Runtime: Python, Version: "3.12", VersionFrom: Read, Parallelism: Parallelism{1, Read, "1 process, one thread of code per process"}}},
		{".NET",
			Evidence{Exe: "/srv/App", Mappings: mapped("/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.1/libcoreclr.so"), Env: map[string]string{"DOTNET_PROCESSOR_COUNT": "2"}},
			Info{Runtime: DotNet, Version: "8.0.1", VersionFrom: Read, Env: map[string]string{"DOTNET_PROCESSOR_COUNT": "2"},
				Parallelism: Parallelism{2, Declared, "DOTNET_PROCESSOR_COUNT in the environment"}}},
		{"Ruby",
			Evidence{Exe: "/usr/bin/ruby3.1", Mappings: mapped("/usr/lib/libruby-3.1.so.3.1.2"), Args: []string{"puma: cluster worker 0"}},
			Info{Runtime: Ruby, Version: "3.1.2", VersionFrom: Read, Server: "puma", Parallelism: Parallelism{1, Read, "1 process, one thread of code per process"}}},
		{"Rust with Tokio, by its threads",
			Evidence{Exe: "/srv/api", Binary: executable.Facts{Rustc: "1.95.0"}, ThreadNames: []string{"api", "tokio-runtime-w"}, Env: map[string]string{"TOKIO_WORKER_THREADS": "2"}},
			Info{Runtime: Rust, Version: "1.95.0", VersionFrom: Read, Tokio: true, Env: map[string]string{"TOKIO_WORKER_THREADS": "2"},
				Parallelism: Parallelism{2, Declared, "TOKIO_WORKER_THREADS in the environment"}}},
		{"Tokio with fewer threads than its variable",
			Evidence{Exe: "/srv/api", Binary: executable.Facts{Rustc: "1.95.0", Tokio: true}, Threads: 3, ThreadNames: []string{"api", "tokio-rt-worker", "logger"}, Env: map[string]string{"TOKIO_WORKER_THREADS": "2"}},
			Info{Runtime: Rust, Version: "1.95.0", VersionFrom: Read, Tokio: true, Pooled: 1, Threads: 3, Env: map[string]string{"TOKIO_WORKER_THREADS": "2"},
				Parallelism: Parallelism{2, Declared, "TOKIO_WORKER_THREADS in the environment"}}},
		{"Rayon, whose threads have no name",
			Evidence{Exe: "/srv/api", Binary: executable.Facts{Rustc: "1.95.0", Rayon: true}, Threads: 5, ThreadNames: []string{"api", "api", "api", "api", "api"}},
			Info{Runtime: Rust, Version: "1.95.0", VersionFrom: Read, Rayon: true, Pooled: 4, Threads: 5}},
		{"Rust with actix-web, which does not follow Tokio's variable",
			Evidence{Exe: "/srv/api", Binary: executable.Facts{Rustc: "1.95.0", Tokio: true}, ThreadNames: []string{"api", "actix-rt|system"}, Env: map[string]string{"TOKIO_WORKER_THREADS": "2"}},
			Info{Runtime: Rust, Version: "1.95.0", VersionFrom: Read, Tokio: true, Actix: true, Env: map[string]string{"TOKIO_WORKER_THREADS": "2"}}},
		{"nginx",
			Evidence{Exe: "/usr/sbin/nginx", Workers: 2, Args: []string{"nginx: master process nginx -g worker_processes 2;"}},
			Info{Runtime: Nginx, Workers: 2, Flags: []string{"nginx: master process nginx -g worker_processes 2;"},
				Parallelism: Parallelism{2, Read, "2 worker processes"}}},
		{"nginx with musl",
			Evidence{Exe: "/usr/sbin/nginx", Mappings: mapped("/lib/ld-musl-x86_64.so.1")},
			Info{Runtime: Nginx, Musl: true, Parallelism: Parallelism{1, Read, "1 worker process"}}},
		{"Python without the lock",
			Evidence{Exe: "/usr/bin/python3.14t"},
			Info{Runtime: Python, Version: "3.14", VersionFrom: Read, Lockless: true}},
		{"with the lock after all",
			Evidence{Exe: "/usr/bin/python3.14t", Env: map[string]string{"PYTHON_GIL": "1"}},
			Info{Runtime: Python, Version: "3.14", VersionFrom: Read, Env: map[string]string{"PYTHON_GIL": "1"},
				Parallelism: Parallelism{1, Read, "1 process, one thread of code per process"}}},
		{"TruffleRuby", Evidence{Exe: "/opt/bin/truffleruby"}, Info{Runtime: Ruby, Lockless: true}},
		{"Rust with an old Tokio",
			Evidence{Exe: "/srv/api", Binary: executable.Facts{Rustc: "1.95.0", Tokio: true, TokioVersion: "1.38.0"}},
			Info{Runtime: Rust, Version: "1.95.0", VersionFrom: Read, Tokio: true, RoundsUp: true}},
		{"Rust with a new Tokio and an old Rayon",
			Evidence{Exe: "/srv/api", Binary: executable.Facts{Rustc: "1.95.0", Tokio: true, TokioVersion: "1.39.0", Rayon: true, RayonVersion: "1.11.0"}},
			Info{Runtime: Rust, Version: "1.95.0", VersionFrom: Read, Tokio: true, Rayon: true}},
		{"PHP-FPM",
			Evidence{Exe: "/usr/sbin/php-fpm8.2", Workers: 3},
			Info{Runtime: PHP, Version: "8.2", VersionFrom: Read, Workers: 3, Parallelism: Parallelism{3, Read, "3 worker processes at present"}}},
		{"Envoy, by its threads",
			Evidence{Exe: "/usr/local/bin/envoy", Args: []string{"envoy", "--concurrency", "2", "-c", "x"}, ThreadNames: []string{"envoy", "wrk:worker_0", "wrk:worker_1", "dispatcher"}},
			Info{Runtime: Envoy, Flags: []string{"--concurrency", "2"}, Parallelism: Parallelism{2, Read, "its threads wrk:worker_n"}}},
		{"Erlang",
			Evidence{Exe: "/usr/lib/erlang/erts-13.1.5/bin/beam.smp", Args: []string{"beam.smp", "-S", "2:1", "--", "-S", "9"}},
			Info{Runtime: Erlang, Version: "13.1.5", VersionFrom: Read, Flags: []string{"-S", "2:1"}, Parallelism: Parallelism{1, Declared, "+S in its options"}}},
		{"Erlang with a share", Evidence{Exe: "/usr/lib/erlang/erts-13.1.5/bin/beam.smp", Args: []string{"beam.smp", "-S", "4", "-SP50", "--"}},
			Info{Runtime: Erlang, Version: "13.1.5", VersionFrom: Read, Flags: []string{"-S", "4", "-SP50"}}},
		{"granian with threads",
			Evidence{Exe: "/usr/bin/python3.11", Args: []string{"python3", "/bin/granian", "--runtime-threads", "4", "--workers=2", "app:app"}, Workers: 2, Env: map[string]string{"GRANIAN_RUNTIME_THREADS": "8"}},
			Info{Runtime: Python, Version: "3.11", VersionFrom: Read, Server: "granian", Workers: 2, Flags: []string{"--workers=2"}, Env: map[string]string{"GRANIAN_RUNTIME_THREADS": "8"},
				Parallelism: Parallelism{2, Read, "2 worker processes, one thread of code per process"},
				Pool:        &Parallelism{4, Declared, "--runtime-threads of granian, in each worker"}}},
		{"granian with threads by a variable",
			Evidence{Exe: "/usr/bin/python3.11", Args: []string{"python3", "/bin/granian", "app:app"}, Env: map[string]string{"GRANIAN_RUNTIME_THREADS": "3"}},
			Info{Runtime: Python, Version: "3.11", VersionFrom: Read, Server: "granian", Env: map[string]string{"GRANIAN_RUNTIME_THREADS": "3"},
				Parallelism: Parallelism{1, Read, "1 process, one thread of code per process"},
				Pool:        &Parallelism{3, Declared, "GRANIAN_RUNTIME_THREADS in the environment, in each worker"}}},
		{"PostgreSQL", Evidence{Exe: "/usr/lib/postgresql/15/bin/postgres"}, Info{Runtime: Postgres, Version: "15", VersionFrom: Read}},
		{"Redis, by the name of a link",
			Evidence{Exe: "/usr/bin/redis-check-rdb", Name: "redis-server", Args: []string{"redis-server *:6379"},
				ThreadNames: []string{"redis-server", "bio_aof_fsync", "io_thd_1", "io_thd_2", "io_thd_3"}},
			Info{Runtime: Redis, Parallelism: Parallelism{4, Read, "its threads io_thd_n, and the main thread"}}},
		{"the program that checks Redis's files", Evidence{Exe: "/usr/bin/redis-check-rdb", Name: "redis-check-rdb", Args: []string{"redis-check-rdb", "a.rdb"}},
			Info{Runtime: Unknown}},
		{"Valkey without I/O threads, with its command",
			Evidence{Exe: "/usr/bin/valkey-server", Args: []string{"valkey-server", "--io-threads", "1"}, ThreadNames: []string{"valkey-server"}},
			Info{Runtime: Valkey, Flags: []string{"--io-threads", "1"}, Parallelism: Parallelism{1, Read, "its threads io_thd_n, and the main thread"}}},
		{"memcached", Evidence{Exe: "/usr/bin/memcached", Args: []string{"memcached", "-t2", "-T", "9"}, ThreadNames: []string{"memcached", "mc-worker", "mc-log", "mc-worker"}},
			Info{Runtime: Memcached, Flags: []string{"-t2"}, Parallelism: Parallelism{2, Read, "its threads mc-worker"}}},
		{"memcached whose threads have no names", Evidence{Exe: "/usr/bin/memcached", ThreadNames: []string{"memcached"}}, Info{Runtime: Memcached}},
		{"MariaDB", Evidence{Exe: "/usr/sbin/mariadbd"}, Info{Runtime: MariaDB}},
		{"Apache with PHP", Evidence{Exe: "/usr/sbin/apache2", Workers: 5}, Info{Runtime: Apache, Workers: 5}},
		{"Varnish", Evidence{Exe: "/usr/sbin/varnishd", Name: "cache-main", Workers: 1}, Info{Runtime: Varnish, Workers: 1}},
		{"Erlang by its schedulers",
			Evidence{Exe: "/usr/lib/erlang/erts-13.1.5/bin/beam.smp", Schedulers: 2},
			Info{Runtime: Erlang, Version: "13.1.5", VersionFrom: Read, Parallelism: Parallelism{2, Read, "the highest number of its scheduler threads that ran"}}},
		{"Python with OpenBLAS", Evidence{Exe: "/usr/bin/python3.11", Mappings: mapped("/v/numpy.libs/libscipy_openblas64_-8fb3d286.so", "/v/l/libgomp-24e2ab19.so.1.0.0")},
			Info{Runtime: Python, Version: "3.11", VersionFrom: Read, Math: "OpenBLAS", Parallelism: Parallelism{1, Read, "1 process, one thread of code per process"}}},
		{"Unbound, which loads libpython", Evidence{Exe: "/usr/sbin/unbound", Threads: 2, Mappings: []Mapping{{Path: "/usr/lib/libpython3.11.so.1.0"}}},
			Info{Runtime: Unbound, Threads: 2, Parallelism: Parallelism{2, Read, "its threads"}}},
		{"HAProxy", Evidence{Exe: "/usr/sbin/haproxy", Threads: 4}, Info{Runtime: HAProxy, Threads: 4, Parallelism: Parallelism{4, Read, "its threads"}}},
		{"Celery",
			Evidence{Exe: "/usr/bin/python3.11", Args: []string{"python3", "/usr/bin/celery", "-A", "a", "worker", "-c", "3"}, Workers: 3},
			Info{Runtime: Python, Version: "3.11", VersionFrom: Read, Workers: 3, Server: "celery", Flags: []string{"-c", "3"},
				Parallelism: Parallelism{3, Read, "3 worker processes, one thread of code per process"}}},
		{"unicorn, by its title",
			Evidence{Exe: "/usr/bin/ruby3.1", Args: []string{"unicorn master -c u.rb"}, Workers: 2},
			Info{Runtime: Ruby, Server: "unicorn", Workers: 2, Parallelism: Parallelism{2, Read, "2 worker processes, one thread of code per process"}}},
		{"a shell", Evidence{Exe: "/bin/dash"}, Info{Runtime: Unknown}},
		{"nothing could be read", Evidence{Unread: []string{"its executable could not be read"}},
			Info{Runtime: Unknown, Notes: []string{"its executable could not be read"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Decide(test.evidence)
			if got.Runtime != Unknown && got.By == "" {
				t.Error("By is empty: how the runtime was detected")
			}
			got.By, got.Program = "", ""
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	tests := []struct {
		name string
		all  []candidate
		want int
	}{
		{"npm start: the child that listens", []candidate{{pid: 10, ppid: 1, ticks: 90}, {pid: 11, ppid: 10, listens: true, ticks: 5}}, 11},
		{"gunicorn: the master of those that share the socket", []candidate{
			{pid: 12, ppid: 10, listens: true, ticks: 50}, {pid: 10, ppid: 1, listens: true}, {pid: 11, ppid: 10, listens: true}}, 10},
		{"none listens: the one that works", []candidate{{pid: 10, ppid: 1, ticks: 2}, {pid: 11, ppid: 10, ticks: 40}}, 11},
		{"none works yet: the one that was started", []candidate{{pid: 10, ppid: 1}, {pid: 11, ppid: 10}}, 11},
		{"two that listen: the one that works", []candidate{{pid: 10, listens: true, ticks: 1}, {pid: 11, listens: true, ticks: 9}}, 11},
		{"a circle of parents, as after reuse of a pid", []candidate{{pid: 10, ppid: 11}, {pid: 11, ppid: 10}}, 10},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := choose(test.all); got[0] != test.want || len(got) != len(test.all) {
				t.Errorf("got %v, want %d first", got, test.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	if got := parseEnv([]byte("PATH=/bin\x00GOMAXPROCS=3\x00SECRET=x\x00NODE_VERSION=v22\x00PORT=80\x00broken")); !cmp.Equal(got, map[string]string{"GOMAXPROCS": "3", "NODE_VERSION": "v22", "PORT": "80"}) {
		t.Errorf("environ: got %v, want the runtime's variables only", got)
	}
	maps := "55d0c0000000-55d0c0100000 r--p 00000000 fd:01 123 /srv/my app\n" +
		"55d0c0100000-55d0c0200000 r-xp 00100000 fd:01 123 /srv/my app\n" +
		"7f00-7f10 rw-p 00000000 00:00 0 \n7f10-7f20 rw-p 00000000 00:00 0 [heap]\n" +
		"7f20-7f30 r--p 00001000 fd:01 9 /lib/x.so (deleted)\n"
	want := []Mapping{{0x55d0c0000000, 0, "/srv/my app"}, {0x7f20, 0x1000, "/lib/x.so"}}
	if diff := cmp.Diff(want, parseMaps([]byte(maps))); diff != "" {
		t.Errorf("maps:\n%s", diff)
	}
}

// A process title names the server in its first word, and may contain a URL or a file.
func TestServerOfATitle(t *testing.T) {
	for title, want := range map[string]string{
		"puma 6.4.2 (tcp://0.0.0.0:3000) [shop]":              "puma",
		"puma: cluster worker 0: 42 [shop]":                   "puma",
		"unicorn master -c /srv/config/unicorn.rb -E staging": "unicorn",
		"gunicorn: master [/srv/app]":                         "gunicorn",
		"/opt/my app/bin/gunicorn":                            "gunicorn",
		"sidekiq 7.2.0 shop [10 of 10 busy]":                  "",
	} {
		if got := serverOf([]string{title}); got != want {
			t.Errorf("%s: %q, want %q", title, got, want)
		}
	}
}
