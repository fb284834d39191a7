// Package platform is where services run. It is the interface only: local,
// docker and kubernetes implement it. A platform starts units under their
// limits, reads their counters, runs agents, and removes all that it made.
package platform

import (
	"context"
	"errors"
	"io"
	"syscall"
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
	// Agent starts an agent; the stream speaks its protocol. Those of a trial are
	// started at once, by several goroutines.
	Agent(ctx context.Context, trial, index int) (Agent, error)
	// Folder makes an empty folder for what units keep on disk. It belongs to
	// user (nil: the caller) and lies in dir, or where the user cannot reach that
	// in the system's folder for temporary files.
	Folder(dir string, user *User) (Folder, error)
	// Close stops and removes all that is still there.
	Close() error
}

// Images is a Platform that runs images alone: the sample services and the
// databases that experiments have by name are images there too.
type Images interface {
	Platform
	// Workload gives the image of a sample service and the arguments that it
	// takes, which may hold ${host} and ${port}. The error says what is missing,
	// and how it is made.
	Workload(ctx context.Context, name string) (image string, arguments []string, err error)
	// Fetch has an image there before anything is started with it, and gives what
	// it is, as precisely as is known: its digest.
	Fetch(ctx context.Context, image string) (digest string, err error)
	// Versions are those of what runs containers, by name.
	Versions() map[string]string
}

// Unit is a service or a dependency, as one trial needs it. Its processes find
// their port in ${port} and in the environment variable PORT.
type Unit struct {
	Trial   int
	Name    string
	Command []string          // may hold ${port}, ${host} (to listen on) and the names in Vars; arguments of an image
	Image   string            // platforms of images only
	Dir     string            // working folder of the command; in the container of an image
	Env     map[string]string // likewise
	Unset   []string          // env names that must be absent
	Vars    map[string]string // values for ${name}, known by now
	Limits  experiment.Limits
	// Port is one that the unit listens on whatever it is told; FindPort says
	// that the platform is to find it, by looking at what the unit's processes
	// listen on. With neither the platform gives each replica a port. Both need
	// one replica, where replicas have one address. ${port} and PORT are set in any case.
	Port     int
	FindPort bool
	Ready    experiment.Ready
	// Serves tells whether a replica serves at its address, in the place of
	// Ready.Path and of a port that accepts; nil where those tell.
	Serves func(ctx context.Context, address string) error
	Logs   string // folder for the replicas' output, one file each; it exists
	// Autoscale has the number of replicas follow their CPU; nil: it stays. Platforms
	// that cannot refuse it in Check.
	Autoscale *experiment.Autoscale

	User *User // whom the processes run as; nil: the caller
	// PrivateIPC gives each replica shared memory of its own (System V and POSIX),
	// which is gone with its processes, however they ended. Where the system does
	// not allow that, it is left out.
	PrivateIPC bool
	StopSignal syscall.Signal // in the place of TERM; 0: TERM
}

// User is an account of the machine.
type User struct {
	Name     string
	UID, GID int
}

// Folder is a folder that was made for units. What removes it is Remove, the
// platform's Close or, after a crash, Clean.
type Folder interface {
	Path() string
	Remove() error // with all that is in it; it may be called again
}

// Running is a unit that was started.
type Running interface {
	Replicas() []Replica
	// Stop ends all replicas (StopSignal, then KILL after StopGrace, or at once when
	// ctx ends) and removes what was made for them. It may be called again.
	Stop(ctx context.Context) error
}

// Resizer is a Running whose limits can be changed while it runs.
type Resizer interface {
	// Resize gives every replica other limits, without a restart. The number of
	// replicas and the CPUs that they are confined to stay. After an error some
	// may have the one, some the other: stop the unit.
	Resize(ctx context.Context, l experiment.Limits) error
}

// Scaled is a Running whose number of replicas changes while it runs.
type Scaled interface {
	// Now gives all replicas that there have been, by their indexes: those of
	// Replicas first, then later ones in the order in which they came to serve. In
	// the place of one that has gone for good, or is about to, is nil. It is asked
	// often, by several goroutines at once, and answers from memory.
	Now() []Replica
}

// ErrEvicted is in the error of a start that failed because the machines took a
// part of the unit away again: that is no doing of the unit's.
var ErrEvicted = errors.New("taken away by its machines")

// Evictable is a Running whose replicas may be taken away for good: evicted,
// deleted by somebody, or gone with their machine.
type Evictable interface {
	// Evicted says in words which replica is no more, and why; "" while all are there.
	// It is asked often, and answers from memory.
	Evicted() string
}

// Evicted says what of some units was taken away, and why; "": nothing.
func Evicted(all []Running) string {
	for _, r := range all {
		if e, ok := r.(Evictable); ok {
			if why := e.Evicted(); why != "" {
				return why
			}
		}
	}
	return ""
}

// Seer is a Platform that may not see when replicas are throttled, but only that
// they were: a Platform without this method does.
type Seer interface {
	// SeesWindows reports whether the replicas' pulses have their throttling, or the
	// replicas are Windowed. It is asked before the first unit is started.
	SeesWindows() bool
}

// Machines is a Platform whose units run on other machines than the lab, and that
// may see what those do.
type Machines interface {
	// Machines gives what each machine that runs a unit did since the last call; none
	// where that is not seen, or nothing new has come. One caller at a time.
	Machines() []Machine
}

// Machine is what one did over a time, by the lab's clock.
type Machine struct {
	Name       string
	Start, End time.Time
	Host       signals.Host
}

// Placed is a Replica on a machine that Machines tells of.
type Placed interface {
	Machine() string // its name
}

// Windowed is a Replica whose windows are seen by somebody near it.
type Windowed interface {
	// Windows gives those that have ended since the last call, with their times on
	// this machine's clock. Trial, Cell, Of and Index are the caller's to fill in.
	Windows() []signals.Window
}

// Replica is one process or container of a unit. Its address stays the same
// when it is restarted. Its methods may be called by several goroutines at once.
type Replica interface {
	Address() string // host:port
	// Counters reads the running totals. An error means that nothing could be
	// read; single counters that cannot are nil.
	Counters() (signals.Counters, error)
	// Pulse reads what is looked at a hundred times a second, and costs a few
	// microseconds. Errors are as those of Counters, which it does not wait for.
	Pulse() (signals.Pulse, error)
	// PIDs are the replica's processes now, the one that was started first; nil
	// where they are not known.
	PIDs() []int
}

// Agent is an agent's process, reached by a byte stream.
type Agent interface {
	io.ReadWriteCloser
	Counters() (signals.Counters, error)
}

// StopGrace is how long a unit has between its StopSignal and KILL.
const StopGrace = 5 * time.Second
