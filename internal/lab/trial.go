package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/record"
	"github.com/millicore/millicore/internal/signals"
)

// trial is one run of one cell: start, warm up, load, stop.
type trial struct {
	lab     *Lab
	writer  *record.Writer
	number  int
	planned attempt
	cell    *experiment.Cell
	show    *teller

	began    time.Time
	units    []platform.Running // in the order in which they were started
	services platform.Running
	deps     map[string]platform.Running
	agents   []*runningAgent
	noise    analysis.Noise
}

type runningAgent struct {
	process platform.Agent
	client  *agent.Client
}

// lead is the time between the last agent being ready and the load's begin: for
// the command to reach every agent.
const lead = 100 * time.Millisecond

// grace is how much longer than it should an agent may take.
const grace = 10 * time.Second

// run runs the trial and records its outcome. The error is the tool's own: the
// record could not be written.
func (t *trial) run(ctx context.Context) (record.Outcome, string, error) {
	t.began = time.Now()
	if err := t.mark(record.Started, ""); err != nil {
		return "", "", err
	}
	t.show.stage("starting", "")
	outcome, why, err := t.conduct(ctx)
	if stopErr := t.stop(); stopErr != nil && outcome == record.Done {
		outcome, why = record.Failed, stopErr.Error()
	}
	if err != nil {
		return "", "", err
	}
	stage := "done"
	if outcome != record.Done {
		stage = string(outcome)
	}
	t.show.stage(stage, why)
	return outcome, why, t.mark(outcome, why)
}

func (t *trial) mark(o record.Outcome, why string) error {
	return t.writer.Trial(record.Trial{Trial: t.number, Cell: t.planned.Cell, Repeat: t.planned.Repeat,
		Attempt: t.planned.attempt, Outcome: o, Why: why, At: time.Now().UnixNano()})
}

func (t *trial) conduct(ctx context.Context) (record.Outcome, string, error) {
	if err := t.start(ctx); err != nil {
		if ctx.Err() != nil {
			return record.Interrupted, "stopped while starting", nil
		}
		return record.Failed, err.Error(), nil
	}
	failure, err := t.load(ctx)
	switch {
	case err != nil:
		return "", "", err
	case failure != nil:
		return record.Failed, failure.Error(), nil
	case ctx.Err() != nil:
		return record.Interrupted, "stopped by the user", nil
	}
	outcome, why := disturbance(&t.noise)
	return outcome, why, nil
}

// start brings up the dependencies, the service and the agents, in that order.
func (t *trial) start(ctx context.Context) error {
	logs := filepath.Join(t.lab.Dir, record.LogsDir, fmt.Sprintf("trial-%03d", t.number))
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	vars := map[string]string{}
	t.deps = map[string]platform.Running{}
	for _, d := range t.cell.Service.Dependencies {
		if d.URL != "" {
			vars[d.Name+".url"] = d.URL
			continue
		}
		running, err := t.unit(ctx, platform.Unit{Trial: t.number, Name: d.Name, Command: d.Command, Image: d.Image,
			Dir: d.Dir, Env: d.Env, Unset: d.Unset, Vars: vars, Limits: d.Limits, Ready: d.Ready, Logs: logs})
		if err != nil {
			return err
		}
		t.deps[d.Name] = running
		addVars(vars, d.Name, running.Replicas()[0].Address())
	}
	s := &t.cell.Service
	command, err := t.lab.Programs.command(s)
	if err != nil {
		return err
	}
	t.services, err = t.unit(ctx, platform.Unit{Trial: t.number, Name: s.Name, Command: command, Image: s.Image,
		Dir: s.Dir, Env: s.Env, Unset: s.Unset, Vars: vars, Limits: t.cell.Limits, Ready: s.Ready, Logs: logs})
	if err != nil {
		return err
	}
	return t.startAgents(ctx)
}

func (t *trial) unit(ctx context.Context, u platform.Unit) (platform.Running, error) {
	running, err := t.lab.Platform.Start(ctx, u)
	if err != nil {
		return nil, err
	}
	t.units = append(t.units, running)
	return running, nil
}

