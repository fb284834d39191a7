// Package platform defines where services run. It holds the interfaces only:
// local, docker and attached below it and kubernetes/pods implement them. A platform starts units
// under their limits, reads their counters, runs agents, and removes everything
// that it made. What only some platforms can do is in abilities.go.
//
// MakeDir and MakeFile make files for another user in a platform's folder. The
// package sends no traffic and evaluates no measurement.
package platform

import (
	"context"
	"io"
	"syscall"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Platform starts what a trial needs. It can stop everything that it started,
// also after a crash of its own process (Clean).
type Platform interface {
	// Name is the platform's name, as in --on.
	Name() string
	// Check reports whether the experiment can run here, before anything is
	// started. The error names what the user can change.
	Check(e *experiment.Experiment) error
	// Start starts all replicas of a unit and returns when they are ready. After an
	// error nothing of the unit is left. The context bounds the start only, not the
	// life of the unit; the same holds for Agent.
	Start(ctx context.Context, u UnitSpec) (Unit, error)
	// Agent starts an agent; the stream carries its protocol. Several goroutines
	// start the agents of a trial concurrently.
	Agent(ctx context.Context, trial, index int) (Agent, error)
	// Folder makes an empty folder for the files of units. It is in dir, or in the
	// system's folder for temporary files if user cannot reach dir. It belongs to the
	// caller; nobody else can write to it or list it. user (nil: the caller) can enter
	// it; MakeDir and MakeFile make the files of units there.
	Folder(dir string, user *User) (Folder, error)
	// Close stops and removes everything that is left.
	Close() error
}

// UnitSpec specifies a unit: a service or a dependency of one trial. Its
// processes get their port as ${port} and in the environment variable PORT.
type UnitSpec struct {
	Trial   int
	Name    string
	Command []string // may hold ${port}, ${host} (to listen on) and the names in Vars; arguments of an image
	Image   string   // for an ImageRunner only
	Volumes []string // mounts of an image, as experiment.SplitVolume reads them; on Docker only
	Dir     string   // working folder of the command; for an image, in the container
	// Container are further settings of an image's container, on Docker only; nil: there are none.
	Container *Container
	Env       map[string]string // values may hold the same names as Command
	Unset     []string          // names of variables that must be absent
	// Hidden are the variables in Env whose values must not be shown, and Secrets others by
	// NAME/KEY of a Secret, on Kubernetes only.
	Hidden  []string
	Secrets map[string]string

	Vars   map[string]string // values for ${name} that are known before the start
	Limits experiment.Limits
	// Port is a fixed port on which the unit listens regardless of ${port} and PORT.
	// FindPort makes the platform look for the port on which the unit's processes
	// listen. Without either, the platform assigns a port to each replica. Both need
	// a single replica on platforms where replicas share an address. ${port} and PORT
	// are always set.
	Port     int
	FindPort bool
	Ready    experiment.Ready
	// Serves reports whether a replica serves at its address. It replaces the
	// readiness check by Ready.Path or by a connection; nil: they are used.
	Serves func(ctx context.Context, address string) error
	Logs   string // existing folder for the output of the replicas, one file each
	// LogsRemoved means that the caller removes Logs: errors show the end of the output and
	// name no file.
	LogsRemoved bool
	// Autoscale makes the number of replicas follow their CPU use; nil: the number is
	// fixed. Platforms without autoscaling refuse it in Check.
	Autoscale *experiment.Autoscale

	User *User // account of the processes; nil: RunAs
	// RunAs is who they run as, as in experiment.Service.User; "": the platform's default.
	RunAs string
	// PrivateIPC gives each replica its own shared memory (System V and POSIX), which
	// the kernel removes when its processes have ended, also after a crash. It has no
	// effect where the system does not allow it.
	PrivateIPC bool
	StopSignal syscall.Signal // asks a process to end; 0: TERM
}

// User is an account of the machine.
type User struct {
	Name     string
	UID, GID int
}

// Folder is a folder that was made for units. Remove, the platform's Close or,
// after a crash, Clean removes it.
type Folder interface {
	Path() string
	Remove() error // with its content; it may be called again
}

// Unit is a service or a dependency that was started.
type Unit interface {
	// Replicas are those that the unit was started with.
	Replicas() []Replica
	// Stop ends all replicas (StopSignal, then KILL after StopGrace, or immediately
	// when ctx ends) and removes what was made for them. It may be called again.
	Stop(ctx context.Context) error
}

// Replica is one process or container of a unit. Its address stays the same
// when it is restarted. Several goroutines may call its methods concurrently.
type Replica interface {
	Address() string // host:port
	// Counters reads the running totals. An error means that nothing could be
	// read. Single counters that could not be read are nil.
	Counters() (signals.Counters, error)
	// ThrottleSample reads the few values that a trial samples 100 times a second: whether
	// the replica is up, and its throttling. It takes a few microseconds and does not
	// wait for Counters. Errors are as those of Counters.
	ThrottleSample() (signals.ThrottleSample, error)
	// PIDs are the current processes of the replica, the one that was started first
	// at the head; nil where they are not known.
	PIDs() []int
}

// Agent is an agent's process, reached by a byte stream.
type Agent interface {
	io.ReadWriteCloser
	Counters() (signals.Counters, error)
}
