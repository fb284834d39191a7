// Package analysis computes what a record means: for each cell the golden signals with
// their intervals, the breaking point, the causes of the slow tail, what disturbed the
// measurement, and whether the objective was met. It compares cells, judges the claims
// of an experiment, and writes findings.
//
// It is pure: frames and lines of a record in, figures and findings out. It has no
// clock, file or network, so every figure can be computed again from the record. It
// does not read records (package record), run trials (package lab) or format reports
// (package report).
package analysis

import (
	"sort"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// Attempt is one trial of the record, with what analysis needs to know about it.
type Attempt struct {
	Trial, Cell, Repeat, Attempt int
	State                        State
	Why                          string
	Lost                         []int // agents that stopped before the load ended
}

// State is how an attempt ended.
type State int

const (
	Complete  State = iota // ran to its end, undisturbed
	Disturbed              // ran to its end while others took CPU
	Partial                // was cut off: interrupted, or the run was killed
	Profiled               // took profiles; it never counts
	Failed                 // the service or an agent did not start, or stopped early
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

// Builder takes the frames of a record as a stream and computes what they mean.
type Builder struct {
	exp      *experiment.Experiment
	attempts []Attempt
	counted  map[int]bool
	cells    []*cell
	series   map[int]*seriesBuilder // by trial
}

// New returns a builder for a record of the experiment with these attempts and with
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

// NoWindows declares that the throttle windows of the replicas are unknown and only
// the number of throttled periods was read. The share of throttling in the slow tail
// is then unknown where a replica was throttled.
func (b *Builder) NoWindows() {
	for _, c := range b.cells {
		c.noWindows = true
	}
}

// Add takes one frame. Frames come in the order of the record. Frames of attempts that
// do not count are ignored.
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

// Series returns the frames of the counted trials joined by time, ordered by trial.
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
