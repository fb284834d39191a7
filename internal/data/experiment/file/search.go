package file

import (
	"time"

	"github.com/millicore/millicore/internal/data/experiment/span"
)

const (
	// leastTraffic is the time for some doublings and a test at the result.
	leastTraffic = 10 * time.Second
	// longestBlock is the longest frame of a search: its windows are whole
	// frames, and need several each.
	longestBlock = 2 * time.Second
)

// checkSearch finds keys that contradict a search.
func (d *decoder) checkSearch() {
	l, n, m := d.root.child("load"), d.root.child("measure"), &d.out.Measure
	if !d.doc.Load.Find {
		return
	}
	if d.root.child("objective").kind != mapNode && !d.misspelt {
		d.add(l.child("find").at, "", "load.find needs an objective, as in objective: {p99: 100ms, availability: 99.9}")
	}
	for _, key := range []string{"users", "rate"} {
		if t := l.child(key); t.kind == mapNode {
			d.report(t, "a search starts at a number and chooses its own levels; write a number, or leave find out")
		}
	}
	if m.Duration > 0 && m.Duration < leastTraffic {
		d.add(n.child("duration").at, "measure.duration", "a search needs %s of traffic or more, not %s", span.Text(leastTraffic), span.Text(m.Duration))
	}
	if interval := n.child("interval"); !interval.bad && m.Interval > longestBlock {
		d.report(interval, "a search needs frames of at most %s, not %s", span.Text(longestBlock), span.Text(m.Interval))
	}
	for i := range d.doc.Services {
		if a := d.doc.Services[i].node.child("autoscale"); a.kind == mapNode {
			d.report(a, "a search compares loads on a service of one size; raise the load in a ramp instead, or leave autoscale out")
		}
	}
}

// wholePeriods is the nearest length of a frame that is a multiple of CFS periods.
func wholePeriods(interval, period time.Duration) time.Duration {
	whole := (interval + period - 1) / period * period
	if whole > longestBlock {
		whole -= period
	}
	return whole
}
