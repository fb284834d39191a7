package analysis

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/experiment"
)

// The values of BreakingPoint.DisturbedBy.
const (
	Neighbours = "neighbours" // processes that the experiment did not start
	Hypervisor = "hypervisor" // what this host runs on: steal time
)

// disturbedBy names who took CPU in windows of the cell's searches, or at the levels
// that left the breaking point of its ramps unknown.
func (c *cell) disturbedBy() (words []string) {
	by := c.ramps().sources()
	for _, t := range c.trials {
		if t.search != nil {
			by |= t.search.sources()
		}
	}
	if by&disturbance.Neighbour != 0 {
		words = append(words, Neighbours)
	}
	if by&disturbance.Hypervisor != 0 {
		words = append(words, Hypervisor)
	}
	return words
}

// DisturbedBy reports whether it is known that one of Neighbours and Hypervisor took
// CPU during the search for the cell's breaking point.
func (c *CellSummary) DisturbedBy(who string) bool {
	return c.Breaking != nil && slices.Contains(c.Breaking.DisturbedBy, who)
}

// WhyDisturbed returns why a trial of an experiment is to be repeated, by what was not the
// service's in it; "": it is not.
func WhyDisturbed(e *experiment.Experiment, n *disturbance.Noise) string {
	return n.Disturbed(goal{objective: e.Objective}.late())
}

// Disturbers are who else took CPU that a cell needed, so much that its figures
// may be theirs.
type Disturbers struct {
	Neighbours bool // processes that the experiment did not start
	Hypervisor bool // stolen time
	Unnamed    bool // one of the two: the record does not say which
}

// Disturbers of the cell, in its trials or while its breaking point was looked for.
func (c *CellSummary) Disturbers() Disturbers {
	searched := c.Has(FlagSearchDisturbed)
	d := Disturbers{
		Neighbours: c.Has(FlagBusyNeighbour) || searched && c.DisturbedBy(Neighbours),
		Hypervisor: c.Has(FlagBusyHypervisor) || searched && c.DisturbedBy(Hypervisor),
	}
	d.Unnamed = searched && !d.Neighbours && !d.Hypervisor
	return d
}

// And are the disturbers of two cells. Those that are named stand for all.
func (d Disturbers) And(other Disturbers) Disturbers {
	both := Disturbers{Neighbours: d.Neighbours || other.Neighbours, Hypervisor: d.Hypervisor || other.Hypervisor}
	both.Unnamed = (d.Unnamed || other.Unnamed) && !both.Neighbours && !both.Hypervisor
	return both
}