func (t *trial) startAgents(ctx context.Context) error {
	var targets []string
	for _, r := range t.services.Replicas() {
		targets = append(targets, r.Address())
	}
	for i := range t.cell.Load.Agents {
		process, err := t.lab.Platform.Agent(ctx, t.number, i)
		if err != nil {
			return err
		}
		a := &runningAgent{process: process, client: agent.NewClient(process)}
		t.agents = append(t.agents, a)
		if _, err := a.client.Prepare(ctx, prepare(t.lab.Experiment, t.cell, t.number, i, t.lab.Seed, targets)); err != nil {
			return fmt.Errorf("prepare agent %d: %w", i, err)
		}
	}
	return nil
}

// load runs the traffic to its end, or to ctx's. The first error is a failure
// of the trial, the second one of the tool.
func (t *trial) load(ctx context.Context) (failure, err error) {
	begin := time.Now().Add(lead)
	for _, a := range t.agents {
		if err := a.client.Start(begin); err != nil {
			return fmt.Errorf("start the agents: %w", err), nil
		}
	}
	frames := make(chan *signals.Frame, 64)
	failed := make(chan error, len(t.agents))
	over := make(chan struct{}) // closed when the last agent is done

	var agents sync.WaitGroup
	for i, a := range t.agents {
		agents.Go(func() {
			// It ends with the agent: told to stop by stopAgents, or closed.
			_, err := a.client.Follow(context.Background(), func(f *signals.Frame) error { frames <- f; return nil })
			if err != nil {
				failed <- fmt.Errorf("agent %d broke off: %w", i, err)
			}
		})
	}
	go func() { agents.Wait(); close(over) }()

	sampled := make(chan struct{})
	go func() {
		defer close(sampled)
		t.sampler(begin, func(f *signals.Frame) { frames <- f }).run(over)
	}()
	acted := t.act(ctx, begin, over)
	go func() { <-over; <-sampled; close(frames) }()
	defer context.AfterFunc(ctx, t.stopAgents)()
	defer time.AfterFunc(time.Until(begin.Add(t.patience())), t.closeAgents).Stop()

	for f := range frames {
		// After a failed write the channel is still emptied, so that all ends.
		if err == nil {
			err = t.keep(f)
		}
		if err != nil {
			t.stopAgents()
		}
	}
	<-acted
	select {
	case failure = <-failed:
	default:
	}
	return failure, err
}

// keep takes a frame into the record; the host's half ends an interval and
// brings it to the disk.
func (t *trial) keep(f *signals.Frame) error {
	t.noise.Add(f)
	t.show.frame(f, t.cell.Service.Name)
	if err := t.writer.Frame(f); err != nil {
		return err
	}
	if f.Client != nil || f.Host != nil {
		return t.writer.Sync()
	}
	return nil
}

// stopAgents tells the agents to end their traffic; answers in flight are still
// awaited, up to the requests' timeout.
func (t *trial) stopAgents() {
	for _, a := range t.agents {
		// An agent that cannot be told ends when its input is closed.
		if a.client.Stop() != nil {
			a.process.Close()
		}
	}
	time.AfterFunc(t.cell.Load.Timeout+grace, t.closeAgents)
}

func (t *trial) closeAgents() {
	for _, a := range t.agents {
		a.process.Close()
	}
}

// patience is how long an agent may take from the load's begin before it is
// closed: its work, what may still be in flight, and a grace. A number of
// requests takes as long as the service does; its end is the user's to choose.
func (t *trial) patience() time.Duration {
	c := cut(t.lab.Experiment, t.cell)
	if c.Measure == 0 {
		return 24 * time.Hour
	}
	return c.Warmup + c.Measure + 2*t.cell.Load.Timeout + grace
}

func (t *trial) sampler(begin time.Time, out func(*signals.Frame)) *sampler {
	s := &sampler{trial: t.number, cell: t.cell.Index, began: begin, out: out, cut: cut(t.lab.Experiment, t.cell)}
	s.watch(t.cell.Service.Name, roleService, t.services.Replicas())
	for name, d := range t.deps {
		s.watch(name, roleDependency, d.Replicas())
	}
	for i, a := range t.agents {
		s.watchAgent(i, a.process)
	}
	return s
}

// stop ends all that the trial started, the agents first, then in the reverse
// order of starting. It does so also when the run was interrupted.
func (t *trial) stop() error {
	var errs []error
	for _, a := range t.agents {
		errs = append(errs, a.process.Close())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*platform.StopGrace)
	defer cancel()
	for i := len(t.units) - 1; i >= 0; i-- {
		errs = append(errs, t.units[i].Stop(ctx))
	}
	return errors.Join(errs...)
}
