package analysis

import "github.com/millicore/millicore/internal/data/signals"

// Attempt is one trial of the record, with what analysis needs to know about it.
type Attempt struct {
	Trial, Cell, Repeat, Attempt int
	State                        State
	Why                          string
	Lost                         []int // agents that stopped before the load ended
	Held                         []int // agents that a signal stopped
	Neighbours                   []signals.Neighbour
	Starts                       []signals.Start // of the replicas; nil: the service ran already
	Early                        bool            // disturbed, and ended early because it was to be repeated
}

// cut reports whether an attempt did not run to its end.
func (a Attempt) cut() bool { return a.State == Partial || a.Early }

// State is how an attempt ended.
type State int

const (
	Complete  State = iota // ran to its end, undisturbed
	Disturbed              // others took CPU
	Partial                // was cut off: interrupted, or the run was killed
	Profiled               // took profiles; it never counts
	Failed                 // the service or an agent did not start, or stopped early
	Invalid                // a limit did not hold
)

// Counted returns the numbers of the trials that count: of each planned trial the
// first complete attempt, or else the last disturbed one. A trial that was cut off
// counts only if its cell has nothing else. The choice depends on whether an attempt
// was disturbed, never on its figures.
func Counted(attempts []Attempt) map[int]bool {
	type planned struct{ cell, repeat int }
	best := map[planned]Attempt{}
	whole := map[int]bool{} // cells with an attempt that ran to its end
	for _, a := range attempts {
		if a.State > Disturbed || a.cut() {
			continue
		}
		whole[a.Cell] = true
		key := planned{a.Cell, a.Repeat}
		if b, ok := best[key]; !ok || b.State == Disturbed {
			best[key] = a
		}
	}
	counted := map[int]bool{}
	for _, a := range best {
		counted[a.Trial] = true
	}
	for _, a := range attempts {
		if a.cut() && !whole[a.Cell] {
			counted[a.Trial] = true
		}
	}
	return counted
}
