// Package given is the platform of services that run already: it starts none,
// knows where they listen, and looks at one of their processes where it was told
// which. Agents are processes of this machine, in no group of their own.
package given

import (
	"context"
	"errors"
	"sync"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/signals"
)

// Options are what a run on given services needs.
type Options struct {
	Targets []string          // host:port of each replica
	Agent   string            // path of the agent's program
	Target  *Observed         // what is looked at; nil: nothing. It stands for the first target
	Note    func(line string) // for people: what an agent said on standard error
}

// Name is the platform's word in records.
const Name = "given"

type given struct {
	options Options
	mu      sync.Mutex
	agents  map[*agent]bool
}

// New opens the platform.
func New(o Options) platform.Platform { return &given{options: o, agents: map[*agent]bool{}} }

func (g *given) Name() string                       { return Name }
func (g *given) Check(*experiment.Experiment) error { return nil }

// Start gives the replicas of the targets. They are not asked whether they are
// ready: that they do not answer is something to be seen.
func (g *given) Start(context.Context, platform.Unit) (platform.Running, error) {
	var all running
	for i, address := range g.options.Targets {
		r := &replica{address: address}
		if i == 0 {
			r.observed = g.options.Target
		}
		all = append(all, r)
	}
	return all, nil
}

func (g *given) Agent(_ context.Context, _, index int) (platform.Agent, error) {
	a, err := startAgent(g.options.Agent, index, g.options.Note)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.agents[a] = true
	return a, nil
}

func (g *given) Folder(string, *platform.User) (platform.Folder, error) {
	return nil, errors.New("services that run already keep their files themselves")
}

// Close ends the agents that still run.
func (g *given) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var errs []error
	for a := range g.agents {
		errs = append(errs, a.Close())
	}
	clear(g.agents)
	return errors.Join(errs...)
}

type running []*replica

func (r running) Replicas() []platform.Replica {
	var all []platform.Replica
	for _, one := range r {
		all = append(all, one)
	}
	return all
}

// Stop stops nothing: what was given goes on.
func (r running) Stop(context.Context) error { return nil }

type replica struct {
	address  string
	observed *Observed
}

// errUnseen says why there are no counters.
var errUnseen = errors.New("nothing was said of where the service runs; name its process with --pid or its container with --container")

func (r *replica) Address() string { return r.address }

func (r *replica) Counters() (signals.Counters, error) {
	if r.observed == nil {
		return signals.Counters{}, errUnseen
	}
	return r.observed.Counters()
}

func (r *replica) Pulse() (signals.Pulse, error) {
	if r.observed == nil {
		return signals.Pulse{}, errUnseen
	}
	return r.observed.Pulse()
}

func (r *replica) PIDs() []int {
	if r.observed == nil {
		return nil
	}
	return []int{r.observed.pid}
}
