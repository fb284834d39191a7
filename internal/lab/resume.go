package lab

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
)

// A run whose lab was killed can be resumed in its own record: the completed trials
// stay, and the trial that was running is repeated.

// former opens the record that the run continues; nil: there is none.
func (l *Lab) former() (*record.Record, error) {
	if !l.Resume {
		return nil, nil
	}
	if err := record.DropUnbegun(l.Dir); err != nil {
		return nil, fmt.Errorf("resume a run: %w", err)
	}
	if record.Free(l.Dir) == nil {
		return nil, nil
	}
	r, err := record.Own.Open(l.Dir)
	if err != nil {
		return nil, fmt.Errorf("resume a run: %w", err)
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
		return nil, l.otherRun(differs)
	}
	if name := l.Experiment.ChangedSecret(r.Run.Experiment); name != "" {
		return nil, fmt.Errorf("resume a run: the value of %s is not the one that the run in %s began with; set that value again, or use another folder", name, l.Dir)
	}
	return r, nil
}

// otherRun is the error that the record in Dir belongs to a different run.
func (l *Lab) otherRun(differs string) error {
	return fmt.Errorf("resume a run: %s has the record of another run: its %s differs; use another folder", l.Dir, differs)
}

// restarted is the reason of a trial whose end is missing in the record.
const restarted = "the conductor was restarted"

// continueRecord opens the former record for appending, and marks the trial that was
// running as interrupted.
func (l *Lab) continueRecord(former *record.Record, plan []experiment.Trial) (*record.Writer, error) {
	if !slices.Equal(former.Run.Plan, plan) {
		return nil, l.otherRun("plan")
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
			l.note("trial %d (%s): %s: %s; %s", t.Trial, l.Experiment.LabelOf(&l.Experiment.Cells[t.Cell]), t.Outcome, t.Why, repeat)
		}
	}
	return w, nil
}

// ended counts the trials that were completed, and those that were invalid.
func ended(trials []record.Trial) (completed, invalid int) {
	for _, t := range trials {
		switch t.Outcome {
		case record.Done, record.Disturbed:
			completed++
		case record.Invalid:
			invalid++
		}
	}
	return completed, invalid
}
