package analysis

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/search"
)

// The words of BreakingPoint.DisturbedBy.
const (
	Neighbours = "neighbours" // processes that the experiment did not start
	Hypervisor = "hypervisor" // what this host runs on: stolen time
)

// searchDisturbed is the flag of a cell whose search, or the levels that its
// breaking point was to be read from, others disturbed.
const searchDisturbed = "search_disturbed"

// disturbers names who took CPU in windows of the cell's searches, or at the
// levels from which on it cannot be told where the service breaks.
func (c *cell) disturbers() []string {
	var by search.Disturber
	for _, t := range c.trials {
		if t.search != nil {
			by |= t.search.disturbers()
		} else {
			by |= c.upsetters(t)
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

// upsetters are who took CPU at the level of a trial that upset its climb.
func (c *cell) upsetters(t *trialTally) (by search.Disturber) {
	if c.exp.Objective == nil || c.levels == nil {
		return 0
	}
	climb := c.climb(func(level int) *tally { return t.levels[level] })
	for i, level := range c.levels.held {
		if climb.upset != nil && level.target == climb.upset.target {
			by |= t.levels[i].noise.disturbers()
		}
	}
	return by
}

// DisturbedBy reports whether it is known that one of the words took CPU while
// the cell's breaking point was looked for.
func (c *CellSummary) DisturbedBy(who string) bool {
	return c.Breaking != nil && slices.Contains(c.Breaking.DisturbedBy, who)
}
