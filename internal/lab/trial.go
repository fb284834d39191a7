package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/experiment"
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
	units    []platform.Unit // in the order in which they were started
	services platform.Unit
	deps     map[string]platform.Unit
	agents   []*runningAgent
	targets  []string  // that the agents were told of, by the replicas' indexes
	sources  []*source // of the sampler
	noise    disturbance.Noise
	finder   *finder // nil: the load is given
	lost     []loss  // agents that broke off under load, in that order
	stopping sync.Once
}

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
		Attempt: t.planned.attempt, Outcome: o, Why: why, At: time.Now().UnixNano(), LostAgents: t.lostAgents()})
}

func (t *trial) conduct(ctx context.Context) (record.Outcome, string, error) {
	if err := t.start(ctx); err != nil {
		if ctx.Err() != nil {
			return record.Interrupted, "stopped while starting", nil
		}
		if errors.Is(err, platform.ErrEvicted) {
			return record.Interrupted, err.Error(), nil
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
		return record.Interrupted, stopped(ctx), nil
	}
	if why := t.evicted(); why != "" {
		return record.Interrupted, why, nil
	}
	if failure != nil {
		return record.Failed, failure.Error(), nil
	}
	if t.profile != nil {
		return record.Profiled, t.profile.close(), nil
	}
	if t.cell.Load.Find { // the search has met its neighbours itself
		return record.Done, "", nil
	}
	outcome, why := disturbedBy(&t.noise)
	return outcome, why, nil
}

// Stopped is the cause of a context that ends a run, in words for its record.
// Other causes are the user's doing.
type Stopped string

func (s Stopped) Error() string { return string(s) }

func stopped(ctx context.Context) string {
	if why, ok := errors.AsType[Stopped](context.Cause(ctx)); ok {
		return string(why)
	}
	return "stopped by the user"
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
	t.deps = map[string]platform.Unit{}
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
	ready := s.Ready
	ready.Protocol = t.cell.Load.Protocol
	t.services, err = start(ctx, platform.UnitSpec{Trial: t.number, Name: s.Name, Command: command, Image: t.lab.image(s),
		Dir: s.Dir, Env: s.Env, Unset: s.Unset, Vars: withLimits(vars, t.cell.Limits), Limits: t.cell.Limits, Ready: ready, Logs: logs,
		Port: s.Port, FindPort: s.FindPort, Autoscale: s.Autoscale})
	if err != nil {
		return err
	}
	t.watch(s.Name, roleService, replicas(t.services))
	return nil
}

func (t *trial) unit(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	running, err := t.lab.Platform.Start(ctx, u)
	if err != nil {
		return nil, err
	}
	t.units = append(t.units, running)
	return running, nil
}

// stop ends all that the trial started, the agents first, then in the reverse
// order of starting. It does so also when the run was interrupted.
func (t *trial) stop() error {
	return errors.Join(t.closeAgents(), stop(t.units))
}
