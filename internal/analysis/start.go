package analysis

import (
	"cmp"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// start is that of the trial's slowest replica; nil: the service ran already.
func (t *trial) start() *signals.Start {
	if len(t.attempt.Starts) == 0 {
		return nil
	}
	slowest := slices.MaxFunc(t.attempt.Starts, func(a, b signals.Start) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return &slowest
}

// start is the start of median length of the trials, of two the shorter one; nil: there was none.
func (c *cell) start() *summary.Start {
	var all []*signals.Start
	for _, t := range c.trials {
		if s := t.start(); s != nil {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b *signals.Start) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return &summary.Start{Start: *all[(len(all)-1)/2], Trials: len(all)}
}
