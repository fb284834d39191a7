package experiment

import "math/rand/v2"

// Trial is one run of one cell.
type Trial struct {
	Number int `json:"number"` // from 1, in the order of the plan
	Cell   int `json:"cell"`   // index of the cell
	Repeat int `json:"repeat"` // from 1: which of the cell's trials
}

// Plan is the order of all trials. It consists of rounds that have every cell once,
// so that slow changes of a shared machine affect all cells alike. Rounds come in
// pairs: one in shuffled order, then the same order reversed (A B C C B A). In a
// pair every cell has the same mean position, so that a linear drift, of the
// machine's temperature or of a neighbour's load, cancels out of the differences
// between cells. The next pair is shuffled again, against periodic drift. An odd
// last round has no partner. The same seed gives the same plan.
//
// The first round of searches of one server in several settings has the order of the file:
// the server as it is first, which gives the first answer, and the bounds of the searches
// that follow.
//
// If services stay up between trials, the trials of a cell follow one another
// instead, and the cells are in shuffled order. Drift then cannot be distinguished
// from a difference between cells.
func (e *Experiment) Plan(seed uint64) []Trial {
	source := rand.New(rand.NewPCG(seed, 0))
	if e.Measure.Kept {
		return e.inARow(source)
	}
	cells := len(e.Cells)
	order := make([]int, cells)
	for i := range order {
		order[i] = i
	}
	plan := make([]Trial, 0, cells*e.Measure.Repeats)
	for repeat := 1; repeat <= e.Measure.Repeats; repeat++ {
		forward := repeat%2 == 1
		if forward && (repeat > 1 || !e.SearchesOneServer()) {
			source.Shuffle(cells, func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		for i := range order {
			cell := order[i]
			if !forward {
				cell = order[cells-1-i]
			}
			plan = append(plan, Trial{Number: len(plan) + 1, Cell: cell, Repeat: repeat})
		}
	}
	return plan
}

func (e *Experiment) inARow(source *rand.Rand) []Trial {
	plan := make([]Trial, 0, len(e.Cells)*e.Measure.Repeats)
	for _, cell := range source.Perm(len(e.Cells)) {
		for repeat := 1; repeat <= e.Measure.Repeats; repeat++ {
			plan = append(plan, Trial{Number: len(plan) + 1, Cell: cell, Repeat: repeat})
		}
	}
	return plan
}
