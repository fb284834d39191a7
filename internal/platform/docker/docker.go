// Package docker runs services as containers of the Docker daemon on this machine:
// each replica is a container with limits. Its control group is read on the host, as
// that of a local process. The local platform provides agents and folders: the
// traffic comes from this machine.
//
// Everything that it makes has labels with the run and its process. The next New or
// Clean removes what a killed run left. It restarts containers itself, so that the
// record has each restart. It sends no traffic and evaluates no measurement. It needs
// Linux: elsewhere Docker runs containers in a virtual machine, whose control groups
// cannot be read from outside.
package docker

import (
	"errors"
	"time"
)

// Options configure New; the zero value has the defaults. DOCKER_HOST selects the
// daemon, as for Docker's own command line.
type Options struct {
	// HostNetwork gives containers the machine's network instead of one of the run's
	// own.
	HostNetwork bool
	// Note receives warnings, progress, and the standard error of agents, one line
	// each. Several goroutines may call it concurrently.
	Note func(string)
	// Programs is the folder of millicore's programs; empty: this program's.
	Programs string
	// State is the folder where the local platform records what it makes; empty: its
	// default.
	State string
	// DryRun: New makes and removes nothing, and only Check and Close may be called.
	DryRun bool
	// RestartAfter is the wait before a dead container's first restart; 0: 1 s. It
	// grows as the local platform's does.
	RestartAfter time.Duration
}

// Cleaned is what Clean did.
type Cleaned struct {
	Removed []string // containers, networks, volumes, images, control groups and folders of runs that are dead
	Living  []int    // pids of runs that were left alone
}

// errNotLinux is the error on other systems.
var errNotLinux = errors.New("the control groups of Docker's containers can be read on Linux only; run millicore on the Linux machine of the Docker daemon, or use --on kubernetes")
