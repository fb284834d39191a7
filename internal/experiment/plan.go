package experiment

import "math/rand/v2"

// Trial is one run of one cell.
type Trial struct {
	Number int `json:"number"` // from 1, in the order of the plan
	Cell   int `json:"cell"`   // index of the cell
	Repeat int `json:"repeat"` // from 1: which of the cell's trials
}

// Plan is the order of all trials. It is rounds of every cell once, so that
// what a shared machine does over minutes falls on all cells alike. Rounds come
// in pairs: one in shuffled order, then the same order backwards (A B C C B A).
// In a pair every cell has the same mean position, and so a steady drift, of
// the machine's heat or of a neighbour's load, cancels out of every difference
// between cells. The next pair is shuffled again, against periodic drift;
// an odd last round stands alone. The same seed gives the same plan.
//
// Where services stay up between trials, the trials of a cell follow one another
// instead, and the cells come in shuffled order. Drift cannot be distinguished
// from a difference between cells then.
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
		if forward {
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
