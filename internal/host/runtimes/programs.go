package runtimes

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// program is a row of the table of servers that are detected by their name. Most are
// written in C, and one setting has the number of their threads or processes.
type program struct {
	runtime Name
	title   string
	names   []string       // as which it is started, or of its executable; as in path.Match
	version *regexp.Regexp // finds it in the path of the executable; nil: it is not known

	// threads are the names of the threads that run requests, as in path.Match. They are
	// counted; beside them the main thread runs requests too if main is true, and half of them
	// have other work if half is true.
	threads    []string
	main, half bool
	// rule is how many requests run at once by default, in words. initial is that number;
	// 0: it has none, or a rule of its own.
	rule    string
	initial int
	// options set the number in the command. They override the setting in the file.
	options       []string
	setting, file string
	// advice is what to do if no number can be set, in words that follow the title.
	advice string

	// blocks: a thread or process waits while its request waits, so that fewer of them
	// serve fewer requests at once.
	blocks bool
	// spins: threads use CPU time while they wait for work, so that each needs a CPU for
	// itself.
	spins bool
	// alone: one thread under a limit of 1 CPU or less is better than two, by measurement.
	alone bool
	other bool // its port does not speak HTTP
}

// programs is that table; docs/runtimes.md has the sources.
var programs = []program{
	{runtime: Nginx, title: "nginx", names: []string{"nginx", "nginx-debug", "openresty"}},
	{runtime: PHP, title: "PHP-FPM", names: []string{"php-fpm", "php-fpm[0-9]*"}, version: regexp.MustCompile(`php-fpm(\d+\.\d+)$`), blocks: true, other: true},
	{runtime: Envoy, title: "Envoy", names: []string{"envoy"}, threads: []string{"wrk:worker_*"},
		options: []string{"--concurrency"}, setting: "--concurrency", file: "Envoy's command"},
	// Schedulers that are offline have threads too, so these are not counted here.
	{runtime: Erlang, title: "Erlang", names: []string{"beam.smp"}, version: regexp.MustCompile(`/erts-(\d+(?:\.\d+)*)/`)},
	{runtime: HAProxy, title: "HAProxy", names: []string{"haproxy"}, threads: []string{"*"},
		setting: "nbthread", file: "the global section of HAProxy's configuration"},
	{runtime: Postgres, title: "PostgreSQL", names: []string{"postgres"}, version: regexp.MustCompile(`/(?:postgresql/|pgsql-)(\d+)/bin/postgres$`),
		rule:   "a process for each connection",
		advice: "limit its connections with a connection pool, and a query's processes with max_parallel_workers_per_gather",
		blocks: true, other: true},
	// Redis from 8 on lets its I/O threads sleep; its version is not known from outside.
	{runtime: Redis, title: "Redis", names: []string{"redis-server"}, threads: []string{"io_thd_*"}, main: true,
		rule: "one thread, unless io-threads is set", initial: 1,
		options: []string{"--io-threads"}, setting: "io-threads", file: "redis.conf or its command", spins: true, other: true},
	{runtime: Valkey, title: "Valkey", names: []string{"valkey-server"}, threads: []string{"io_thd_*"}, main: true,
		rule: "one thread, unless io-threads is set", initial: 1,
		options: []string{"--io-threads"}, setting: "io-threads", file: "valkey.conf or its command", spins: true, other: true},
	{runtime: Memcached, title: "memcached", names: []string{"memcached"}, threads: []string{"mc-worker"},
		rule: "4 threads", initial: 4,
		options: []string{"-t", "--threads"}, setting: "-t", file: "memcached's command or its configuration", alone: true, other: true},
	{runtime: MariaDB, title: "MariaDB", names: []string{"mariadbd"},
		rule: "a thread for each connection", advice: "limit them with a connection pool, or with thread_handling = pool-of-threads",
		blocks: true, other: true},
	{runtime: MySQL, title: "MySQL", names: []string{"mysqld"},
		rule: "a thread for each connection", advice: "limit its connections with a connection pool",
		blocks: true, other: true},
	{runtime: Apache, title: "Apache", names: []string{"apache2", "httpd"},
		rule: "a process or a thread for each request", advice: "MaxRequestWorkers in its configuration is the maximum of requests at once",
		blocks: true},
	{runtime: Varnish, title: "Varnish", names: []string{"varnishd"},
		rule: "a thread for each request", advice: "thread_pool_max is the maximum of threads in each of thread_pools",
		blocks: true},
	{runtime: Lighttpd, title: "lighttpd", names: []string{"lighttpd"},
		rule: "one process, unless server.max-worker is set", initial: 1,
		setting: "server.max-worker", file: "lighttpd's configuration", alone: true},
	// Of 9.18, where each CPU has two threads: its netmgr.c serves with the first half of them.
	{runtime: BIND, title: "BIND", names: []string{"named"}, threads: []string{"isc-net-*"}, half: true,
		rule:    "a thread for each CPU of the affinity mask",
		options: []string{"-n"}, setting: "-n", file: "named's command", alone: true, other: true},
	{runtime: Unbound, title: "Unbound", names: []string{"unbound"}, threads: []string{"*"},
		rule: "one thread, unless num-threads is set", initial: 1,
		setting: "num-threads", file: "unbound.conf", other: true},
	// Threads for other work have its name too, so they are not counted.
	{runtime: H2O, title: "H2O", names: []string{"h2o"},
		rule: "a thread for each CPU, unless num-threads is set", setting: "num-threads", file: "h2o.conf"},
}

