// Package lab conducts a plan: for each trial the platform starts the service
// under its limits, agents send traffic, the sampler reads the cgroups, and all
// that is seen goes into the record. It draws no conclusions but one: whether a
// trial was disturbed from outside, and is to be repeated.
package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/database"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/record"
	"github.com/millicore/millicore/internal/signals"
	"github.com/millicore/millicore/internal/workload"
)

// Lab is one run of one experiment.
type Lab struct {
	Experiment *experiment.Experiment
	Platform   platform.Platform
	Programs   Programs
	Seed       uint64
	Dir        string               // the record's folder, not yet made; but see Resume
	Version    string               // of millicore
	Progress   func(Progress)       // called from one goroutine; may be nil
	Seen       func(*signals.Frame) // called from the same one with each frame of a trial, which it leaves as it is; may be nil
	Log        io.Writer            // notes for people: what went wrong, what was repeated
	Once       bool                 // a disturbed trial is flagged, and not repeated
	Blind      bool                 // the services may run anywhere: what this machine does is no part of the record
	Resume     bool                 // where Dir holds the record of this very run, the run goes on

	samples workload.Found // the sample services, as this machine has them, or the platform
	stock   *stock         // nil: the platform runs commands of this machine

	kept  *kept                 // nil: every service was stopped with its trial
	found map[int][]float64     // by cell: the loads that its searches found
	met   map[int]runtimes.Info // by cell: what its service runs on, for profiles

	databases *database.Set // those that the trials have started
}

// Bounds on patience.
const (
	// A disturbed trial is repeated, in all at most for a third of the plan: a
	// machine that is never quiet gets its flags instead of an endless run.
	maxAttempts = 2
	// A cell that cannot be started this often in a row is given up.
	maxFailures = 2
	// maxEvictions is how many trials of a cell are begun anew because its machines
	// took a part of the service away.
	maxEvictions = 3
)

// Run conducts the whole plan and leaves the record. When ctx ends, the trial
// under way is ended cleanly, the record is kept, and the error is nil: the
// record says that it was interrupted. An error means that the tool could not
// do its work; a service that fails is in the record, not an error.
func (l *Lab) Run(ctx context.Context) (err error) {
	l.found, l.met = map[int][]float64{}, map[int]runtimes.Info{}
	if err := l.checkBenchmarks(); err != nil {
		return err
	}
	former, err := l.former()
	if err != nil {
		return err
	}
	if former != nil && former.Finished {
		return l.conclusion(completed(former.Trials))
	}
	skipped, err := l.prepare(ctx)
	if err != nil || ctx.Err() != nil {
		return err
	}
	plan := l.planned(skipped)
	writer, err := l.open(ctx, former, plan, skipped)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, writer.Close()) }()
	l.databases = database.New(l.Platform, l.Dir)
	defer func() { err = errors.Join(err, l.databases.Close()) }()

	queue := newQueue(plan, len(l.Experiment.Cells))
	if l.Experiment.Measure.Kept || l.Once {
		queue.budget = 0 // what comes later meets a service that was started anew
	}
	number := 1
	if former != nil {
		number = queue.resume(former.Trials)
	}
	defer l.release(-1)
	pace := newPace(l.Experiment)
	for ; ctx.Err() == nil; number++ {
		next, ok := queue.next()
		if !ok {
			break
		}
		l.release(next.Cell)
		t := &trial{
			lab: l, writer: writer, exp: l.Experiment, number: number, planned: next,
			cell: &l.Experiment.Cells[next.Cell],
			show: l.progress(next, number, queue, pace),
		}
		outcome, why, err := t.run(ctx)
		if err != nil {
			return err
		}
		pace.took(next.Cell, time.Since(t.began))
		again := ""
		if ctx.Err() == nil {
			again = queue.settle(next, outcome)
		}
		if again != "" {
			l.note("trial %d (%s): %s; %s", number, t.cell.Label(), why, again)
		} else if outcome != record.Done {
			l.note("trial %d (%s): %s: %s", number, t.cell.Label(), outcome, why)
		}
	}
	l.release(-1)
	if l.Experiment.Profile && queue.done > 0 {
		if err := l.profiles(ctx, writer, number, queue, pace); err != nil {
			return err
		}
	}
	if ctx.Err() == nil {
		if err := writer.Finish(time.Now()); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return l.conclusion(queue.done)
}

