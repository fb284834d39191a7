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
	// longEnough is the traffic of which one half finds a breaking point that is known roughly.
	longEnough = 20 * time.Second
)

// BoundsOf returns where the search of a cell looks. found are the breaking points of the
// searches of the run that have ended, by cell. nil: the bounds of the experiment.
//
// Of one server in several settings, the first search shows where the others begin. Without
// the CPU limit the server is held at one load, above all that it held under a limit: how
// much more it could do there decides nothing. If it misses the objective at that load, the
// search goes on below it.
func BoundsOf(e *experiment.Experiment, c *experiment.Cell, found map[int][]float64) *signals.SearchBounds {
	if e.SearchesOneServer() && e.Server.Against() != "" {
		return alikeBounds(e, c, found)
	}
	if !e.SearchesOneServer() || c.Index == 0 || len(found[0]) == 0 {
		return nil
	}
	if unlimited(e, c) {
		most := 0.0
		for cell, loads := range found {
			if cell != c.Index {
				most = max(most, slices.Max(loads))
			}
		}
		load := inUnits(c, higher*most)
		return &signals.SearchBounds{First: load, Most: load, Short: true}
	}
	first := beginAt * slices.Max(found[0])
	if now, before := c.Limits.CPUMillis, e.Cells[0].Limits.CPUMillis; now > 0 && before > 0 {
		first *= min(2, float64(now)/float64(before))
	}
	return &signals.SearchBounds{First: inUnits(c, first), Short: c.Service.Neighbour() == nil}
}

// alikeBounds are the bounds of two services that are held against each other. Both are searched
// alike, so that the search makes no difference between them: the first search of each has the
// bounds of the experiment, and the others begin below the lower breaking point. Of each service
// that is the highest that was found: a search that ran out of time found only a bound, and if
// the next one began below that, it would run out of time lower down.
func alikeBounds(e *experiment.Experiment, c *experiment.Cell, found map[int][]float64) *signals.SearchBounds {
	if len(found[c.Index]) == 0 {
		return nil
	}
	least := math.Inf(1)
	for _, loads := range found {
		if len(loads) > 0 {
			least = min(least, slices.Max(loads))
		}
	}
	return &signals.SearchBounds{First: inUnits(c, beginAt*least), Short: e.Measure.Duration-e.Measure.Warmup >= longEnough}
}

// inUnits is a load of a cell: a number of users has no fraction.
func inUnits(c *experiment.Cell, load float64) float64 {
	if c.Load.Users != nil {
		return max(1, math.Round(load))
	}
	return load
}

// unlimited reports whether a cell has no CPU limit, and the first cell has one. Beside a
// neighbour it is searched as the others, for as long as the first: it may hold less.
func unlimited(e *experiment.Experiment, c *experiment.Cell) bool {
	return c.Limits.CPUMillis == 0 && e.Cells[0].Limits.CPUMillis > 0 && c.Service.Neighbour() == nil
}

// LongestSearch estimates the longest time of a search in a cell, without its warm-up. The
// stages after the answer mostly take a quarter of their longest time.
func LongestSearch(e *experiment.Experiment, c *experiment.Cell) time.Duration {
	switch {
	case !e.SearchesOneServer() || c.Index == 0 || c.Service.Neighbour() != nil:
		return e.Measure.Duration + SearchConfig(e, c, nil).After/4
	case unlimited(e, c):
		return min(holding, e.Measure.Duration/2)
	}
	return e.Measure.Duration / 2
}
