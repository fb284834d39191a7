// Package local runs services on this machine: each replica is a process with a
// control group, limits and a port of its own. What it starts it watches,
// restarts when it dies, stops, and removes; what a killed run left, the next
// New or Clean removes. It is for Linux.
//
// How groups are made is in package group, how a process gets into one before
// its first instruction in package shim. This package makes no traffic and does
// not judge what it reads.
package local

import (
	"errors"
	"time"

	"github.com/millicore/millicore/internal/platform/local/shim"
)

// Options are the choices of New; the zero value is the usual ones.
type Options struct {
	// Note takes warnings and what agents say on standard error, a line each.
	// It may be called by several goroutines at once.
	Note func(string)
	// Agent is the path of millicore-agent; empty: it is looked for beside this
	// program and in PATH.
	Agent string
	// State is the folder where runs write down what they make; empty:
	// /run/millicore for root, a folder of the user's otherwise.
	State string
	// AgentsOnly says that the platform is another one's, which starts its units
	// elsewhere.
	AgentsOnly bool
	// RestartAfter is the wait before a dead replica's first restart; 0: 1 s.
	// It doubles with every death to ten times that, and is back to it once a
	// replica has run for longer than ten times that. (A kubelet begins at 10 s
	// and ends at 5 min.)
	RestartAfter time.Duration
}

// Cleaned is what Clean did.
type Cleaned struct {
	Removed []string // control groups of runs that are dead, and their units' folders
	Living  []int    // pids of runs that were left alone
}

// errNotLinux is the answer on other systems.
var errNotLinux = errors.New("CPU limits on this machine need Linux's control groups; use --on docker or --on kubernetes")

// Shim is to be called first thing in main, with os.Args, by every program that
// uses New: replicas are started by starting the program again. It returns if
// the program was started for anything else.
func Shim(args []string) { shim.Main(args) }
