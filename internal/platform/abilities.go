package platform

import (
	"context"
	"errors"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// The abilities that only some platforms have. Ask for one with As, never with a
// type assertion, which a wrapper would hide it from.
//
//	ability             of        implemented by             used by
//	ImageRunner         Platform  docker, kubernetes         lab, database: images instead of commands
//	ImageDescriber      Platform  docker                     try: what an image says of itself
//	JobStarter          Platform  local                      lab: benchmarks
//	ThrottleVisibility  Platform  kubernetes                 lab: whether throttle windows are measured
//	MachineSampler      Platform  kubernetes                 lab: CPU use of the nodes
//	Resizer             Unit      local, docker, kubernetes  lab: measure.resize
//	Autoscaled          Unit      kubernetes                 lab: autoscale
//	EvictionReporter    Unit      kubernetes, database       lab: repeats a trial after an eviction
//	WarmUpReporter      Unit      try                        lab: the warm-up before the load
//	StartReporter       Unit      try                        lab: the start before the warm-up
//	Job                 Replica   local                      lab: benchmarks
//	LimitVerifier       Replica   local, docker, kubernetes  lab: trials whose limits did not hold
//	EndReporter         Replica   local, docker              try: why a server died that served
//	LogBounder          Replica   local, docker              lab: how much of the output was dropped
//	MachineNamer        Replica   kubernetes                 lab: which node a frame belongs to
//	WindowSource        Replica   kubernetes                 lab: windows that a node agent measured
//	StopReporter        Agent     local, docker              lab: agents that a signal stopped
//	RemoteClock         Agent     kubernetes                 lab: time stamps of agents on other machines

// As returns v, or the first value that v wraps, that has the ability T. W is
// Platform, Unit, Replica or Agent: the static type of v. A wrapper has the method
// Unwrap() W. A wrapper that changes the results of an ability implements that
// ability itself.
func As[T, W any](v W) (ability T, ok bool) {
	for {
		if ability, ok = any(v).(T); ok {
			return ability, true
		}
		wrapper, wraps := any(v).(interface{ Unwrap() W })
		if !wraps {
			return ability, false
		}
		v = wrapper.Unwrap()
	}
}

// ImageRunner is a Platform that runs images only. The sample services and the
// built-in databases are images there too.
type ImageRunner interface {
	Platform
	// Workload returns the image of a sample service and its arguments, which may
	// hold ${host} and ${port}. The error names what is missing, and how to make it.
	Workload(ctx context.Context, name string) (image string, arguments []string, err error)
	// Fetch makes an image available before a unit is started from it, and returns
	// its digest, or the most precise identification that is known.
	Fetch(ctx context.Context, image string) (digest string, err error)
	// Versions are the versions of the software that runs containers, by name.
	Versions() map[string]string
}

// ImageDescriber is an ImageRunner that knows what an image says of itself.
type ImageDescriber interface {
	// Describe describes an image that Fetch made available.
	Describe(ctx context.Context, image string) (ImageInfo, error)
}

// ImageInfo is what an image says of itself.
type ImageInfo struct {
	Entrypoint []string `json:"entrypoint,omitempty"`
	Args       []string `json:"args,omitempty"`          // its CMD
	Ports      []int    `json:"exposed,omitempty"`       // TCP ports that it EXPOSEs, rising
	Port       int      `json:"port_variable,omitempty"` // the number in its variable PORT
	User       string   `json:"user,omitempty"`          // "": root
	Dir        string   `json:"dir,omitempty"`
	// Health is the program of its HEALTHCHECK, with the arguments, and HealthTimeout how
	// long it may run; 0: Docker's default.
	Health        []string      `json:"healthcheck,omitempty"`
	HealthTimeout time.Duration `json:"-"`
	// System is the operating system and the architecture that it is for: "linux/amd64".
	System string `json:"system"`
}

// JobStarter is a Platform that can start a program which ends by itself.
type JobStarter interface {
	// StartOnce starts the single replica of a unit and returns when its process
	// runs. It does not wait for readiness and does not restart the process. The
	// replica is a Job. Otherwise it is like Start.
	StartOnce(ctx context.Context, u UnitSpec) (Unit, error)
}

// Job is a Replica whose process ends by itself.
type Job interface {
	Replica
	// Ended is closed when the process has ended.
	Ended() <-chan struct{}
	// Failure describes how the process ended, once it has; "" is exit status 0.
	Failure() string
	// Output is the path of the file with the process's standard output.
	Output() string
}

// LimitVerifier is a Replica that can verify its limits while it runs.
type LimitVerifier interface {
	// LimitBroken describes how a process of the replica escaped its limits, or which
	// limit is not the one that was set last, as in "process 7 (app) left its control
	// group"; "" if all hold, or that cannot be seen. It is called at the end of each
	// interval.
	LimitBroken() string
}

// EndReporter is a Replica that knows how its process ended, although it was restarted.
type EndReporter interface {
	// LastEnd describes the last end of the process since it was ready, as in "it ended with
	// exit status 9", and the end of its output, to follow it; "" if it has not ended.
	LastEnd() (how, output string)
}

// LogBounder is a Replica whose log is bounded.
type LogBounder interface {
	// LogDropped is how many bytes of its output are not in its log.
	LogDropped() int64
}

// ThrottleVisibility is a Platform that may know only that replicas were
// throttled, and not when. A Platform without this method always knows when.
type ThrottleVisibility interface {
	// SeesThrottleWindows reports whether the samples of replicas have their
	// throttling, or the replicas are a WindowSource. It is called before the first
	// unit is started.
	SeesThrottleWindows() bool
}

// MachineSampler is a Platform whose units run on other machines than the lab,
// and that may measure those machines.
type MachineSampler interface {
	// Machines returns a sample of each machine that runs a unit, over the time since
	// the last call. It is empty where machines are not measured, or no newer sample
	// exists. Only one goroutine may call it at a time.
	Machines() []Machine
}

// Machine is the CPU use of one machine over a time, on the lab's clock.
type Machine struct {
	Name       string
	Start, End time.Time
	Host       signals.Host
}

// MachineNamer is a Replica that runs on a machine which a MachineSampler samples.
type MachineNamer interface {
	Machine() string // its name
}

// WindowSource is a Replica whose windows are measured near it, by a node agent,
// and not rebuilt from its samples.
type WindowSource interface {
	// Windows returns the windows that have ended since the last call, on this
	// machine's clock. The caller fills in Trial, Cell, Of and Index.
	Windows() []signals.Window
}

// Resizer is a Unit whose limits can be changed while it runs.
type Resizer interface {
	// Resize changes the limits of every replica without a restart. The number of
	// replicas and their CPU set stay. After an error some replicas may have the old
	// limits and some the new ones: stop the unit.
	Resize(ctx context.Context, l experiment.Limits) error
}

// Autoscaled is a Unit whose number of replicas changes while it runs.
type Autoscaled interface {
	// CurrentReplicas returns every replica so far, by index: first those of Replicas,
	// then later ones in the order in which they became ready. A replica that has
	// ended, or is about to end, is nil. Several goroutines call it often; it answers
	// from memory.
	CurrentReplicas() []Replica
}

// EvictionReporter is a Unit whose replicas may be removed permanently: evicted,
// deleted by somebody else, or lost with their machine.
type EvictionReporter interface {
	// Evicted describes which replica was removed, and why; "" while all exist. It is
	// called often and answers from memory.
	Evicted() string
}

// WarmUpReporter is a Unit that was warmed up before it counted as started.
type WarmUpReporter interface {
	// WarmUps are the warm-ups of its replicas, in their order.
	WarmUps() []signals.WarmUp
}

// StartReporter is a Unit that did more than to start before it counted as started.
type StartReporter interface {
	// Starts are the starts of its replicas, in their order.
	Starts() []signals.Start
}

// Evicted describes the first eviction that any of the units reports; "": none.
func Evicted(units []Unit) string {
	for _, u := range units {
		if e, ok := As[EvictionReporter](u); ok {
			if why := e.Evicted(); why != "" {
				return why
			}
		}
	}
	return ""
}

// ErrEvicted is in the error of a start that failed because a replica was evicted.
// The unit did not cause the failure.
var ErrEvicted = errors.New("evicted by the cluster")

// StopReporter is an Agent whose process can be seen.
type StopReporter interface {
	// Stopped reports whether a signal, such as SIGSTOP, holds the process.
	Stopped() bool
}

// RemoteClock is an Agent on another machine, whose clock is not the lab's.
type RemoteClock interface {
	// Offset is the agent's wall clock minus the lab's.
	Offset() time.Duration
}
