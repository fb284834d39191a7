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
	sources  []*source // of the sampler
	noise    analysis.Noise
	stopping sync.Once
}

type runningAgent struct {
	process platform.Agent
	client  *agent.Client
}

// prepareWithin bounds how long an agent may take to make its connections.
const prepareWithin = 20 * time.Second

// lead is the time between the last agent being ready and the load's begin: for
// the command to reach every agent.
const lead = 100 * time.Millisecond

// grace is how much longer than it should an agent may take before it is given
// up.
const grace = 10 * time.Second

// run runs the trial and records its outcome. The error is the tool's own: the
// record could not be written.
func (t *trial) run(ctx context.Context) (record.Outcome, string, error) {
	t.began = time.Now()
	if err := t.mark(record.Started, ""); err != nil {
		return "", "", err
	}
	t.show.stage(Starting, "")
	outcome, why, err := t.conduct(ctx)
	if stopErr := t.stop(); stopErr != nil {
		// What was measured stays true; what was not removed is said.
		t.lab.note("trial %d (%s): stop: %v; `millicore clean` removes what is left", t.number, t.cell.Label(), stopErr)
	}
	if err != nil {
		return "", "", err
	}
	t.show.stage(Stage(outcome), why)
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
	case ctx.Err() != nil:
		return record.Interrupted, "stopped by the user", nil
	case failure != nil:
		return record.Failed, failure.Error(), nil
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
		t.watch(d.Name, roleDependency, running.Replicas())
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
	t.watch(s.Name, roleService, t.services.Replicas())
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
		t.sources = append(t.sources, &source{index: i, role: roleAgent, read: process.Counters})
		patient, cancel := context.WithTimeout(ctx, prepareWithin)
		defer cancel()
		if _, err := a.client.Prepare(patient, prepare(t.lab.Experiment, t.cell, t.number, i, t.lab.Seed, targets)); err != nil {
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
	loaded, over := context.WithCancel(ctx) // ends with the last agent

	var failures failures
	var agents, others sync.WaitGroup
	for i, a := range t.agents {
		agents.Go(func() {
			if err := t.follow(a, begin, frames); err != nil {
				failures.add(fmt.Errorf("agent %d broke off: %w", i, err))
				t.stopAgents() // a part of the load is not the load that was asked for
			}
		})
	}
	others.Go(func() { agents.Wait(); over() })
	others.Go(func() { t.sampler(begin, func(f *signals.Frame) { frames <- f }).run(loadEnd(&agents)) })
	others.Go(func() { failures.add(t.act(loaded, begin)) })
	go func() { others.Wait(); close(frames) }()
	defer context.AfterFunc(ctx, t.stopAgents)()

	for f := range frames {
		// After a failed write the channel is still emptied, so that all ends.
		if err == nil {
			err = t.keep(f)
		}
		if err != nil {
			t.stopAgents()
		}
	}
	return failures.joined(), err
}

// loadEnd gives a channel that is closed when all agents are done.
func loadEnd(agents *sync.WaitGroup) <-chan struct{} {
	end := make(chan struct{})
	go func() { agents.Wait(); close(end) }()
	return end
}

// follow passes on an agent's frames until it is done. A healthy agent sends
// one at the end of each interval, whatever the service does; one that falls
// silent is closed, which ends it.
func (t *trial) follow(a *runningAgent, begin time.Time, frames chan<- *signals.Frame) error {
	patience := t.lab.Experiment.Measure.Interval + grace
	silent := time.AfterFunc(time.Until(begin)+patience, func() { a.process.Close() })
	defer silent.Stop()
	_, err := a.client.Follow(context.Background(), func(f *signals.Frame) error {
		silent.Reset(patience)
		frames <- f
		return nil
	})
	return err
}

// failures gathers what went wrong in several goroutines.
type failures struct {
	mu   sync.Mutex
	errs []error
}

func (f *failures) add(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errs = append(f.errs, err)
}

func (f *failures) joined() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.errs...)
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

// stopAgents tells the agents to end their traffic, once; answers in flight are
// still awaited, up to the requests' timeout.
func (t *trial) stopAgents() {
	t.stopping.Do(func() {
		for _, a := range t.agents {
			// An agent that cannot be told ends when its input is closed.
			if a.client.Stop() != nil {
				a.process.Close()
			}
		}
	})
}

// watch has the sampler read replicas. They are read a first time at once, so
// that one that dies before the load begins is counted.
func (t *trial) watch(of string, r role, replicas []platform.Replica) {
	for i, replica := range replicas {
		s := &source{of: of, index: i, role: r, read: replica.Counters}
		if c, err := s.read(); err == nil {
			s.last, s.known = c, true
		}
		t.sources = append(t.sources, s)
	}
}

func (t *trial) sampler(begin time.Time, out func(*signals.Frame)) *sampler {
	return &sampler{trial: t.number, cell: t.cell.Index, began: begin, sources: t.sources, out: out, cut: cut(t.lab.Experiment, t.cell)}
}

// stop ends all that the trial started, the agents first, then in the reverse
// order of starting. It does so also when the run was interrupted.
func (t *trial) stop() error {
	var errs []error
	for _, a := range t.agents {
		errs = append(errs, a.client.Close()) // closes the process too
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*platform.StopGrace)
	defer cancel()
	for i := len(t.units) - 1; i >= 0; i-- {
		errs = append(errs, t.units[i].Stop(ctx))
	}
	return errors.Join(errs...)
}
