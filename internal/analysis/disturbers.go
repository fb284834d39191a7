package analysis

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/search"
)

// The values of BreakingPoint.DisturbedBy.
const (
	Neighbours = "neighbours" // processes that the experiment did not start
	Hypervisor = "hypervisor" // what this host runs on: steal time
)

// searchDisturbed is the flag of a cell if others disturbed its search, or the levels
// that decide the breaking point of its ramp.
const searchDisturbed = "search_disturbed"

// disturbers names who took CPU in windows of the cell's searches, or at the levels
// that left the breaking point of its ramps unknown.
func (c *cell) disturbers() []string {
	var by search.Disturber
	for _, t := range c.trials {
		if t.search != nil {
			by |= t.search.disturbers()
		} else {
			by |= c.rampDisturbers(t)
		}
	}
	var words []string
	for _, one := range []struct {
		who  search.Disturber
		word string
	}{{search.Neighbour, Neighbours}, {search.Hypervisor, Hypervisor}} {
		if by&one.who != 0 {
			words = append(words, one.word)
		}
	}
	return words
}

// rampDisturbers returns who took CPU at the disturbed level of a trial's ramp.
func (c *cell) rampDisturbers(t *trialTally) (by search.Disturber) {
	if c.exp.Objective == nil || c.levels == nil {
		return 0
	}
	ramp := c.ramp(func(level int) *tally { return t.levels[level] })
	for i, level := range c.levels.held {
		if ramp.disturbed != nil && level.target == ramp.disturbed.target {
			by |= t.levels[i].noise.disturbers()
		}
	}
	return by
}

// DisturbedBy reports whether it is known that one of Neighbours and Hypervisor took
// CPU during the search for the cell's breaking point.
func (c *CellSummary) DisturbedBy(who string) bool {
	return c.Breaking != nil && slices.Contains(c.Breaking.DisturbedBy, who)
}
