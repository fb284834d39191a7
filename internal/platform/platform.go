// Package platform is where services run. It is the interface only: local,
// docker and kubernetes implement it. A platform starts units under their
// limits, reads their counters, runs agents, and removes all that it made.
package platform

import (
	"context"
	"io"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// Platform starts what a trial needs. Whatever it starts it can stop, also
// after a crash of its own process (Clean).
type Platform interface {
	// Name is the word of --on.
	Name() string
	// Check reports whether the experiment can run here, before anything is
	// started; the error names the ways out.
	Check(e *experiment.Experiment) error
	// Start starts all replicas of a unit and returns when they are ready. On
	// an error nothing of the unit is left. The context bounds the starting, not
	// the life of what was started; likewise for Agent.
	Start(ctx context.Context, u Unit) (Running, error)
	// Agent starts an agent; the stream speaks its protocol.
	Agent(ctx context.Context, trial, index int) (Agent, error)
	// Close stops and removes all that is still there.
	Close() error
}

// Unit is a service or a dependency, as one trial needs it. Its processes find
// their port in ${port} and in the environment variable PORT.
type Unit struct {
	Trial   int
	Name    string
	Command []string          // may hold ${port}, ${host} (to listen on) and the names in Vars
	Image   string            // platforms of containers only
	Dir     string            // working folder of the command
	Env     map[string]string // likewise
	Unset   []string          // env names that must be absent
	Vars    map[string]string // values for ${name}, known by now
	Limits  experiment.Limits
	Ready   experiment.Ready
	Logs    string // folder for the replicas' output, one file each; it exists
}

// Running is a unit that was started.
type Running interface {
	Replicas() []Replica
	// Stop ends all replicas (TERM, then KILL after StopGrace, or at once when
	// ctx ends) and removes what was made for them. It may be called again.
	Stop(ctx context.Context) error
}

// Replica is one process or container of a unit. Its address stays the same
// when it is restarted.
type Replica interface {
	Address() string // host:port
	// Counters reads the running totals. An error means that nothing could be
	// read; single counters that cannot are nil.
	Counters() (signals.Counters, error)
}

// Agent is an agent's process, reached by a byte stream.
type Agent interface {
	io.ReadWriteCloser
	Counters() (signals.Counters, error)
}

// StopGrace is how long a unit has between TERM and KILL.
const StopGrace = 5 * time.Second
