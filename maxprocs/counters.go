package maxprocs

import "sync"

// counters are the throttling counters of this process across the groups that set its
// limit. The kernel counts for each group from its creation, so the counters of the next
// group may be lower, which Prometheus takes for a restart, or far higher. So only
// differences between two readings of one group are added.
type counters struct {
	mu    sync.Mutex // held from a reading to its addition: readings are added in their order
	begun bool
	dir   string     // the group of the last reading
	last  Throttling // its counters then
	total Throttling
}

// add adds what a group has counted since the last reading, and returns the total. The
// first reading counts in full. Nothing is added if the group is another one, or was
// created again: what its counters had before is not known, and an interval that is
// missing misleads less than one that is too much.
func (c *counters) add(dir string, now Throttling) Throttling {
	switch {
	case !c.begun:
		c.total = now
	case dir == c.dir && now.since(c.last):
		c.total.Periods += now.Periods - c.last.Periods
		c.total.ThrottledPeriods += now.ThrottledPeriods - c.last.ThrottledPeriods
		c.total.Throttled += now.Throttled - c.last.Throttled
	}
	c.begun, c.dir, c.last = true, dir, now
	return c.total
}

// since reports whether no counter is lower than at an earlier reading.
func (t Throttling) since(earlier Throttling) bool {
	return t.Periods >= earlier.Periods && t.ThrottledPeriods >= earlier.ThrottledPeriods && t.Throttled >= earlier.Throttled
}
