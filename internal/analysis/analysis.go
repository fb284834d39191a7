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
	"sort"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Builder takes the frames of a record as a stream and computes what they mean.
type Builder struct {
	exp      *experiment.Experiment
	attempts []Attempt
	counted  map[int]bool
	cells    []*cell
	series   map[int]*seriesBuilder // by trial
	latest   [2]*seriesBuilder      // of the trials that began last, the later one first
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
		switch {
		case b.counted[a.Trial]:
			b.cells[a.Cell].begin(a, byTrial[a.Trial])
		case a.State == Disturbed:
			b.cells[a.Cell].repeat(a)
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

// Skip declares that a service was not available where the record was made, and so has
// no trials. The reason is in words, with what to install. Call it before Summarize.
func (b *Builder) Skip(service, reason string) {
	for _, c := range b.cells {
		if c.plan.Service.Name == service {
			c.skipped = reason
		}
	}
}

// Window takes a window of the record, in any order.
func (b *Builder) Window(w *signals.Window) {
	if b.counted[w.Trial] {
		b.cells[w.Cell].tail.causes.Window(*w)
	}
}

// Slow takes a slow request of the record, in any order.
func (b *Builder) Slow(s *signals.SlowLine) {
	if b.counted[s.Trial] {
		b.cells[s.Cell].tail.slow = append(b.cells[s.Cell].tail.slow, *s)
	}
}

// Add takes one frame. Frames come in the order of the record. Of attempts that do not
// count only those that were disturbed are kept, to compare with those that count.
func (b *Builder) Add(f *signals.Frame) {
	b.cells[f.Cell].add(f)
	if !b.counted[f.Trial] {
		return
	}
	s := b.series[f.Trial]
	if s == nil {
		if earlier := b.latest[1]; earlier != nil { // all its frames have come, or it would stay in memory
			earlier.finish()
		}
		s = newSeriesBuilder(f.Trial, &b.exp.Cells[f.Cell], f.Start)
		b.series[f.Trial], b.latest = s, [2]*seriesBuilder{s, b.latest[0]}
	}
	s.add(f)
}

// Series returns the frames of the counted trials joined by time, ordered by trial.
func (b *Builder) Series() []summary.Series {
	trials := make([]int, 0, len(b.series))
	for t := range b.series {
		trials = append(trials, t)
	}
	sort.Ints(trials)
	all := make([]summary.Series, 0, len(trials))
	for _, t := range trials {
		all = append(all, b.series[t].finish())
	}
	return all
}

// Benchmark takes a result of the record; those of attempts that do not count are
// ignored.
func (b *Builder) Benchmark(l BenchmarkLine) {
	if !b.counted[l.Trial] {
		return
	}
	if t := b.cells[l.Cell].trial(l.Trial); t != nil {
		t.benchmarks = append(t.benchmarks, l)
	}
}
