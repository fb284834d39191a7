package corpus

import (
	"cmp"
	"slices"
)

// course is the CPU that others use, by time. It is asked in the order of time.
type course struct {
	steps []step
	cpus  float64 // now
}

// step is a change of it.
type step struct {
	at   int64
	more float64
}

// courseOf adds up several.
func courseOf(all ...[]Taken) (c course) {
	for _, taken := range all {
		for _, t := range taken {
			c.steps = append(c.steps, step{int64(t.From), t.CPUs}, step{int64(t.To), -t.CPUs})
		}
	}
	slices.SortStableFunc(c.steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	return c
}

// at is how many CPUs others use at a time.
func (c *course) at(now int64) float64 {
	for len(c.steps) > 0 && c.steps[0].at <= now {
		c.cpus += c.steps[0].more
		c.steps = c.steps[1:]
	}
	return c.cpus
}

// next is when that changes after a time.
func (c *course) next(now int64) int64 {
	c.at(now)
	if len(c.steps) == 0 {
		return never
	}
	return c.steps[0].at
}
