package lab

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/record"
)

// A run whose lab was killed can go on in its own record: the trials that have
// ended stay, and the one that was under way is run again.

// former opens the record that the run is to go on with; nil: there is none.
func (l *Lab) former() (*record.Record, error) {
	if !l.Resume || record.Free(l.Dir) == nil {
		return nil, nil
	}
	r, err := record.Open(l.Dir)
	if err != nil {
		return nil, fmt.Errorf("go on with a run: %w", err)
	}
	differs := ""
	switch {
	case r.Run.Experiment.Source != l.Experiment.Source:
		differs = "experiment"
	case !slices.Equal(r.Run.Experiment.Sets, l.Experiment.Sets):
		differs = "--set"
	case r.Run.Seed != l.Seed:
		differs = "seed"
	case r.Run.Platform != l.Platform.Name():
		differs = "platform"
	}
	if differs != "" {
		return nil, l.another(differs)
	}
	return r, nil
}

func (l *Lab) another(differs string) error {
	return fmt.Errorf("go on with a run: %s has the record of another one, whose %s differs; give this one a folder of its own", l.Dir, differs)
}

// restarted is why a trial has no end of its own.
const restarted = "the conductor was restarted"

// goOn opens the former record for more, and says there what became of the trial
// that was under way.
func (l *Lab) goOn(former *record.Record, plan []experiment.Trial) (*record.Writer, error) {
	if !slices.Equal(former.Run.Plan, plan) {
		return nil, l.another("plan")
	}
	w, err := record.Append(l.Dir)
	if err != nil {
		return nil, err
	}
	for i := range former.Trials {
		if t := &former.Trials[i]; t.Outcome == record.Started {
			t.Outcome, t.Why, t.At = record.Interrupted, restarted, time.Now().UnixNano()
			if err := w.Trial(*t); err != nil {
				return nil, errors.Join(err, w.Close())
			}
			l.note("trial %d (%s): %s: %s; it will be repeated", t.Trial, l.Experiment.Cells[t.Cell].Label(), t.Outcome, t.Why)
		}
	}
	return w, nil
}

// completed counts the trials that ran to their end.
func completed(trials []record.Trial) (n int) {
	for _, t := range trials {
		if t.Outcome == record.Done || t.Outcome == record.Disturbed {
			n++
		}
	}
	return n
}

// resume takes from the queue what a former run has done, as if it had been done
// now, and gives the number of the next trial. One that was interrupted keeps its
// place.
func (q *queue) resume(trials []record.Trial) (next int) {
	next = 1
	for _, t := range trials {
		next = max(next, t.Trial+1)
		at := slices.IndexFunc(q.waiting, func(a attempt) bool {
			return a.Cell == t.Cell && a.Repeat == t.Repeat && a.attempt == t.Attempt
		})
		if at < 0 || t.Outcome == record.Interrupted || t.Outcome == record.Started {
			continue
		}
		a := q.waiting[at]
		q.waiting = slices.Delete(q.waiting, at, at+1)
		q.settle(a, t.Outcome)
	}
	return next
}
