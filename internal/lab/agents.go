package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/requests"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/platform"
)

// agents are the processes that send a trial's traffic.
type agents struct {
	running  []*runningAgent
	targets  []string // addresses by the replicas' indexes, as last sent to the agents
	stopping sync.Once
	lost     []loss // agents that failed under load, in that order
	held     []int  // agents that a signal held under load, in that order

	abandoned atomic.Bool // ended before all answers had arrived: the run is interrupted
}

type runningAgent struct {
	process platform.Agent
	client  *agent.Client
	offset  time.Duration // its clock minus the lab's
}

// Time limits of agents.
const (
	// agentsWithin bounds the start of all agents: the machines of a cluster fetch
	// their image first.
	agentsWithin = 10 * time.Minute
	// prepareWithin bounds the preparation of one agent, once it runs.
	prepareWithin = 20 * time.Second
	// preparing is how many agents are prepared concurrently: each receives all bodies.
	preparing = 32
	// grace is how long an agent may be silent beyond an interval before it is stopped.
	grace = 10 * time.Second
)

// startAgents starts the cell's agents, all concurrently.
func (t *trial) startAgents(ctx context.Context) error {
	all := t.agents
	all.targets = addresses(replicas(t.deployment.service))
	number := t.cell.Load.Agents
	ctx, cancel := context.WithTimeoutCause(ctx, agentsWithin, fmt.Errorf("not all of the %d agents ran within %v", number, span.Text(agentsWithin)))
	defer cancel()
	if err := requests.Describe(ctx, &t.cell.Load, all.targets); err != nil {
		return err
	}
	started, turns := make([]*runningAgent, number), make(chan struct{}, preparing)
	var failures failures
	var starting sync.WaitGroup
	for i := range number {
		starting.Go(func() {
			var err error
			if started[i], err = t.startAgent(ctx, i, turns); err != nil {
				failures.add(err)
				cancel() // the errors of the others follow from this one
			}
		})
	}
	starting.Wait()
	for _, a := range started {
		if a != nil {
			all.running = append(all.running, a)
		}
	}
	return failures.first()
}

// startAgent starts one agent; turns bounds how many are prepared concurrently. It may
// return an agent with an error; that agent must be closed.
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
	limited, cancel := context.WithTimeout(ctx, prepareWithin)
	defer cancel()
	// A blocked write to an agent that does not read ends only when the agent is closed.
	defer context.AfterFunc(limited, func() { process.Close() })()
	if _, err := a.client.Prepare(limited, prepare(t.exp, t.cell, t.number, index, t.lab.Seed, t.agents.targets)); err != nil {
		return a, fmt.Errorf("prepare agent %d: %w", index, err)
	}
	return a, nil
}

// lead is the time between the last agent being ready and the begin of the load: enough
// for the command to reach every agent, on this machine through a pipe.
func (all *agents) lead() time.Duration {
	each := time.Duration(len(all.running)) * time.Millisecond
	for _, a := range all.running {
		if _, remote := platform.As[platform.RemoteClock](a.process); remote {
			return 500*time.Millisecond + each
		}
	}
	return 3*time.Millisecond + each
}

// start has all agents start at a time of the lab's clock.
func (all *agents) start(at time.Time) error {
	for _, a := range all.running {
		if err := a.client.Start(at.Add(a.offset)); err != nil {
			return fmt.Errorf("start the agents: %w", err)
		}
	}
	return nil
}

// follow passes an agent's frames to out until the agent is done. A healthy agent sends
// a frame at the end of each interval, regardless of the service; an agent that is
// silent for longer is closed.
func (a *runningAgent) follow(begin time.Time, interval time.Duration, out func(*signals.Frame)) error {
	patience := interval + grace
	ctx, giveUp := context.WithCancelCause(context.Background())
	defer giveUp(nil)
	silent := time.AfterFunc(time.Until(begin)+patience, func() {
		giveUp(a.silence(patience))
		a.process.Close()
	})
	defer silent.Stop()
	_, err := a.client.Follow(ctx, func(f *signals.Frame) error {
		silent.Reset(patience)
		a.toLabClock(f)
		out(f)
		return nil
	})
	return err
}

// silence is why an agent that sent nothing for so long is ended.
func (a *runningAgent) silence(patience time.Duration) error {
	if p, ok := platform.As[platform.StopReporter](a.process); ok && p.Stopped() {
		return fmt.Errorf("it sent nothing for %v and was killed: a signal had stopped its process (SIGSTOP), and none continued it", span.Text(patience))
	}
	return fmt.Errorf("it sent nothing for %v and was stopped: it got almost no CPU; check what else runs on this machine, and whether the agent has a CPU limit", span.Text(patience))
}

// toLabClock converts the time stamps of an agent to the lab's clock.
func (a *runningAgent) toLabClock(f *signals.Frame) {
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

// change sets the load of all agents. An agent that cannot be reached has ended: if it
// is the only one, that is the error; otherwise it is closed, and whoever follows it
// reports its loss.
func (all *agents) change(c protocol.Change) error {
	for i, a := range all.running {
		err := a.client.Change(c)
		if err == nil {
			continue
		}
		if len(all.running) == 1 {
			return fmt.Errorf("set the load of agent %d: %w", i, err)
		}
		a.process.Close()
	}
	return nil
}

// move sends new targets to the agents. Whoever follows an agent that cannot be reached
// reports its loss.
func (all *agents) move(targets []string) {
	for _, a := range all.running {
		_ = a.client.Move(targets)
	}
	all.targets = targets
}

// stop has the agents end their traffic, once. They still await the answers in flight,
// up to the timeout of requests.
func (all *agents) stop() {
	all.stopping.Do(func() {
		for _, a := range all.running {
			if a.client.Stop() != nil {
				a.process.Close() // an agent ends when its input is closed
			}
		}
	})
}

// close ends the agents and their processes.
func (all *agents) close() error {
	var failures failures
	var closing sync.WaitGroup
	for _, a := range all.running {
		closing.Go(func() { failures.add(a.client.Close()) })
	}
	closing.Wait()
	return failures.joined()
}

// sources are the agents as sources of the sampler.
func (all *agents) sources() []*source {
	var sources []*source
	for i, a := range all.running {
		s := &source{index: i, role: roleAgent, read: a.process.Counters}
		if p, ok := platform.As[platform.StopReporter](a.process); ok {
			s.stopped = p.Stopped
		}
		sources = append(sources, s)
	}
	return sources
}

// loss is the failure of an agent under load.
type loss struct {
	agent int
	err   error
}

func (l loss) String() string {
	return fmt.Sprintf("agent %d failed: %s", l.agent, strings.TrimPrefix(l.err.Error(), "agent: "))
}

// lostIndexes are the sorted indexes of the agents that were lost.
func (all *agents) lostIndexes() []int {
	var indexes []int
	for _, l := range all.lost {
		indexes = append(indexes, l.agent)
	}
	slices.Sort(indexes)
	return indexes
}

// allLost is the failure of a trial that lost all of its agents.
func (all *agents) allLost() error {
	if len(all.lost) < len(all.running) {
		return nil
	}
	var errs []error
	for _, l := range all.lost {
		errs = append(errs, errors.New(l.String()))
	}
	return errors.Join(errs...)
}
