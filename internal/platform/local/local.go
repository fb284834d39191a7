// Package local runs services on this machine: each replica is a process with its own
// control group, limits and port. It watches the processes, restarts those that die,
// and stops and removes them at the end. The next New or Clean removes what a killed
// run left. It needs Linux.
//
// Package group makes control groups, and package shim starts a process inside one.
// This package sends no traffic and evaluates no measurement.
package local

import (
	"errors"
	"time"

	"github.com/millicore/millicore/internal/platform/local/shim"
	"github.com/millicore/millicore/internal/platform/neighbour"
)

// Options configure New; the zero value has the defaults.
type Options struct {
	// Note receives warnings and the standard error of agents, one line each. Several
	// goroutines may call it concurrently.
	Note func(string)
	// Agent is the path of millicore-agent; empty: it is searched beside this program
	// and in PATH.
	Agent string
	// State is the folder where runs record what they make; empty: /run/millicore for
	// root, otherwise a folder of the user.
	State string
	// AgentsOnly is set by another platform, which starts its units elsewhere.
	AgentsOnly bool
	// DryRun: New makes and removes nothing, and only Check and Close may be called.
	DryRun bool
	// RestartAfter is the wait before a dead replica's first restart; 0: 1 s. It doubles
	// with every death up to ten times that, and begins again after a life longer than
	// that. (A kubelet begins at 10 s and ends at 5 min.)
	RestartAfter time.Duration
}

// Cleaned is what Clean did.
type Cleaned struct {
	Removed []string // control groups of runs that are dead, their units' folders, and processes that left their groups
	Living  []int    // pids of runs that were left alone
}

// errNotLinux is the error on other systems.
var errNotLinux = errors.New("CPU limits on this machine need Linux's control groups; run millicore on a Linux machine, or use `millicore run --on kubernetes`")

// Shim must be the first call in main, with os.Args, of every program that uses New:
// the platform starts a replica by starting the program again. Shim returns if the
// program was started for another purpose.
func Shim(args []string) {
	shim.Main(args)
	neighbour.Main(args)
}
