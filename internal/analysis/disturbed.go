package analysis

import "slices"

// Disturbers are who else took CPU that a cell needed, so much that its figures
// may be theirs.
type Disturbers struct {
	Neighbours bool // processes that the experiment did not start
	Hypervisor bool // stolen time
	Unnamed    bool // one of the two: the record does not say which
}

// Disturbers of the cell, in its trials or while its breaking point was looked for.
func (c *CellSummary) Disturbers() Disturbers {
	searched := slices.Contains(c.Flags, searchDisturbed)
	d := Disturbers{
		Neighbours: slices.Contains(c.Flags, "busy_neighbour") || searched && c.DisturbedBy(Neighbours),
		Hypervisor: slices.Contains(c.Flags, "busy_hypervisor") || searched && c.DisturbedBy(Hypervisor),
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
