package maxprocs

import (
	"sync"
	"time"
)

// counters are the kernel's counters of this process across the groups that they are read
// from. The kernel counts for each group from its creation, so the counters of the next
// group may be lower, which Prometheus takes for a restart, or far higher. So only
// differences between two readings of one group are added.
type counters struct {
	mu     sync.Mutex // held from a reading to its addition: readings are added in their order
	sums   map[string]*sum
	delays map[int]time.Duration // of each thread at the last reading
	waited time.Duration
}

// sum is the sum of counters that are read together.
type sum struct {
	dir         string // the group of the last reading
	last, total []int64
}

// add adds what a group has counted since the last reading, and returns the total. The
// first reading counts in full. Nothing is added if the group is another one, or was
// created again: what its counters had before is not known, and an interval that is
// missing misleads less than one that is too much.
func (c *counters) add(name, dir string, now ...int64) []int64 {
	s := c.sums[name]
	if s == nil {
		s = &sum{total: append([]int64(nil), now...)}
		if c.sums == nil {
			c.sums = map[string]*sum{}
		}
		c.sums[name] = s
	} else if dir == s.dir && noLower(now, s.last) {
		for i := range now {
			s.total[i] += now[i] - s.last[i]
		}
	}
	s.dir, s.last = dir, now
	return s.total
}

// noLower reports whether no counter is lower than at an earlier reading.
func noLower(now, earlier []int64) bool {
	for i := range now {
		if now[i] < earlier[i] {
			return false
		}
	}
	return true
}

// addDelays adds what each thread has waited since the last reading. A thread that waited
// less than the last of its id is another one, whose wait counts in full.
func (c *counters) addDelays(now map[int]time.Duration) time.Duration {
	for tid, delay := range now {
		if before := c.delays[tid]; before <= delay {
			delay -= before
		}
		c.waited += delay
	}
	c.delays = now
	return c.waited
}
