package report

import (
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/analysis"
)

// disturbers is who took CPU that was not theirs, as a sentence says it.
type disturbers struct {
	subject string // begins a sentence
	where   string // to repeat it
}

var (
	neighbours = disturbers{"Other processes", "on a quiet host"}
	hypervisor = disturbers{"The hypervisor", "where it takes less CPU"}
	both       = disturbers{"Other processes and the hypervisor", "on a quiet host"}
	unnamed    = disturbers{"Other processes or the hypervisor", "on a quiet host"} // a summary that does not say who
	nobody     = disturbers{}
)

// disturbersOf tells who disturbed a cell so much that its figures may be
// theirs: in its trials, or while its breaking point was looked for.
func disturbersOf(c *analysis.CellSummary) disturbers {
	searched := slices.Contains(c.Flags, "search_disturbed")
	near := slices.Contains(c.Flags, "busy_neighbour") || searched && c.DisturbedBy(analysis.Neighbours)
	below := slices.Contains(c.Flags, "busy_hypervisor") || searched && c.DisturbedBy(analysis.Hypervisor)
	switch {
	case near && below:
		return both
	case near:
		return neighbours
	case below:
		return hypervisor
	case searched:
		return unnamed
	}
	return nobody
}

// disturbed names the cells that others disturbed, and who did: the machine then
// decides the answer.
func (a *answer) disturbed() []string {
	cells := 0
	names := map[disturbers][]string{}
	for i := range a.s.Cells {
		c := &a.s.Cells[i]
		if failed(c) && !searched(c) && len(c.Benchmarks) == 0 {
			continue
		}
		cells++
		if who := disturbersOf(c); who != nobody {
			names[who] = append(names[who], a.names[i])
		}
	}
	var all []string
	for _, who := range []disturbers{neighbours, both, unnamed, hypervisor} {
		if of := names[who]; len(of) > 0 {
			all = append(all, who.sentence(of, cells))
		}
	}
	return all
}

// sentence says of which of so many cells they took CPU.
func (d disturbers) sentence(names []string, cells int) string {
	what := list(names)
	switch {
	case len(names) == cells:
		what = "the run"
	case len(names) > fewNames:
		what = fmt.Sprintf("%d cells", len(names))
	}
	return fmt.Sprintf("%s disturbed %s: repeat it %s.", d.subject, what, d.where)
}
