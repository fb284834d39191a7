package file

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/span"
)

const (
	shortestInterval = 100 * time.Millisecond
	longestInterval  = 10 * time.Second
)

// checkBounds checks measure without the cells.
func (d *decoder) checkBounds() {
	m, n := &d.out.Measure, d.root.child("measure")
	if resize := n.child("resize"); m.Resize && m.Kept {
		d.add(resize.at, "", "measure.resize contradicts restart: false, which runs the trials of a cell one after another; keep one")
	}
	if repeats := n.child("repeats"); m.Repeats > mostRepeats {
		d.report(repeats, "%d are more than %d", m.Repeats, mostRepeats)
	}
	if duration := n.child("duration"); duration.sound() && m.Duration == 0 {
		d.report(duration, "must be longer than 0s")
	}
	if interval := n.child("interval"); !interval.bad && (m.Interval < shortestInterval || m.Interval > longestInterval) {
		interval.bad = true
		d.report(interval, "%s is outside 100ms to 10s", span.Text(m.Interval))
	}
}

// checkMeasure checks measure against the cells.
func (d *decoder) checkMeasure() {
	if len(d.problems.list) > 0 {
		return // the cells' own figures are not sure
	}
	m, n := &d.out.Measure, d.root.child("measure")
	interval, staged := n.child("interval"), 0
	for i := range d.out.Cells {
		c := &d.out.Cells[i]
		if t := c.Load.Target(); t != nil && len(t.Stages) > 0 {
			staged++
		}
		if part := m.Measured(c); part > 0 && part < m.Interval {
			d.addOnce(interval.at, interval.path, "longer", fmt.Sprintf("a frame of %s is longer than the measured part of %s; extend the measurement, or shorten the frames", span.Text(m.Interval), span.Text(part)))
		}
		switch {
		case c.Limits.CPUMillis == 0 || m.Interval%c.Limits.Period == 0:
		case c.Load.Find:
			d.addOnce(interval.at, interval.path, "whole", fmt.Sprintf("a search measures whole CFS periods, and %s is no multiple of %s; use %s", span.Text(m.Interval), span.Text(c.Limits.Period), span.Text(wholePeriods(m.Interval, c.Limits.Period))))
		case c.Limits.Period > m.Interval:
			d.addOnce(interval.at, interval.path, "shorter", fmt.Sprintf("a frame of %s is shorter than a CFS period of %s", span.Text(m.Interval), span.Text(c.Limits.Period)))
		}
	}
	if resize := n.child("resize"); m.Resize && !d.out.Resizes() {
		d.report(resize, "no two cells differ in their limits alone (cpu, burst, period, memory); vary one of these, or leave resize out")
	}
	if duration := n.child("duration"); duration.given() && staged == len(d.out.Cells) {
		d.add(duration.at, "", "measure.duration contradicts a load in %s, which has a length of its own; keep one", courseName(courseOf(d.root.child("load"))))
	}
}

// readObjective checks the objective and puts it into the experiment.
func (d *decoder) readObjective() {
	n := d.root.child("objective")
	if n.kind != mapNode {
		return
	}
	o := &d.doc.Objective
	if share := n.child("availability"); share.sound() && o.Availability > 0 && o.Availability < 1 {
		d.report(share, "%s means %s%%; write %s for %s%%", share.text, share.text, number64(100*o.Availability), number64(100*o.Availability))
	}
	out := &experiment.Objective{Availability: o.Availability}
	asked := n.child("availability").given()
	for _, q := range []struct {
		name  string
		limit time.Duration
	}{{"p50", o.P50}, {"p90", o.P90}, {"p95", o.P95}, {"p99", o.P99}, {"p999", o.P999}} {
		one := n.child(q.name)
		asked = asked || one.given()
		switch {
		case !one.sound():
		case out.Quantile != "":
			d.add(one.at, n.path, "%s and %s; set one quantile", out.Quantile, q.name)
		case q.limit == 0:
			d.report(one, "must be longer than 0s")
		default:
			out.Quantile, out.Latency = q.name, q.limit
		}
	}
	if !asked && !d.misspelt {
		d.add(n.at, "", "objective is empty; set a quantile, as in p99: 250ms, or availability: 99.9")
	}
	d.out.Objective = out
}
