package file

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/experiment"
)

const (
	shortestInterval = 100 * time.Millisecond
	longestInterval  = 10 * time.Second
)

func (r *reader) readMeasure() {
	m := &r.doc.Measure
	r.out.Measure = experiment.Measure{
		Warmup:   m.Warmup.value,
		Duration: m.Duration.value,
		Repeats:  int(m.Repeats.value),
		Interval: m.Interval.value,
		Kept:     !m.Restart.value,
		Resize:   m.Resize.value,
	}
	if m.Resize.value && m.Restart.given && !m.Restart.value {
		r.problems.add(m.Resize.at, "", "measure.resize contradicts restart: false, which has the trials of a cell follow one another; keep one")
	}
	if r.out.Measure.Repeats > mostRepeats {
		r.problems.add(m.Repeats.at, "measure.repeats", "%d are more than %d", r.out.Measure.Repeats, mostRepeats)
	}
	if m.Duration.given && !m.Duration.bad && m.Duration.value == 0 {
		r.problems.add(m.Duration.at, "measure.duration", "nothing can be measured in no time")
	}
	if !m.Interval.bad && (m.Interval.value < shortestInterval || m.Interval.value > longestInterval) {
		m.Interval.bad = true
		r.problems.add(m.Interval.at, "measure.interval", "%s is outside 100ms to 10s", short(m.Interval.value))
	}
}

// checkMeasure checks measure against the cells.
func (r *reader) checkMeasure() {
	if len(r.problems.list) > 0 {
		return // the cells' own figures are not sure
	}
	m := &r.doc.Measure
	staged := 0
	for i := range r.out.Cells {
		c := &r.out.Cells[i]
		if t := c.Load.Target(); t != nil && len(t.Stages) > 0 {
			staged++
		}
		if part := r.out.Measure.Measured(c); part > 0 && part < m.Interval.value {
			r.problems.addOnce(m.Interval.at, "measure.interval", "longer", fmt.Sprintf("a frame of %s is longer than the %s that are measured; measure for longer, or shorten the frames", short(m.Interval.value), short(part)))
		}
		switch {
		case c.Limits.CPUMillis == 0 || m.Interval.value%c.Limits.Period == 0:
		case c.Load.Find:
			r.problems.addOnce(m.Interval.at, "measure.interval", "whole", fmt.Sprintf("a search measures whole CFS periods, and %s is no multiple of %s; use %s", short(m.Interval.value), short(c.Limits.Period), short(wholePeriods(m.Interval.value, c.Limits.Period))))
		case c.Limits.Period > m.Interval.value:
			r.problems.addOnce(m.Interval.at, "measure.interval", "shorter", fmt.Sprintf("a frame of %s is shorter than a CFS period of %s", short(m.Interval.value), short(c.Limits.Period)))
		}
	}
	if r.out.Measure.Resize && !r.out.Resizes() {
		r.problems.add(m.Resize.at, "measure.resize", "no two cells differ in their limits alone (cpu, burst, period, memory); vary one of these, or leave resize out")
	}
	if m.Duration.given && staged == len(r.out.Cells) {
		r.problems.add(m.Duration.at, "", "measure.duration contradicts a load in %s, which has a length of its own; keep one", r.doc.Load.course().what())
	}
}

// checkActions finds actions that could never be sent.
func (c *cellReader) checkActions(s *service, cell *experiment.Cell, m experiment.Measure) {
	part := m.Measured(cell)
	if part == 0 {
		return
	}
	for i := range s.Actions {
		a := &s.Actions[i]
		if at, ok := read(c, &a.At); ok && at >= part {
			c.wrong(&a.At.scalar, "%s lies behind the measured part, which lasts %s", short(at), short(part))
		}
	}
}

func (r *reader) readObjective() {
	o := &r.doc.Objective
	if !o.given {
		return
	}
	out := &experiment.Objective{Availability: o.Availability.value}
	asked := o.Availability.given || o.Availability.bad
	for _, q := range []struct {
		name  string
		limit *fixed[duration, time.Duration]
	}{{"p50", &o.P50}, {"p90", &o.P90}, {"p95", &o.P95}, {"p99", &o.P99}, {"p999", &o.P999}} {
		asked = asked || q.limit.given || q.limit.bad
		switch {
		case !q.limit.given || q.limit.bad:
		case out.Quantile != "":
			r.problems.add(q.limit.at, "objective", "%s and %s; ask for one quantile", out.Quantile, q.name)
		case q.limit.value == 0:
			r.problems.add(q.limit.at, "objective."+q.name, "no answer comes in no time")
		default:
			out.Quantile, out.Latency = q.name, q.limit.value
		}
	}
	if !asked && !r.misspelt {
		r.problems.add(o.at, "", "objective asks for nothing; set a quantile, as in p99: 250ms, or availability: 99.9")
	}
	r.out.Objective = out
}
