package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/wording"
	"github.com/millicore/millicore/internal/platform"
)

// trial is one run of one cell: start, warm up, load, stop. What it starts is in its
// deployment and its agents, what it measures goes to its recorder.
type trial struct {
	lab      *Lab
	writer   *record.Writer
	exp      *experiment.Experiment
	number   int
	planned  attempt
	cell     *experiment.Cell
	profile  *profiling // nil: a trial that counts
	progress *reporter

	began      time.Time
	deployment *deployment
	agents     *agents
	recorder   *recorder
	violation  violation
	neighbours *neighbours      // nil: unknown, or not read yet
	repeats    bool             // it is repeated if it is disturbed
	dropped    int64            // bytes of output that the bounded logs do not have
	users      map[string]int   // as in record.Trial
	warmUps    []signals.WarmUp // before the load; nil: none
	starts     []signals.Start  // of the service; nil: it ran already
}

// newTrial returns a trial of the planned cell. The caller sets progress.
func newTrial(l *Lab, w *record.Writer, planned attempt, number int) *trial {
	return &trial{lab: l, writer: w, exp: l.Experiment, number: number, planned: planned, cell: &l.Experiment.Cells[planned.Cell]}
}

// run runs the trial and records its outcome. The error is Millicore's own: the
// record could not be written.
func (t *trial) run(ctx context.Context) (record.Outcome, string, error) {
	t.began = time.Now()
	t.deployment, t.agents = &deployment{lab: t.lab}, &agents{}
	t.recorder = &recorder{writer: t.writer, service: t.cell.Service.Name, progress: t.progress, agents: t.agents, note: t.note}
	if t.repeats && t.profile == nil && !t.cell.Load.Find {
		t.recorder.repeat = cut(t.exp, t.cell).Measure
	}
	if err := t.mark(record.Started, ""); err != nil {
		return "", "", err
	}
	t.progress.state(Starting, "")
	outcome, why, err := t.conduct(ctx)
	why = t.lab.hide(why)
	units, users := t.deployment.units, t.deployment.users
	if t.exp.Measure.StaysUp() && err == nil && (outcome == record.Done || outcome == record.Disturbed) {
		t.lab.kept, t.deployment = t.deployment, &deployment{lab: t.lab}
	}
	if stopErr := t.stop(); stopErr != nil {
		// The measurement is valid nevertheless.
		t.note("stop: %v%s", stopErr, platform.Cleaning(t.lab.Platform.Name()))
	}
	if err != nil {
		return "", "", err
	}
	t.dropped, t.users = logDropped(units), users
	t.progress.state(State(outcome), why)
	return outcome, why, t.mark(outcome, why)
}

// logDropped is how many bytes of the output of units are not in their logs.
func logDropped(units []platform.Unit) (n int64) {
	for _, u := range units {
		for _, r := range u.Replicas() {
			if b, ok := platform.As[platform.LogBounder](r); ok {
				n += b.LogDropped()
			}
		}
	}
	return n
}

// mark writes the trial's line of trials.ndjson.
func (t *trial) mark(o record.Outcome, why string) error {
	return t.writer.Trial(record.Trial{Trial: t.number, Cell: t.planned.Cell, Repeat: t.planned.Repeat,
		Attempt: t.planned.attempt, Outcome: o, Why: why, At: time.Now().UnixNano(), Neighbours: t.neighbours.most(), EndedEarly: t.recorder.early && o == record.Disturbed, LostAgents: t.agents.lostIndexes(), StoppedAgents: t.agents.held, LogDropped: t.dropped, Users: t.users, WarmUps: t.warmUps, Starts: t.starts})
}

// note writes a message about the trial to the log.
func (t *trial) note(format string, args ...any) {
	if t.lab.NoRepeat {
		t.lab.note(format, args...)
		return
	}
	t.lab.note("trial %d (%s): %s", t.number, t.exp.LabelOf(t.cell), fmt.Sprintf(format, args...))
}

