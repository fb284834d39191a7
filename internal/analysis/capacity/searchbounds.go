package capacity

import (
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

const (
	// beginAt is where the search of another setting begins, as a share of the breaking
	// point that is known: a doubling below it.
	beginAt = 0.5
	// higher is the load at which a server without its CPU limit is held, as a multiple of
	// the highest breaking point under a limit. If it is held, the limit was the limit.
	higher = 1.2
	// holding is about how long such a search takes if the load is held.
	holding = 12 * time.Second
)

// BoundsOf returns where the search of a cell looks. found are the breaking points of the
// searches of the run that have ended, by cell. nil: the bounds of the experiment.
//
// Of one server in several settings, the first search shows where the others begin. Without
// the CPU limit the server is held at one load, above all that it held under a limit: how
// much more it could do there decides nothing. If it misses the objective at that load, the
// search goes on below it.
func BoundsOf(e *experiment.Experiment, c *experiment.Cell, found map[int][]float64) *signals.SearchBounds {
	if !e.SearchesOneServer() || c.Index == 0 || len(found[0]) == 0 {
		return nil
	}
	whole := func(load float64) float64 {
		if c.Load.Users != nil {
			return max(1, math.Round(load))
		}
		return load
	}
	if unlimited(e, c) {
		most := 0.0
		for cell, loads := range found {
			if cell != c.Index {
				most = max(most, slices.Max(loads))
			}
		}
		load := whole(higher * most)
		return &signals.SearchBounds{First: load, Most: load, Short: true}
	}
	first := beginAt * slices.Max(found[0])
	if now, before := c.Limits.CPUMillis, e.Cells[0].Limits.CPUMillis; now > 0 && before > 0 {
		first *= min(2, float64(now)/float64(before))
	}
	return &signals.SearchBounds{First: whole(first), Short: true}
}

// unlimited reports whether a cell has no CPU limit, and the first cell has one.
func unlimited(e *experiment.Experiment, c *experiment.Cell) bool {
	return c.Limits.CPUMillis == 0 && e.Cells[0].Limits.CPUMillis > 0
}

// LongestSearch estimates the longest time of a search in a cell, without its warm-up. The
// stages after the answer mostly take a quarter of their longest time.
func LongestSearch(e *experiment.Experiment, c *experiment.Cell) time.Duration {
	switch {
	case !e.SearchesOneServer() || c.Index == 0:
		return e.Measure.Duration + SearchConfig(e, c, nil).After/4
	case unlimited(e, c):
		return min(holding, e.Measure.Duration/2)
	}
	return e.Measure.Duration / 2
}
