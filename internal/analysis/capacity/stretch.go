package capacity

import (
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
)

// Stretch is a part of a trial whose limit is in question: the window of a search, a
// level of a ramp, or all of a constant load.
type Stretch struct {
	Goal objective.Goal
	Open bool // an open loop
	Sums *sums.Total
	// beside is the dependency that is a busy neighbour on purpose; "": there is none. It is what
	// the service is measured beside, and limits nothing by its own limit.
	beside string
	// over are the windows, or levels, that missed the objective at this load and at
	// higher ones. What is used up shows best where the load exceeds the capacity.
	over []overload
	// below are the windows, or levels, that met the objective at clearly lower loads
	// together, where requests hardly wait for each other; nil: there are none.
	below *sums.Total
	// kept are, if there are none, the windows at as clearly lower loads than the highest
	// overload that the service kept up with, though late; nil: there are none.
	kept *sums.Total
	// quiet are the intervals without a request after the searches; nil: there are none.
	quiet *sums.Total
}

// stretchOf is an empty stretch of a cell.
func stretchOf(e *experiment.Experiment, c *experiment.Cell) Stretch {
	s := Stretch{Goal: objective.Of(e, c), Open: c.Load.Users == nil, Sums: sums.New()}
	if n := c.Service.Neighbour(); n != nil {
		s.beside = n.Name
	}
	return s
}

// overload is a window of a search, or a level of a ramp, that missed the objective.
type overload struct {
	load float64 // requests/s, or users
	sums *sums.Total
}

const (
	// lightly is the share of the lowest load that missed the objective up to which a load
	// is clearly lower.
	lightly = 0.75
	// atLimit is the share of its own CPU limit from which that limit is what limits a
	// service, and not a host without idle CPU.
	atLimit = 0.9
	// throttledLittle is the share of throttled periods from which throttling is worth
	// a look.
	throttledLittle = 0.1
	// throttledFew is the number of throttled periods below which their share is chance:
	// a short window of a search has ten periods.
	throttledFew = 3
	// waitShare is the share of a request's time from which a wait for a dependency is
	// what limits.
	waitShare = 0.5
	// waitWorth is the share from which it is worth a word beside what may be a pool.
	waitWorth = 0.1
)
