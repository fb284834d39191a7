// Package lab conducts the plan of an experiment. For each trial it starts the
// service on the platform, has agents send traffic, reads the counters, and writes
// all of it into the record.
//
// It evaluates only what decides how the run continues: whether a trial was
// disturbed and must be repeated, and which load a search holds next. It starts no
// process itself (package platform), sends no traffic (packages under load), and
// produces no results (packages results and analysis).
package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/database"
	"github.com/millicore/millicore/internal/platform/workload"
)

// Lab is one run of one experiment.
type Lab struct {
	Experiment *experiment.Experiment
	Platform   platform.Platform
	Programs   Programs
	Seed       uint64
	Dir        string               // the record's folder, which must not exist yet; see Resume
	Version    string               // of millicore
	Progress   func(Progress)       // called from one goroutine; may be nil
	OnFrame    func(*signals.Frame) // called from the same goroutine with each frame of a trial, and must not change it; may be nil
	OnSearch   func()               // called when the first search of one server has ended, and those of its other settings follow; may be nil
	Log        io.Writer            // messages for people: failures, repeats; may be nil
	NoRepeat   bool                 // one load: it gets a flag if it was disturbed, is not repeated, and its messages have no number
	NoHost     bool                 // do not record this machine's CPU: the services may run elsewhere
	NoRuntimes bool                 // do not look for this machine's runtimes: nothing is started with them
	Resume     bool                 // if Dir has the record of this very run, continue it

	first int // number of the first trial of a second part; 0: this is the first part

	samples workload.Found // the sample services that this machine or the platform has
	stock   *stock         // nil: the platform runs commands of this machine

	kept     *deployment           // left running by the previous trial; nil: none
	found    map[int][]float64     // by cell: the breaking points that its searches found
	runtimes map[int]runtimes.Info // by cell: the runtime of its service, for profiles

	databases *database.Set // that the trials have started
	data      string        // folder for their data; "": beside the record, which only its owner can enter

	scrub func(string) string // removes the experiment's secrets from a text

	leaving context.Context // ends when an interrupted run waits no longer; nil: not in Run
}

// Run conducts the whole plan and writes the record. When ctx ends, Run ends the
// current trial cleanly, within platform.LeaveWithin, and returns nil; the record shows that the
// run was interrupted. An error means that Millicore could not do its work. A service that
// fails is a result in the record, not an error.
func (l *Lab) Run(ctx context.Context) (err error) {
	l.found, l.runtimes = map[int][]float64{}, map[int]runtimes.Info{}
	l.scrub = secret.Scrub(l.Experiment.Secrets())
	var left context.CancelFunc
	l.leaving, left = platform.Leaving(ctx)
	defer left()
	if err := l.checkBenchmarks(); err != nil {
		return err
	}
	former, err := l.former()
	if err != nil {
		return err
	}
	if former != nil && former.Finished {
		return l.conclusion(ended(former.Trials))
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
	l.data = cmp.Or(l.data, filepath.Dir(filepath.Clean(l.Dir)))
	l.databases = database.New(l.Platform, l.data)
	defer func() { err = errors.Join(err, l.databases.Close()) }()
	defer l.release(-1)

	queue := newQueue(plan, len(l.Experiment.Cells))
	if l.Experiment.Measure.Kept || l.NoRepeat {
		queue.budget = 0 // a repeat would run at the end, against a restarted service
	}
	number := max(1, l.first)
	if former != nil {
		number = max(number, queue.resume(former.Trials))
	}
	pace := newPace(l.Experiment)
	if number, err = l.conduct(ctx, writer, queue, pace, number); err != nil {
		return err
	}
	l.release(-1)
	if l.Experiment.Profile && queue.done > 0 {
		if number, err = l.profiles(ctx, writer, number, queue, pace); err != nil {
			return err
		}
	}
	if err := l.commonLoad(ctx, number); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	if err := writer.Finish(time.Now()); err != nil {
		return err
	}
	return l.conclusion(queue.done, queue.invalid)
}

// conduct runs the trials of the queue until it is empty or ctx ends. number is that
// of the first trial; the result is that of the next one.
func (l *Lab) conduct(ctx context.Context, w *record.Writer, q *queue, p *pace, number int) (next int, err error) {
	disturbed := map[decision]int{}
	defer func() { l.noteDisturbed(disturbed) }()
	for ; ctx.Err() == nil; number++ {
		planned, ok := q.next()
		if !ok {
			break
		}
		l.release(planned.Cell)
		t := newTrial(l, w, planned, number)
		t.repeats = q.repeats(planned)
		t.progress = newReporter(l, planned, number, q, p)
		outcome, why, err := t.run(ctx)
		if err != nil {
			return 0, err
		}
		p.took(planned.Cell, time.Since(t.began))
		if outcome == record.Done && planned.Cell == 0 && planned.Repeat == 1 && l.OnSearch != nil && l.Experiment.SearchesOneServer() && l.Experiment.Server.Against() == "" && len(q.waiting) > 0 {
			l.OnSearch()
		}
		then := goOn
		if ctx.Err() == nil {
			then = q.settle(planned, outcome)
		}
		if outcome == record.Disturbed {
			disturbed[then]++
		}
		switch {
		case outcome == record.Done || disturbed[then] > 1:
		case then == goOn || l.NoRepeat:
			t.note("%s: %s", outcome, why)
		default:
			t.note("%s; %s", why, then)
		}
	}
	return number, nil
}

// noteDisturbed states how many trials were disturbed without a message: one that comes
// again and again hides the others.
func (l *Lab) noteDisturbed(trials map[decision]int) {
	for _, then := range []decision{repeat, keepNoisy} {
		if more := trials[then] - 1; more > 0 {
			l.note("%s likewise (%s); the report has the reasons", display.Counted(int64(more), "more trial"), then)
		}
	}
}

// open creates the record, or opens the former one to continue it.
func (l *Lab) open(ctx context.Context, former *record.Record, plan []experiment.Trial, skipped []record.Skipped) (*record.Writer, error) {
	if former != nil {
		return l.continueRecord(former, plan)
	}
	host := host(ctx, !l.NoRuntimes)
	l.versions(ctx, host.Runtimes)
	return record.Create(l.Dir, record.Run{
		Version: record.Version, Program: l.Version, Experiment: l.Experiment, Platform: l.Platform.Name(),
		Seed: l.Seed, Plan: plan, Started: time.Now(), Host: host, Skipped: skipped, NoWindows: !seesWindows(l.Platform),
	})
}

// conclusion is the error of a run in which this number of trials were completed, and this
// number were invalid.
func (l *Lab) conclusion(completed, invalid int) error {
	switch {
	case invalid > 0:
		return fmt.Errorf("run %s: %s: a limit did not hold, for the reasons above; a service must neither leave its control group nor change its limits", l.Experiment.Name, display.Counted(int64(invalid), "invalid trial"))
	case completed > 0:
		return nil
	case l.NoRepeat:
		return errors.New("the load failed; the reason is above")
	}
	return fmt.Errorf("run %s: no trial could be completed; the reasons are above, and the output of the services is in %s/%s", l.Experiment.Name, l.Dir, record.LogsDir)
}

// hide removes the experiment's secrets from a text of others, such as the end of a
// service's output.
func (l *Lab) hide(text string) string {
	if l.scrub == nil {
		return text
	}
	return l.scrub(text)
}

func (l *Lab) note(format string, args ...any) {
	if l.Log != nil {
		fmt.Fprintln(l.Log, l.hide(fmt.Sprintf(format, args...)))
	}
}
