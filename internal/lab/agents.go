package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/signals"
)

type runningAgent struct {
	process platform.Agent
	client  *agent.Client
	offset  time.Duration // what its clock stands ahead of the lab's
}

// Bounds on patience with agents.
const (
	// agentsWithin bounds how long the platform may take for all of them: the
	// machines of a cluster fetch their image first.
	agentsWithin = 10 * time.Minute
	// prepareWithin bounds how long one may take to make its connections, once it
	// runs.
	prepareWithin = 20 * time.Second
	// preparing is how many are told at once what to do: each is sent all bodies.
	preparing = 32
)

// startAgents brings up the cell's agents, all at once.
func (t *trial) startAgents(ctx context.Context) error {
	t.targets = addresses(replicas(t.services))
	number := t.cell.Load.Agents
	ctx, cancel := context.WithTimeoutCause(ctx, agentsWithin, fmt.Errorf("not all of the %d agents ran within %v", number, agentsWithin))
	defer cancel()
	agents, turns := make([]*runningAgent, number), make(chan struct{}, preparing)
	var failures failures
	var starting sync.WaitGroup
	for i := range number {
		starting.Go(func() {
			var err error
			if agents[i], err = t.startAgent(ctx, i, turns); err != nil {
				failures.add(err)
				cancel() // those who still wait fail for it, and tell nothing new
			}
		})
	}
	starting.Wait()
	for i, a := range agents {
		if a != nil {
			t.agents = append(t.agents, a)
			t.sources = append(t.sources, &source{index: i, role: roleAgent, read: a.process.Counters})
		}
	}
	return failures.first()
}

// startAgent brings up one agent; turns bounds how many are prepared at a time.
// It may give an agent beside an error, to be closed.
func (t *trial) startAgent(ctx context.Context, index int, turns chan struct{}) (*runningAgent, error) {
	process, err := t.lab.Platform.Agent(ctx, t.number, index)
	if err != nil {
		return nil, err
	}
	a := &runningAgent{process: process, client: agent.NewClient(process)}
	if c, ok := platform.As[platform.RemoteClock](process); ok {
		a.offset = c.Offset()
	}
	turns <- struct{}{}
	defer func() { <-turns }()
	patient, cancel := context.WithTimeout(ctx, prepareWithin)
	defer cancel()
	// One that does not read what it is told, as large as that may be, is closed.
	defer context.AfterFunc(patient, func() { process.Close() })()
	if _, err := a.client.Prepare(patient, prepare(t.exp, t.cell, t.number, index, t.lab.Seed, t.targets)); err != nil {
		return a, fmt.Errorf("prepare agent %d: %w", index, err)
	}
	return a, nil
}

// lead is the time between the last agent being ready and the load's begin: for
// the command to reach every agent.
func (t *trial) lead() time.Duration {
	for _, a := range t.agents {
		if _, far := platform.As[platform.RemoteClock](a.process); far {
			return 500*time.Millisecond + time.Duration(len(t.agents))*time.Millisecond
		}
	}
	return 100 * time.Millisecond
}

// start has the agent begin at a moment of the lab's clock.
func (a *runningAgent) start(at time.Time) error { return a.client.Start(at.Add(a.offset)) }

// toOurs puts all that an agent stamped on the lab's clock.
func (a *runningAgent) toOurs(f *signals.Frame) {
	off := a.offset.Nanoseconds()
	if off == 0 {
		return
	}
	f.Start, f.End = f.Start-off, f.End-off
	if f.Client == nil {
		return
	}
	for i := range f.Client.Slow {
		s := &f.Client.Slow[i]
		s.Intended, s.Sent, s.Done = s.Intended-off, s.Sent-off, s.Done-off
	}
}

// closeAgents ends the agents, their processes too.
func (t *trial) closeAgents() error {
	var failures failures
	var closing sync.WaitGroup
	for _, a := range t.agents {
		closing.Go(func() { failures.add(a.client.Close()) })
	}
	closing.Wait()
	return failures.joined()
}

// loss is an agent that broke off in the middle of the load.
type loss struct {
	agent int
	err   error
}

func (l loss) String() string { return fmt.Sprintf("agent %d broke off: %v", l.agent, l.err) }

// lose notes the loss of an agent. The others go on: what they see stays true,
// though of less load than was asked for. A search ends with it, as from now on
// its loads are not those that it names.
func (t *trial) lose(l loss) error {
	t.lost = append(t.lost, l)
	if len(t.agents) == 1 {
		return nil // a failure of the trial, as allLost says
	}
	t.lab.note("trial %d (%s): %v; the other agents go on, with less load than was asked for", t.number, t.cell.Label(), l)
	if t.finder == nil {
		return nil
	}
	err := t.finder.lose(l.String())
	t.searched()
	return err
}

// lostAgents are the indexes of the agents that were lost, in their order.
func (t *trial) lostAgents() []int {
	var all []int
	for _, l := range t.lost {
		all = append(all, l.agent)
	}
	slices.Sort(all)
	return all
}

// allLost is the failure of a trial of which no agent is left.
func (t *trial) allLost() error {
	if len(t.lost) < len(t.agents) {
		return nil
	}
	var all []error
	for _, l := range t.lost {
		all = append(all, errors.New(l.String()))
	}
	return errors.Join(all...)
}