// open makes the record, or opens the former one for more.
func (l *Lab) open(ctx context.Context, former *record.Record, plan []experiment.Trial, skipped []record.Skipped) (*record.Writer, error) {
	if former != nil {
		return l.goOn(former, plan)
	}
	host := facts(ctx)
	l.versions(ctx, host.Runtimes)
	return record.Create(l.Dir, record.Run{
		Version: record.Version, Program: l.Version, Experiment: l.Experiment, Platform: l.Platform.Name(),
		Seed: l.Seed, Plan: plan, Started: time.Now(), Host: host, Skipped: skipped, NoWindows: !seesWindows(l.Platform),
	})
}

// conclusion is the error of a run of which so many trials ran to their end.
func (l *Lab) conclusion(done int) error {
	switch {
	case done > 0:
		return nil
	case l.Once:
		return fmt.Errorf("run %s: it broke off; the reasons are above", l.Experiment.Name)
	}
	return fmt.Errorf("run %s: no trial could be completed; the reasons are above, what the services said is in %s/%s", l.Experiment.Name, l.Dir, record.LogsDir)
}

func (l *Lab) note(format string, args ...any) {
	if l.Log != nil {
		fmt.Fprintf(l.Log, format+"\n", args...)
	}
}

// attempt is a planned trial and how often it was tried before.
type attempt struct {
	experiment.Trial
	attempt int
}

// queue is what is still to be done: the plan, and behind it what is repeated.
type queue struct {
	waiting  []attempt
	budget   int         // repeats left
	evicted  map[int]int // by cell: trials that its machines broke off
	failures map[int]int // by cell, in a row
	done     int         // trials that ran to their end
}

func newQueue(plan []experiment.Trial, cells int) *queue {
	q := &queue{budget: (len(plan) + 2) / 3, failures: make(map[int]int, cells), evicted: make(map[int]int, cells)}
	for _, t := range plan {
		q.waiting = append(q.waiting, attempt{Trial: t})
	}
	return q
}

func (q *queue) next() (attempt, bool) {
	for len(q.waiting) > 0 {
		a := q.waiting[0]
		q.waiting = q.waiting[1:]
		if q.failures[a.Cell] < maxFailures {
			return a, true
		}
	}
	return attempt{}, false
}

// settle notes what became of an attempt and says in words what follows, or "".
func (q *queue) settle(a attempt, outcome record.Outcome) string {
	switch outcome {
	case record.Failed:
		q.failures[a.Cell]++
		if q.failures[a.Cell] == maxFailures {
			return "it failed again: this cell is given up"
		}
		return ""
	case record.Disturbed:
		q.done++
		q.failures[a.Cell] = 0
		if a.attempt+1 < maxAttempts && q.budget > 0 {
			q.budget--
			a.attempt++
			q.waiting = append(q.waiting, a)
			return "it will be repeated"
		}
		return "it stays in the record with a flag"
	case record.Done:
		q.done++
		q.failures[a.Cell] = 0
	case record.Interrupted: // by its machines: the run goes on
		q.evicted[a.Cell]++
		if q.evicted[a.Cell] > maxEvictions {
			return "its machines do so again and again: it is given up"
		}
		q.waiting = append(q.waiting, a)
		return "it will be repeated"
	}
	return ""
}

// disturbedBy gives the reason to repeat a trial, from its own frames.
func disturbedBy(n *disturbance.Noise) (record.Outcome, string) {
	if why := n.Disturbed(); why != "" {
		return record.Disturbed, why
	}
	return record.Done, ""
}
