// Package analysis computes what a record means: for each cell the golden signals with
// their intervals, the breaking point, the causes of the slow tail, what disturbed the
// measurement, and whether the objective was met. It compares cells, judges the claims
// of an experiment, and writes findings.
//
// It is pure: frames and lines of a record in, figures and findings out. It has no
// clock, file or network, so every figure can be computed again from the record. It
// does not read records (package record), run trials (package lab) or format reports
// (package report).
//
// The path of a frame: a Builder passes it to its cell, the cell to its trial (trial.go),
// the trial to its sums (package sums). From these, cell.go builds the summary of the
// cell. Each judgement has one place:
//
//   - package objective: whether sums meet the objective
//   - package capacity: the breaking point, and what limits the service there
//   - disturbers.go, flags.go: what qualifies the figures
//   - package verdict: which cells differ, and whether a published statement holds
//   - findings.go, order.go, growth.go: what is worth stating
package analysis

import (
	"cmp"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Builder takes the frames of a record as a stream and computes what they mean. The lines
// of a cell need memory until it is closed, so a reader of a record with many cells reads
// cell by cell, and closes each.
type Builder struct {
	exp       *experiment.Experiment
	attempts  []Attempt
	counted   map[int]bool
	steps     map[int][]signals.SearchStep // by trial
	noWindows bool
	skipped   map[string]string // by service: why it was not available

	open   []*cell       // by cell; nil: it has no lines yet, or is closed
	closed []*closedCell // by cell; nil: it is not closed
}

// closedCell is what remains of a cell.
type closedCell struct {
	summary     summary.Cell
	trials      int
	met, missed *float64                 // the levels that decide: see capacity.Ramps
	at          map[float64]summary.Cell // what it shows at the levels that claims are about
	cpus        int                      // of the host
	series      []summary.Series         // of its counted trials, ordered by trial
}

// New returns a builder for a record of the experiment with these attempts and with
// the steps of its searches.
func New(e *experiment.Experiment, attempts []Attempt, steps ...signals.SearchStep) *Builder {
	b := &Builder{exp: e, attempts: attempts, counted: Counted(attempts), steps: map[int][]signals.SearchStep{}, skipped: map[string]string{},
		open: make([]*cell, len(e.Cells)), closed: make([]*closedCell, len(e.Cells))}
	for _, s := range steps {
		b.steps[s.Trial] = append(b.steps[s.Trial], s)
	}
	return b
}

// cell returns a cell that takes lines; nil: it is closed.
func (b *Builder) cell(index int) *cell {
	if b.closed[index] != nil || b.open[index] != nil {
		return b.open[index]
	}
	c := newCell(b.exp, &b.exp.Cells[index])
	c.noWindows, c.skipped = b.noWindows, b.skipped[c.plan.Service.Name]
	for _, a := range b.attempts {
		switch {
		case a.Cell != index:
		case b.counted[a.Trial]:
			c.begin(a, b.steps[a.Trial])
		case a.State == Disturbed:
			c.repeat(a)
		}
	}
	b.open[index] = c
	return c
}

// Close computes the figures of a cell, and frees what they were computed from. Lines of
// the cell that come later are ignored. Lines of other cells may come meanwhile.
func (b *Builder) Close(index int) { b.close(index) }

func (b *Builder) close(index int) *closedCell {
	c := b.cell(index)
	if c == nil {
		return b.closed[index]
	}
	out := &closedCell{trials: len(c.trials), at: map[float64]summary.Cell{}}
	for _, t := range c.trials {
		out.cpus = max(out.cpus, t.all.Noise.Machines().CPUs())
		if s := c.series[t.attempt.Trial]; s != nil {
			out.series = append(out.series, s.finish())
		}
	}
	if r := c.ramps(); r.Judged() {
		out.met, out.missed = r.Decisive()
	}
	for _, level := range b.claimedLevels(index) {
		if s, ok := c.atLevel(level); ok {
			out.at[level] = s
		}
	}
	out.summary = c.summary(b.attempts) // the last, because it clears what does not count
	b.open[index], b.closed[index] = nil, out
	return out
}

// NoWindows declares that the throttle windows of the replicas are unknown and only
// the number of throttled periods was read. The share of throttling in the slow tail
// is then unknown where a replica was throttled. Call it before any line is taken.
func (b *Builder) NoWindows() { b.noWindows = true }

// Skip declares that a service was not available where the record was made, and so has
// no trials. The reason is in words, with what to install. Call it before any line is taken.
func (b *Builder) Skip(service, reason string) { b.skipped[service] = reason }

// Window takes a window of the record, in any order.
func (b *Builder) Window(w *signals.Window) {
	if c := b.cell(w.Cell); c != nil && b.counted[w.Trial] {
		c.tail.causes.Window(*w)
	}
}

// Slow takes a slow request of the record, in any order.
func (b *Builder) Slow(s *signals.SlowLine) {
	if c := b.cell(s.Cell); c != nil && b.counted[s.Trial] {
		c.tail.slow = append(c.tail.slow, *s)
	}
}

// Add takes one frame. Frames come in the order of the record. Of attempts that do not
// count only those that were disturbed are kept, to compare with those that count.
func (b *Builder) Add(f *signals.Frame) {
	c := b.cell(f.Cell)
	if c == nil {
		return
	}
	c.add(f)
	if b.counted[f.Trial] {
		c.seriesOf(f).add(f)
	}
}

// Series returns the frames of the counted trials joined by time, ordered by trial. It closes
// the cells.
func (b *Builder) Series() []summary.Series {
	all := []summary.Series{}
	for i := range b.exp.Cells {
		all = append(all, b.close(i).series...)
	}
	slices.SortFunc(all, func(x, y summary.Series) int { return cmp.Compare(x.Trial, y.Trial) })
	return all
}

// Benchmark takes a result of the record; those of attempts that do not count are
// ignored.
func (b *Builder) Benchmark(l BenchmarkLine) {
	c := b.cell(l.Cell)
	if c == nil || !b.counted[l.Trial] {
		return
	}
	if t := c.trial(l.Trial); t != nil {
		t.benchmarks = append(t.benchmarks, l)
	}
}
