// Package attached is the platform of services that already run. It knows their
// addresses, and reads the counters of one process if the user named it. It does not
// start, limit or stop services. Agents are processes of this machine without their
// own control group.
package attached

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/meter"
)

// Options describe the services.
type Options struct {
	Targets []string          // host:port of each replica
	Agent   string            // path of the agent's program
	Target  *Observed         // the process of the first target; nil: not known
	Note    func(line string) // receives the standard error of agents
}

// Name is the platform's name in records.
const Name = "given"

type services struct {
	options Options
	mu      sync.Mutex
	agents  map[*agent]bool
}

// New opens the platform.
func New(o Options) platform.Platform { return &services{options: o, agents: map[*agent]bool{}} }

func (s *services) Name() string                       { return Name }
func (s *services) Check(*experiment.Experiment) error { return nil }

// SeesThrottleWindows reports whether the throttling of the targets is sampled.
func (s *services) SeesThrottleWindows() bool { return s.options.Target != nil }

// Start returns the targets as replicas. It does not check whether they are ready: the
// measurement shows whether they answer.
func (s *services) Start(context.Context, platform.UnitSpec) (platform.Unit, error) {
	var all unit
	for i, address := range s.options.Targets {
		r := &replica{address: address}
		if i == 0 {
			r.observed = s.options.Target
		}
		all = append(all, r)
	}
	return all, nil
}

func (s *services) Agent(_ context.Context, _, index int) (platform.Agent, error) {
	a, err := startAgent(s.options.Agent, index, s.options.Note)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[a] = true
	return a, nil
}

func (s *services) Folder(string, *platform.User) (platform.Folder, error) {
	return nil, errors.New("services that already run keep their own files")
}

// Close ends the agents that still run.
func (s *services) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for a := range s.agents {
		errs = append(errs, a.Close())
	}
	clear(s.agents)
	return errors.Join(errs...)
}

type unit []*replica

func (u unit) Replicas() []platform.Replica {
	var all []platform.Replica
	for _, one := range u {
		all = append(all, one)
	}
	return all
}

// Stop does nothing: the service continues to run.
func (u unit) Stop(context.Context) error { return nil }

type replica struct {
	address  string
	observed *Observed
	threads  meter.Threads
}

// errUnseen is the error of replicas without counters.
var errUnseen = errors.New("the process of the service is not known; set --pid or --container")

func (r *replica) Address() string { return r.address }

func (r *replica) Counters() (signals.Counters, error) {
	if r.observed == nil {
		return signals.Counters{}, errUnseen
	}
	c, err := r.observed.Counters()
	if err != nil {
		return c, err
	}
	if r.observed.here() {
		meter.ReadAccepts(&c, r.address)
	}
	c.Threads = r.threads.Read(Family(r.observed.pid))
	return c, nil
}

// ThrottleSample reads the throttling. Of a process that is not known, it is not measured:
// the process counts as up, and the requests show whether it serves.
func (r *replica) ThrottleSample() (signals.ThrottleSample, error) {
	if r.observed == nil {
		return signals.ThrottleSample{At: time.Now(), Up: true}, nil
	}
	return r.observed.ThrottleSample()
}

func (r *replica) PIDs() []int {
	if r.observed == nil {
		return nil
	}
	return []int{r.observed.pid}
}