// searching reports a step of a search, and why it takes longer than planned.
func (t *trial) searching(s search.Step) {
	t.progress.searching(s)
	if s.Pauses {
		t.note("near its breaking point some moments miss the objective and others meet it; %s more at %s show whether it pauses", span.Text(s.Window), digits.Significant(s.Load, 4))
	}
}

// conduct starts everything, measures, and returns the outcome with its reason.
func (t *trial) conduct(ctx context.Context) (record.Outcome, string, error) {
	if err := t.start(ctx); err != nil {
		switch {
		case ctx.Err() != nil:
			return record.Interrupted, "stopped while starting", nil
		case errors.Is(err, platform.ErrEvicted):
			return record.Interrupted, err.Error(), nil
		}
		return record.Failed, reason(err), nil
	}
	measure := t.load
	if t.cell.Load.Benchmark {
		measure = t.benchmark
	}
	failure, err := measure(ctx)
	switch {
	case err != nil:
		return "", "", err
	case t.violation.reason() != "":
		return record.Invalid, t.violation.reason(), nil
	case ctx.Err() != nil:
		return record.Interrupted, stopped(ctx), nil
	}
	if why := t.deployment.evicted(); why != "" {
		return record.Interrupted, why, nil
	}
	switch {
	case failure != nil:
		return record.Failed, reason(failure), nil
	case t.profile != nil:
		return record.Profiled, t.profile.missing(), nil
	case t.cell.Load.Find: // the search repeats disturbed windows itself
		return record.Done, "", nil
	}
	if why := wording.Others(analysis.WhyDisturbed(t.exp, &t.recorder.noise)); why != "" {
		if who := signals.NeighboursText(t.neighbours.most()); who != "" && t.recorder.noise.Sources()&finding.Neighbour != 0 {
			why += ": " + who
		}
		return record.Disturbed, why, nil
	}
	return record.Done, "", nil
}

// reason is an error as the reason of a failed trial. What a limit of Millicore's own
// process caused says what to do.
func reason(err error) string {
	if errors.Is(err, syscall.EMFILE) {
		return display.Problem(err)
	}
	return err.Error()
}

// Stopped is the cause of a context that ends a run, as text for the record. If the
// cause is anything else, the user stopped the run.
type Stopped string

func (s Stopped) Error() string { return string(s) }

func stopped(ctx context.Context) string {
	if why, ok := errors.AsType[Stopped](context.Cause(ctx)); ok {
		return string(why)
	}
	return "stopped by the user"
}

// start starts the dependencies, the service and the agents, in that order. The first
// two are already there if the previous trial left them running.
func (t *trial) start(ctx context.Context) error {
	adopted, err := t.adopt(ctx)
	if err == nil && !adopted {
		err = t.deploy(ctx)
	}
	if err != nil {
		return err
	}
	if t.exp.Profile {
		t.lab.detectRuntime(t.cell.Index, t.deployment.service.Replicas()[0])
	}
	return t.startAgents(ctx)
}

// deploy starts the dependencies and the service.
func (t *trial) deploy(ctx context.Context) error {
	logs := filepath.Join(t.lab.Dir, record.LogsDir, fmt.Sprintf("trial-%03d", t.number))
	if err := safefile.MkdirAll(logs, record.DirMode); err != nil {
		return err
	}
	t.deployment.lab, t.deployment.trial, t.deployment.cell, t.deployment.logs = t.lab, t.number, t.cell, logs
	if err := t.deployment.start(ctx); err != nil {
		return err
	}
	if !t.cell.Load.Benchmark { // which ends by itself
		t.starts = t.deployment.starts
	}
	if w, ok := platform.As[platform.WarmUpReporter](t.deployment.service); ok {
		t.warmUps = w.WarmUps()
	}
	return nil
}

// stop stops everything that the trial started: the agents first, then the units in
// the reverse order of their start. It does so after an interruption too.
func (t *trial) stop() error {
	return errors.Join(t.agents.close(), t.deployment.stop())
}
