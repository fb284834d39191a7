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
)

// trial is one run of one cell: start, warm up, load, stop.
type trial struct {
	lab     *Lab
	writer  *record.Writer
	exp     *experiment.Experiment
	number  int
	planned attempt
	cell    *experiment.Cell
	profile *profiling // nil: a trial that counts
	show    *teller

	began    time.Time
	units    []platform.Running // in the order in which they were started
	services platform.Running
	deps     map[string]platform.Running
	agents   []*runningAgent
	sources  []*source // of the sampler
	noise    analysis.Noise
	finder   *finder // nil: the load is given
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
	if t.exp.Measure.StaysUp() && err == nil && (outcome == record.Done || outcome == record.Disturbed) {
		t.leave()
	}
	if stopErr := t.stop(); stopErr != nil {
		// What was measured stays true; what was not removed is said.
		t.lab.note("trial %d (%s): stop: %v; `millicore clean --on %s` removes what is left", t.number, t.cell.Label(), stopErr, t.lab.Platform.Name())
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
	measure := t.load
	if t.cell.Load.Benchmark {
		measure = t.benchmark
	}
	failure, err := measure(ctx)
	switch {
	case err != nil:
		return "", "", err
	case ctx.Err() != nil:
		return record.Interrupted, "stopped by the user", nil
	case failure != nil:
		return record.Failed, failure.Error(), nil
	}
	if t.profile != nil {
		return record.Profiled, t.profile.close(), nil
	}
	if t.cell.Load.Find { // the search has met its neighbours itself
		return record.Done, "", nil
	}
	outcome, why := disturbance(&t.noise)
	return outcome, why, nil
}

// start brings up the dependencies, the service and the agents, in that order;
// the first two only where the trial before has not left them.
func (t *trial) start(ctx context.Context) error {
	adopted, err := t.adopt(ctx)
	if err == nil && !adopted {
		err = t.startUnits(ctx)
	}
	if err != nil {
		return err
	}
	if t.exp.Profile {
		t.lab.meet(t.cell.Index, t.services.Replicas()[0])
	}
	return t.startAgents(ctx)
}

func (t *trial) startUnits(ctx context.Context) error {
	logs := filepath.Join(t.lab.Dir, record.LogsDir, fmt.Sprintf("trial-%03d", t.number))
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	vars := map[string]string{}
	t.deps = map[string]platform.Running{}
	for i := range t.cell.Service.Dependencies {
		if err := t.startDependency(ctx, &t.cell.Service.Dependencies[i], vars, logs); err != nil {
			return err
		}
	}
	s := &t.cell.Service
	command, err := t.lab.command(s)
	if err != nil {
		return err
	}
	start := t.unit
	if t.cell.Load.Benchmark {
		start = t.once
	}
	t.services, err = start(ctx, platform.Unit{Trial: t.number, Name: s.Name, Command: command, Image: t.lab.image(s),
		Dir: s.Dir, Env: s.Env, Unset: s.Unset, Vars: vars, Limits: t.cell.Limits, Ready: s.Ready, Logs: logs,
		Port: s.Port, FindPort: s.FindPort})
	if err != nil {
		return err
	}
	t.watch(s.Name, roleService, t.services.Replicas())
	return nil
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
		if _, err := a.client.Prepare(patient, prepare(t.exp, t.cell, t.number, i, t.lab.Seed, targets)); err != nil {
			return fmt.Errorf("prepare agent %d: %w", i, err)
		}
	}
	return nil
}

// stop ends all that the trial started, the agents first, then in the reverse
// order of starting. It does so also when the run was interrupted.
func (t *trial) stop() error {
	var errs []error
	for _, a := range t.agents {
		errs = append(errs, a.client.Close()) // closes the process too
	}
	return errors.Join(append(errs, stop(t.units))...)
}
