package lab

import (
	"context"
	"fmt"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/requests"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/load/protocol"
)

// prepare returns the description of a cell's traffic for an agent.
func prepare(e *experiment.Experiment, c *experiment.Cell, trial, index int, seed uint64, targets []string) protocol.Prepare {
	p := protocol.Prepare{
		Trial: trial, Cell: c.Index, Agent: index, Agents: c.Load.Agents, Targets: targets,
		Requests: requests.Of(&c.Load), Transport: transport(&c.Load),
		Load: protocol.Load{Kind: protocol.Open, Requests: c.Load.Requests, Even: c.Load.Even, Recording: c.Load.Recording,
			Stages: requests.Stages(c.Load.Target(), e.Measure.Measured(c))},
		Think:       protocol.Duration(c.Load.Think),
		Connections: c.Load.Connections, Timeout: protocol.Duration(c.Load.Timeout),
		Warmup: protocol.Duration(cut(e, c).Warmup), Interval: protocol.Duration(e.Measure.Interval),
		Threads: c.Load.Threads,
		Seed:    seed + uint64(trial)<<16, // agents and threads add their own to it
	}
	if c.Load.Session { // each step has its own
		p.Think = 0
	}
	if c.Load.Find {
		p.Load.Stages = requests.OpenEnded(c.Load.Target().Value).Stages
	}
	if e.Measure.Vary > 0 {
		varied, _ := requests.Varied(e, c, c.Load.Rate.Value)
		p.Load.Before = varied.Stages[:len(varied.Stages)-1] // without the end, in which nothing is sent
	}
	if c.Load.Waiting != nil {
		waiting := int(*c.Load.Waiting)
		p.Waiting = &waiting
	}
	p.Load.Kind = kindOf(c)
	return p
}

// transport converts the protocol of a load for an agent.
func transport(l *experiment.Load) protocol.Transport {
	return protocol.Transport{TLS: l.Secure(), HTTP2: l.HTTP2(), Streams: l.Streams,
		Insecure: l.Insecure, CA: l.CA, Identity: l.Identity, Name: l.Name, Tickets: l.Tickets, Sources: l.Sources}
}

// maxBodies is the maximum size of all bodies of a load together: an agent receives
// them in one line.
const maxBodies = 32 << 20

// Check reports requests that no agent could send, before anything is started.
func Check(e *experiment.Experiment) error {
	for i := range e.Cells {
		c := &e.Cells[i]
		if c.Load.Benchmark {
			continue
		}
		all := 0
		for _, r := range requests.Of(&c.Load) {
			if err := agent.CheckRequest(r); err != nil {
				return err
			}
			all += len(r.Body) + len(r.Raw)
		}
		if all > maxBodies {
			return fmt.Errorf("the bodies of cell %s have %d MiB together; the maximum is %d MiB", c.Label(), all>>20, maxBodies>>20)
		}
	}
	return nil
}

// Reach makes and closes a connection to each target, as the agents of the first cell
// would, and learns the schemas of the load's calls. A service that is not there, or does
// not speak the protocol of the load, is an error; one that does not answer in time is
// not, because a trial measures that.
func Reach(e *experiment.Experiment, targets []string) error {
	p := prepare(e, &e.Cells[0], 0, 0, 0, targets)
	p.Load.Recording = nil
	for i := range p.Requests {
		p.Requests[i].Call = nil // a connection needs no schema
	}
	if err := agent.Reach(&p); err != nil {
		return err
	}
	if err := requests.Describe(context.Background(), &e.Cells[0].Load, targets); err != nil {
		return err
	}
	return Check(e)
}

func kindOf(c *experiment.Cell) protocol.Kind {
	if c.Load.Users != nil {
		return protocol.Closed
	}
	return protocol.Open
}

// cut divides the cell's trials into intervals. A load of a number of requests has no
// warm-up: every request counts, as with hey's -n.
func cut(e *experiment.Experiment, c *experiment.Cell) signals.Intervals {
	if c.Load.Requests > 0 {
		return signals.Intervals{Every: e.Measure.Interval}
	}
	return signals.Intervals{Warmup: e.Measure.Warmup, Measure: e.Measure.Measured(c), Every: e.Measure.Interval}
}
