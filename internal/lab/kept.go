package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/millicore/millicore/internal/platform"
)

// kept is a service that stays up from one trial to the next, with what it
// depends on: between the trials of its cell, or between cells that differ in
// their limits alone.
type kept struct {
	cell     int
	units    []platform.Unit // in the order in which they were started
	services platform.Unit
	deps     map[string]platform.Unit
}

// adopt takes over the service from the trial before, and reports whether there
// was one. It then has the cell's limits; after an error it is the trial's, to be
// stopped.
func (t *trial) adopt(ctx context.Context) (bool, error) {
	k := t.lab.kept
	if k == nil {
		return false, nil
	}
	t.lab.kept = nil
	if why := platform.Evicted(k.units); why != "" {
		t.lab.note("trial %d (%s): %s; the service is started anew", t.number, t.cell.Label(), why)
		return false, stop(k.units)
	}
	t.units, t.services, t.deps = k.units, k.services, k.deps
	if err := t.resize(ctx, k); err != nil {
		return true, err
	}
	for _, d := range t.cell.Service.Dependencies {
		if running := t.deps[d.Name]; running != nil {
			t.watch(d.Name, roleDependency, running.Replicas())
		}
	}
	t.watch(t.cell.Service.Name, roleService, replicas(t.services))
	return true, nil
}

// resize gives a service that another cell has left the limits of this one.
func (t *trial) resize(ctx context.Context, k *kept) error {
	before := &t.exp.Cells[k.cell]
	if before.Limits == t.cell.Limits {
		return nil
	}
	running, ok := platform.As[platform.Resizer](t.services)
	if !ok {
		return fmt.Errorf("change the limits of %q while it runs: --on %s cannot; leave measure.resize out", t.cell.Service.Name, t.lab.Platform.Name())
	}
	if err := running.Resize(ctx, t.cell.Limits); err != nil {
		return fmt.Errorf("change the limits of %q while it runs: %w", t.cell.Service.Name, err)
	}
	return nil
}

// fits reports whether the service that is kept is the cell's, or can be made so.
func (l *Lab) fits(cell int) bool {
	k := l.kept
	return cell >= 0 && (k.cell == cell || l.Experiment.Measure.Resize && l.Experiment.Cells[k.cell].Resizable(&l.Experiment.Cells[cell]))
}

// leave keeps the service up for the next trial.
func (t *trial) leave() {
	t.lab.kept = &kept{cell: t.planned.Cell, units: t.units, services: t.services, deps: t.deps}
	t.units = nil
}

// release stops the service that was kept, unless the cell can have it; -1 is none.
func (l *Lab) release(cell int) {
	k := l.kept
	if k == nil || l.fits(cell) {
		return
	}
	l.kept = nil
	if err := stop(k.units); err != nil {
		l.note("stop %s: %v; `millicore clean --on %s` removes what is left", l.Experiment.Cells[k.cell].Label(), err, l.Platform.Name())
	}
}

// stop ends units in the reverse order of starting.
func stop(units []platform.Unit) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*platform.StopGrace)
	defer cancel()
	var errs []error
	for i := len(units) - 1; i >= 0; i-- {
		errs = append(errs, units[i].Stop(ctx))
	}
	return errors.Join(errs...)
}
