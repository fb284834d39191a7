// Package runtimes is the table of language runtimes: it detects the runtime of a
// process from outside (Detect, DetectTree), predicts its parallelism under a CPU
// limit (Default) and the CPU count that it reports to libraries (Reported), and
// knows how to set the parallelism (Knob, Settings).
//
// The functions that read /proc gather Evidence and decide nothing; the functions
// that decide take Evidence or Info and read nothing. Each figure is marked as
// read, declared or predicted. The package sends no signals, attaches to no
// process and changes nothing; it is not a profiler and starts no program.
// docs/runtimes.md is the table for users, with the source of each row.
package runtimes

import (
	"cmp"
	"fmt"
	"strings"
)

// Name is a runtime's name, in lower case.
type Name string

// The runtimes that Detect distinguishes.
const (
	Go        Name = "go"
	Node      Name = "node"
	Bun       Name = "bun"
	Deno      Name = "deno"
	JVM       Name = "jvm"
	Python    Name = "python"
	DotNet    Name = "dotnet"
	Ruby      Name = "ruby"
	Rust      Name = "rust"
	Nginx     Name = "nginx"
	PHP       Name = "php"
	Envoy     Name = "envoy"
	Erlang    Name = "erlang"
	Postgres  Name = "postgresql"
	HAProxy   Name = "haproxy"
	Redis     Name = "redis"
	Valkey    Name = "valkey"
	Memcached Name = "memcached"
	MariaDB   Name = "mariadb"
	MySQL     Name = "mysql"
	Apache    Name = "apache"
	Varnish   Name = "varnish"
	Lighttpd  Name = "lighttpd"
	BIND      Name = "bind"
	Unbound   Name = "unbound"
	H2O       Name = "h2o"
	Unknown   Name = "unknown"
)

// Source is where a figure comes from.
type Source string

const (
	Read      Source = "read"      // from the process, its files or its executable
	Declared  Source = "declared"  // by an environment variable or a flag; whether it took effect is not known
	Predicted Source = "predicted" // by the runtime's rule
	NotKnown  Source = ""
)

// Parallelism is how many threads or worker processes of a program can run its code
// at the same time. Value is 0 if that is not known. Of a JVM and .NET it is the number
// of processors, by which they size their pools; a program may start more threads.
type Parallelism struct {
	Value  int    `json:"value"`
	Source Source `json:"source"`
	From   string `json:"from,omitempty"` // in words
}

// Info is what is known of one process.
type Info struct {
	PID         int         `json:"pid"`
	Runtime     Name        `json:"runtime"`
	By          string      `json:"by,omitempty"` // what the runtime was detected by, in words
	Version     string      `json:"version,omitempty"`
	VersionFrom Source      `json:"version_from,omitempty"`
	Program     string      `json:"program,omitempty"` // base name of the executable; of an unknown runtime or a server that is detected by its name, as which it was started
	Parallelism Parallelism `json:"parallelism"`       // at present; if it is not known, Default predicts it
	Threads     int         `json:"threads,omitempty"` // kernel threads; 0: not known
	Workers     int         `json:"workers,omitempty"` // worker processes of the same program
	Affinity    int         `json:"affinity,omitempty"`
	// PortEnv is the value of the environment variable PORT at the process's start,
	// which the process may ignore; 0: none.
	PortEnv int `json:"told_port,omitempty"`

	// Pool are threads beside those that Parallelism counts: libuv's pool in Node, the I/O
	// threads of granian.
	Pool *Parallelism `json:"pool,omitempty"`
	// Server is the application server whose setting applies: a name of servers.
	Server string   `json:"server,omitempty"`
	Go     *GoFacts `json:"go,omitempty"`
	// Libuv is libuv's version if Node loads it as a shared library.
	Libuv string `json:"libuv,omitempty"`
	// Tokio: the executable contains the asynchronous runtime Tokio.
	Tokio bool `json:"tokio,omitempty"`
	// Actix: the threads of actix-web run its requests. They have runtimes of Tokio of
	// their own, and do not follow its variable.
	Actix bool `json:"actix,omitempty"`
	// Rayon: it contains the thread pool Rayon.
	Rayon bool `json:"rayon,omitempty"`
	// Pooled is how many of its threads can be those of Tokio or Rayon, an upper bound of the
	// number that runs code; 0: not known.
	Pooled int `json:"pooled,omitempty"`
	// RoundsUp: its version of Tokio or Rayon counts CPUs with the crate num_cpus.
	RoundsUp bool `json:"rounds_up,omitempty"`
	// Musl: the C library is musl, whose count of CPUs follows the affinity mask.
	Musl bool `json:"musl,omitempty"`
	// Math is the library of linear algebra or OpenMP that it has loaded, which computes with
	// threads of its own: a name of package mathlib.
	Math string `json:"math,omitempty"`
	// Lockless: a Python or Ruby without a global lock.
	Lockless bool `json:"lockless,omitempty"`

	// Env are the environment variables that IsEnvKnob accepts, as of the process's
	// start; no others are kept.
	Env map[string]string `json:"env,omitempty"`
	// Flags are the arguments that set the parallelism, unchanged.
	Flags []string `json:"flags,omitempty"`
	// Notes are remarks, such as what could not be read, a sentence each.
	Notes []string `json:"notes,omitempty"`
	// Refused is why the process was not inspected further, as it is hostile or broken: a
	// clause that follows "could not inspect PID NAME: "; "": it was.
	Refused string `json:"refused,omitempty"`
}

// GoFacts are facts that were read from a Go executable.
type GoFacts struct {
	Automaxprocs string `json:"automaxprocs,omitempty"` // its module's version
	Automemlimit string `json:"automemlimit,omitempty"`
	// Memlimit: Millicore's package maxprocs/memlimit is linked in, which sets GOMEMLIMIT.
	Memlimit bool `json:"memlimit,omitempty"`
	// HeapInCode: the program contains debug.SetMemoryLimit, and neither of the two libraries
	// that call it: its code can override GOMEMLIMIT.
	HeapInCode     bool   `json:"heap_in_code,omitempty"`
	DefaultGODEBUG string `json:"default_godebug,omitempty"`
	// Aware: with this toolchain and go line the runtime reads CPU limits, unless
	// GODEBUG in the environment changes that.
	Aware bool `json:"aware"`
	// Pprof: net/http/pprof is linked in. Only a request shows whether it is served.
	Pprof bool `json:"pprof"`
}

// String is the runtime with its version: "Go 1.26.8".
func (i Info) String() string {
	name := i.Runtime.Title()
	if i.Runtime == Unknown && i.Program != "" {
		return fmt.Sprintf("unknown runtime (%s)", i.Program)
	}
	if i.Version == "" {
		return name
	}
	return name + " " + strings.TrimPrefix(i.Version, "go")
}

// Title is the official spelling of the name.
func (n Name) Title() string {
	switch n {
	case Go:
		return "Go"
	case Node:
		return "Node.js"
	case Bun:
		return "Bun"
	case Deno:
		return "Deno"
	case JVM:
		return "JVM"
	case Python:
		return "Python"
	case DotNet:
		return ".NET"
	case Ruby:
		return "Ruby"
	case Rust:
		return "Rust"
	}
	return cmp.Or(programOf(n).title, "unknown runtime")
}

// loops reports whether a process runs code on one thread at a time, so that only more
// processes can use more CPUs.
func (i Info) loops() bool {
	if i.Lockless {
		return false
	}
	switch i.Runtime {
	case Node, Bun, Deno, Python, Ruby:
		return true
	}
	return false
}
