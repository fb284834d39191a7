package lab

import (
	"context"
	"fmt"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
)

// adopt takes over the deployment that the previous trial left running, and reports
// whether there was one. The service then has the cell's limits. After an error the
// deployment is the trial's, which stops it.
func (t *trial) adopt(ctx context.Context) (bool, error) {
	d := t.lab.kept
	if d == nil {
		return false, nil
	}
	t.lab.kept = nil
	if why := d.evicted(); why != "" {
		t.note("%s; the service is restarted", why)
		return false, d.stop()
	}
	t.deployment = d
	if err := d.resize(ctx, t.cell); err != nil {
		return true, err
	}
	d.sources = nil
	for _, dep := range t.cell.Service.Dependencies {
		if unit := d.dependencies[dep.Name]; unit != nil {
			d.watch(dep.Name, roleDependency, unit.Replicas())
		}
	}
	d.watch(t.cell.Service.Name, roleService, replicas(d.service))
	return true, nil
}

// resize changes the limits of the running service to those of another cell.
func (d *deployment) resize(ctx context.Context, to *experiment.Cell) error {
	before := d.cell.Limits
	d.cell = to
	if before == to.Limits {
		return nil
	}
	unit, ok := platform.As[platform.Resizer](d.service)
	if !ok {
		return fmt.Errorf("change the limits of %q while it runs: --on %s cannot; remove measure.resize", to.Service.Name, d.lab.Platform.Name())
	}
	if err := unit.Resize(ctx, to.Limits); err != nil {
		return fmt.Errorf("change the limits of %q while it runs: %w", to.Service.Name, err)
	}
	return nil
}

// release stops the deployment that was kept, unless the cell can use it; -1: no cell.
func (l *Lab) release(cell int) {
	d := l.kept
	if d == nil || cell >= 0 && l.fits(d, cell) {
		return
	}
	l.kept = nil
	if err := d.stop(); err != nil {
		l.note("stop %s: %v%s", l.Experiment.LabelOf(d.cell), err, platform.Cleaning(l.Platform.Name()))
	}
}

// fits reports whether a deployment is one of the cell, or can be resized to it.
func (l *Lab) fits(d *deployment, cell int) bool {
	return d.cell.Index == cell || l.Experiment.Measure.Resize && d.cell.Resizable(&l.Experiment.Cells[cell])
}
