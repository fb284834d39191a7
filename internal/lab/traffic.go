package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/serviceclient"
	"github.com/millicore/millicore/internal/signals"
)

// prepare says to an agent what the experiment asks of a cell.
func prepare(e *experiment.Experiment, c *experiment.Cell, trial, index int, seed uint64, targets []string) protocol.Prepare {
	p := protocol.Prepare{
		Trial: trial, Cell: c.Index, Agent: index, Agents: c.Load.Agents, Targets: targets,
		Requests: requests(&c.Load), Transport: transport(&c.Load),
		Load: protocol.Load{Kind: protocol.Open, Requests: c.Load.Requests, Even: c.Load.Even,
			Stages: stages(c.Load.Target(), e.Measure.Measured(c))},
		Think:       protocol.Duration(c.Load.Think),
		Connections: c.Load.Connections, Timeout: protocol.Duration(c.Load.Timeout),
		Warmup: protocol.Duration(cut(e, c).Warmup), Interval: protocol.Duration(e.Measure.Interval),
		Threads: c.Load.Threads,
		Seed:    seed + uint64(trial)<<16, // agents and threads add their own to it
	}
	if c.Load.Find {
		p.Load.Stages = openEnded(c.Load.Target().Value).Stages
	}
	if c.Load.Waiting != nil {
		waiting := int(*c.Load.Waiting)
		p.Waiting = &waiting
	}
	p.Load.Kind = kindOf(c)
	return p
}

// requests are what a load sends, in the agent's words.
func requests(l *experiment.Load) []protocol.Request {
	var all []protocol.Request
	for _, r := range l.Asked() {
		one := protocol.Request{Weight: r.Weight, Method: r.Method, Path: r.Path,
			Headers: r.Headers, Body: r.Body, Raw: r.Supplies.Body}
		if r.Supplies.Authorization != "" {
			one.Headers = maps.Clone(r.Headers)
			if one.Headers == nil {
				one.Headers = map[string]string{}
			}
			// Letters, whatever braces are in it.
			one.Headers["Authorization"] = strings.ReplaceAll(r.Supplies.Authorization, "{{", `{{"{{"}}`)
		}
		if r.Check != nil {
			one.Check = &protocol.Check{Status: r.Check.Status, Contains: r.Check.Contains}
		}
		all = append(all, one)
	}
	return all
}

// transport is how requests travel, in the agent's words.
func transport(l *experiment.Load) protocol.Transport {
	return protocol.Transport{
		TLS:      l.Protocol == "https" || l.Protocol == "h2",
		HTTP2:    l.Protocol == "h2" || l.Protocol == "h2c",
		Insecure: l.Insecure,
	}
}

// mostBodies is what the bodies of a load may have together: an agent is told of
// them in one line.
const mostBodies = 32 << 20

// Check finds what no agent could send, before anything is started.
func Check(e *experiment.Experiment) error {
	for i := range e.Cells {
		c := &e.Cells[i]
		if c.Load.Benchmark {
			continue
		}
		all := 0
		for _, r := range requests(&c.Load) {
			if err := agent.CheckRequest(r); err != nil {
				return err
			}
			all += len(r.Body) + len(r.Raw)
		}
		if all > mostBodies {
			return fmt.Errorf("the bodies of cell %s have %d MiB together, more than %d", c.Label(), all>>20, mostBodies>>20)
		}
	}
	return nil
}

func kindOf(c *experiment.Cell) protocol.Kind {
	if c.Load.Users != nil {
		return protocol.Closed
	}
	return protocol.Open
}

// openEnded is a load that is held until another takes its place: while the
// breaking point is searched nobody knows for how long.
func openEnded(load float64) protocol.Load {
	return protocol.Load{Stages: []protocol.Stage{{Duration: protocol.Duration(24 * time.Hour), From: load, To: load}}}
}

// stages puts a target over time as the agent wants it.
func stages(t *experiment.Target, measured time.Duration) []protocol.Stage {
	if len(t.Stages) == 0 {
		return []protocol.Stage{{Duration: protocol.Duration(measured), From: t.Value, To: t.Value}}
	}
	var all []protocol.Stage
	from := 0.0
	for _, s := range t.Stages {
		if s.Duration > 0 {
			all = append(all, protocol.Stage{Duration: protocol.Duration(s.Duration), From: from, To: s.Target})
		}
		from = s.Target
	}
	return all
}

// cut is how the cell's trials are cut into intervals. A number of requests has
// no warm-up: every request counts, as with hey's -n.
func cut(e *experiment.Experiment, c *experiment.Cell) signals.Intervals {
	if c.Load.Requests > 0 {
		return signals.Intervals{Every: e.Measure.Interval}
	}
	return signals.Intervals{Warmup: e.Measure.Warmup, Measure: e.Measure.Measured(c), Every: e.Measure.Interval}
}

// addVars tells a service where its dependency listens.
func addVars(vars map[string]string, name, address string) {
	vars[name+".address"] = address
	if host, port, err := net.SplitHostPort(address); err == nil {
		vars[name+".host"], vars[name+".port"] = host, port
	}
}

// withLimits are vars and what stands for a unit's own limits.
func withLimits(vars map[string]string, l experiment.Limits) map[string]string {
	all := experiment.LimitVars(l)
	maps.Copy(all, vars)
	return all
}

// act sends the service's actions when they are due, to all replicas at once,
// until ctx ends with the traffic. An action that the service did not take is a
// failure: what was measured is not what was asked for.
func (t *trial) act(ctx context.Context, begin time.Time) error {
	start := begin.Add(cut(t.exp, t.cell).Warmup)
	for _, a := range t.cell.Service.Actions {
		select {
		case <-time.After(time.Until(start.Add(a.At))):
		case <-ctx.Done():
			return nil
		}
		var failures failures
		var sent sync.WaitGroup
		for _, r := range serving(t.services) {
			sent.Go(func() { failures.add(send(ctx, t.cell.Load.Protocol, r.Address(), a.Request, t.cell.Load.Timeout)) })
		}
		sent.Wait()
		if err := failures.joined(); err != nil {
			return fmt.Errorf("action %s %s at %v: %w", a.Request.Method, a.Request.Path, a.At, err)
		}
	}
	return nil
}

// send sends one request of the lab's own, apart from the agents' traffic.
func send(ctx context.Context, protocol, address string, r experiment.Request, timeout time.Duration) error {
	// The service may be overloaded on purpose; an action waits longer than a user.
	ctx, cancel := context.WithTimeout(ctx, max(10*time.Second, timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.Method, serviceclient.URL(protocol, address, r.Path), strings.NewReader(r.Body))
	if err != nil {
		return err
	}
	for k, v := range r.Headers {
		req.Header.Set(k, v)
	}
	answer, err := serviceclient.Client(protocol, 0).Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		err = errors.Join(err, fmt.Errorf("the service answered %s", answer.Status))
	}
	return errors.Join(err, answer.Body.Close())
}
