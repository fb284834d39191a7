// Package runtimes is the table of language runtimes: how to tell from outside
// which one a process is (Detect, DetectTree), how many things it runs at once
// under a CPU limit (Default) and what it tells its libraries (Told), and by
// which knob that is set (Knob, Settings).
//
// What reads /proc gathers Evidence and decides nothing; what decides takes
// Evidence or Info, reads nothing, and is tested exactly. Each figure says
// whether it was read, declared or predicted. The package never sends a signal,
// never attaches to a process, and changes nothing: it is not a profiler and
// does not start what it describes. docs/runtimes.md is the table for users,
// with the source of each row.
package runtimes

import (
	"fmt"
	"strings"
)

// Name is a runtime's name, in lower case.
type Name string

// The runtimes that are told apart.
const (
	Go      Name = "go"
	Node    Name = "node"
	Bun     Name = "bun"
	Deno    Name = "deno"
	JVM     Name = "jvm"
	Python  Name = "python"
	DotNet  Name = "dotnet"
	Ruby    Name = "ruby"
	Rust    Name = "rust"
	Nginx   Name = "nginx"
	Unknown Name = "unknown"
)

// Source says where a figure comes from.
type Source string

const (
	Read      Source = "read"      // from the process, its files or its executable
	Declared  Source = "declared"  // by an environment variable or a flag; nothing proves that it took effect
	Predicted Source = "predicted" // by the runtime's rule
	NotKnown  Source = ""
)

// Parallelism is how many things a process runs at once at most. Value is 0
// where it is not known.
type Parallelism struct {
	Value  int    `json:"value"`
	Source Source `json:"source"`
	From   string `json:"from,omitempty"` // in words
}

// Info is what could be told of one process.
type Info struct {
	PID         int         `json:"pid"`
	Runtime     Name        `json:"runtime"`
	By          string      `json:"by,omitempty"` // what told the runtime, in words
	Version     string      `json:"version,omitempty"`
	VersionFrom Source      `json:"version_from,omitempty"`
	Program     string      `json:"program,omitempty"` // base name of the executable
	Parallelism Parallelism `json:"parallelism"`       // present; predict it with Default where it is not known
	Threads     int         `json:"threads,omitempty"` // of the kernel; 0: not known
	Workers     int         `json:"workers,omitempty"` // worker processes of the same program
	Affinity    int         `json:"affinity,omitempty"`
	// ToldPort is the port that the variable PORT told it at its start, which it may
	// have ignored; 0: none.
	ToldPort int `json:"told_port,omitempty"`

	// Pool is the pool of threads beside an event loop (libuv's in Node).
	Pool *Parallelism `json:"pool,omitempty"`
	// Server is the server's program where the knob is its own: gunicorn, uvicorn, puma.
	Server string   `json:"server,omitempty"`
	Go     *GoFacts `json:"go,omitempty"`
	// Libuv is libuv's version where Node takes it from a library of its own.
	Libuv string `json:"libuv,omitempty"`
	// Tokio: the executable holds the asynchronous runtime of that name.
	Tokio bool `json:"tokio,omitempty"`

	// Env are the environment variables that EnvKnobs names, as the process got
	// them at its start; no others are kept.
	Env map[string]string `json:"env,omitempty"`
	// Flags are the arguments that set the parallelism, as they stand.
	Flags []string `json:"flags,omitempty"`
	// Notes are what else should be known, a sentence each.
	Notes []string `json:"notes,omitempty"`
}

// GoFacts are what a Go executable says of itself. All are read.
type GoFacts struct {
	Automaxprocs   string `json:"automaxprocs,omitempty"` // its module's version
	Automemlimit   string `json:"automemlimit,omitempty"`
	DefaultGODEBUG string `json:"default_godebug,omitempty"`
	// Aware: the toolchain and the go line make the runtime see CPU limits,
	// before the environment's GODEBUG is looked at.
	Aware bool `json:"aware"`
	// Pprof: net/http/pprof is linked in. Whether it is served only a request tells.
	Pprof bool `json:"pprof"`
}

// String is the runtime with its version as a reader says it: "Go 1.26.8".
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

// Title is the name as its makers write it.
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
	case Nginx:
		return "nginx"
	}
	return "unknown runtime"
}

// loops reports whether one process of the runtime runs its code on one thread
// at a time, so that more processes are the way to more CPUs.
func (n Name) loops() bool {
	switch n {
	case Node, Bun, Deno, Python, Ruby:
		return true
	}
	return false
}