// programNamed finds the row of a program by the names as which it may have been started.
func programNamed(names ...string) (p program, name string, ok bool) {
	for _, name := range names {
		i := slices.IndexFunc(programs, func(p program) bool { return matches(p.names, name) })
		if name != "" && i >= 0 {
			return programs[i], name, true
		}
	}
	return program{}, "", false
}

// programOf finds the row of a runtime; it is empty for one that is detected otherwise.
func programOf(runtime Name) program {
	i := slices.IndexFunc(programs, func(p program) bool { return p.runtime == runtime })
	if i < 0 {
		return program{}
	}
	return programs[i]
}

// matches reports whether a name matches one of the patterns.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// counted is the number of threads that run requests, by their names; 0: not known.
func (p program) counted(names []string, all int) Parallelism {
	if len(p.threads) == 0 {
		return Parallelism{}
	}
	n, from := 0, "its threads "+strings.Replace(p.threads[0], "*", "n", 1)
	for _, name := range names {
		if matches(p.threads, name) {
			n++
		}
	}
	switch {
	case p.half:
		n, from = n/2, "half of "+from
	case p.threads[0] == "*":
		n, from = all, "its threads"
	case p.main && len(names) > 0:
		n, from = n+1, from+", and the main thread"
	}
	if n == 0 {
		return Parallelism{}
	}
	return Parallelism{Value: n, Source: Read, From: from}
}

// ByThreads reports whether the parallelism of a program is the number of its threads, which
// processes with the same command can differ in.
func ByThreads(info Info) bool {
	return len(programOf(info.Runtime).threads) > 0 || info.Runtime == Erlang
}

// Spins reports whether idle threads of a runtime use CPU time while they wait for work. A
// number of them above that of the CPUs then slows all.
func Spins(info Info) bool { return programOf(info.Runtime).spins }

// Least is the lowest parallelism that is advised under a limit: what can use all of it, and
// 2. One instead of two halves the p99 of Go at saturation, and raises it at 60% of that load
// (test/advice/README.md). Threads that spin need a CPU each, so the limit is rounded down.
func Least(info Info, cpus float64) int {
	switch p := programOf(info.Runtime); {
	case p.spins:
		return max(1, int(cpus))
	case p.alone:
		return ceil(cpus - 1e-9)
	}
	return max(2, ceil(cpus-1e-9))
}

// Blocks reports whether the units that the parallelism counts are blocked while they wait,
// so that less parallelism means less concurrency: worker processes of Python or Ruby,
// threads of a pool that a JVM or .NET sizes by it. In the other runtimes a waiting task
// frees its thread.
func Blocks(info Info) bool {
	if p := programOf(info.Runtime); p.title != "" {
		return p.blocks
	}
	return info.Runtime != Go && info.Runtime != Deno && !info.Tokio
}

// EventLoops reports whether a program runs requests on a number of threads that do not block,
// and that were counted: HAProxy, Envoy, memcached.
func EventLoops(info Info) bool {
	p := programOf(info.Runtime)
	return p.threads != nil && !p.blocks
}

// fallback is the rule of a program without a more specific one.
func (p program) fallback(info Info) (int, string) {
	if n := optionNumber(p.options, info.Flags); n > 0 {
		return n, fmt.Sprintf("%s %d is in its command", p.options[0], n)
	}
	return p.initial, fmt.Sprintf("%s runs %s, regardless of the limit", p.title, p.rule)
}

// knob is the setting of a program.
func (p program) knob() Knob {
	if p.setting == "" {
		return Knob{Words: fmt.Sprintf("%s runs %s: %s", p.title, p.rule, p.advice)}
	}
	return Knob{Command: len(p.options) > 0, Setting: p.setting, File: p.file, Words: fmt.Sprintf("%s is set in %s: change it there", p.setting, p.file)}
}

// withOption is a command with a number for the first of the options, where a program that
// is started directly has none of them; nil: the command is not known.
func (p program) withOption(command []string, n int) []string {
	if len(p.options) == 0 || len(command) == 0 || !matches(p.names, path.Base(command[0])) {
		return nil
	}
	return append(slices.Clone(command), p.options[0], strconv.Itoa(n))
}
