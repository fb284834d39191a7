// Package docker runs services as containers of the Docker daemon on this
// machine: each replica is a container with limits, whose control group is read
// on the host as a local process's is. Agents, and folders, are the local
// platform's: the traffic comes from this machine.
//
// Everything that it makes is labelled with the run and its process. What a
// killed run left, the next New or Clean removes. It restarts containers itself:
// the record has each death. It makes no traffic and does not judge what it
// reads. It is for Linux: elsewhere Docker runs containers in a virtual machine,
// whose control groups cannot be read from outside.
package docker

import (
	"errors"
	"time"
)

// Options are the choices of New; the zero value is the usual ones. Which daemon
// is meant, DOCKER_HOST tells, as it does Docker's own command line.
type Options struct {
	// HostNetwork gives containers the machine's network, not one of the run's
	// own.
	HostNetwork bool
	// Note takes warnings, what takes long, and what agents say on standard error,
	// a line each. It may be called by several goroutines at once.
	Note func(string)
	// Programs is the folder of millicore's programs; empty: this program's.
	Programs string
	// State is the folder where the local platform writes down what it makes;
	// empty: its usual one.
	State string
	// RestartAfter is the wait before a dead container's first restart; 0: 1 s. It
	// grows as the local platform's does.
	RestartAfter time.Duration
}

// Cleaned is what Clean did.
type Cleaned struct {
	Removed []string // containers, networks, images, control groups and folders of runs that are dead
	Living  []int    // pids of runs that were left alone
}

// errNotLinux is the answer on other systems.
var errNotLinux = errors.New("the control groups of Docker's containers can be read on Linux alone; run millicore on the Linux machine whose Docker is to run them, or use --on kubernetes")
