// Package analysis is what a record means: per cell the golden signals with
// their intervals, what disturbed them, and whether the objective was met. It
// is pure: frames and words in, figures and findings out; no clock, no file, no
// network. So a figure can always be computed again from the record.
package analysis

import (
	"sort"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// Attempt is one trial of the record, as far as analysis needs to know it.
type Attempt struct {
	Trial, Cell, Repeat, Attempt int
	State                        State
	Why                          string
	Lost                         []int // agents that broke off in the middle of the load
}

// State of an attempt.
type State int

const (
	Complete  State = iota // ran to its end, undisturbed
	Disturbed              // ran to its end beside a busy neighbour
	Partial                // was cut off: interrupted, or the run was killed
	Profiled               // took profiles, and counts nowhere
	Failed                 // the service or an agent could not be started, or broke off
)

// Counted chooses the attempts that count: of each planned trial the first
// complete one, else the last disturbed one. A trial that was cut off counts
// only in a cell that has nothing else. The choice looks at what disturbed a
// trial, never at how its figures turned out.
func Counted(attempts []Attempt) map[int]bool {
	type planned struct{ cell, repeat int }
	best := map[planned]Attempt{}
	whole := map[int]bool{} // cells with an attempt that ran to its end
	for _, a := range attempts {
		if a.State > Disturbed {
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
		if a.State == Partial && !whole[a.Cell] {
			counted[a.Trial] = true
		}
	}
	return counted
}

// Builder takes the frames of a record as a stream and gives what they mean.
type Builder struct {
	exp      *experiment.Experiment
	attempts []Attempt
	counted  map[int]bool
	cells    []*cell
	series   map[int]*seriesBuilder // by trial
}

// New returns a builder for a record of the experiment with these attempts, and
// the steps of its searches.
func New(e *experiment.Experiment, attempts []Attempt, steps ...signals.SearchStep) *Builder {
	b := &Builder{exp: e, attempts: attempts, counted: Counted(attempts), series: map[int]*seriesBuilder{}}
	for i := range e.Cells {
		b.cells = append(b.cells, newCell(e, &e.Cells[i]))
	}
	byTrial := map[int][]signals.SearchStep{}
	for _, s := range steps {
		byTrial[s.Trial] = append(byTrial[s.Trial], s)
	}
	for _, a := range attempts {
		if b.counted[a.Trial] {
			b.cells[a.Cell].begin(a, byTrial[a.Trial])
		}
	}
	return b
}

// NoWindows says that nobody could see when replicas were throttled, but only
// that they were: where one was, what that made of its tail is not known.
func (b *Builder) NoWindows() {
	for _, c := range b.cells {
		c.noWindows = true
	}
}

// Add takes one frame. Frames come in the order of the record; those of
// attempts that do not count are passed over.
func (b *Builder) Add(f *signals.Frame) {
	if !b.counted[f.Trial] {
		return
	}
	b.cells[f.Cell].add(f)
	s := b.series[f.Trial]
	if s == nil {
		s = newSeriesBuilder(f.Trial, &b.exp.Cells[f.Cell], f.Start)
		b.series[f.Trial] = s
	}
	s.add(f)
}

// Series returns the counted trials' frames joined by time, in the trials'
// order.
func (b *Builder) Series() []Series {
	trials := make([]int, 0, len(b.series))
	for t := range b.series {
		trials = append(trials, t)
	}
	sort.Ints(trials)
	all := make([]Series, 0, len(trials))
	for _, t := range trials {
		all = append(all, b.series[t].finish())
	}
	return all
}

// Cells returns the cells' summaries in the plan's order.
func (b *Builder) Cells() []CellSummary {
	all := make([]CellSummary, 0, len(b.cells))
	for _, c := range b.cells {
		all = append(all, c.summary(b.attempts))
	}
	return all
}
