// Package results is the one way from a record to its results: one pass over the
// frames gives the summary, the series over time, and what else a reader takes
// from each frame. The figures are those of analysis; narrative words them, and
// report shows them. Open only reads; Derive also replaces latency.hlog.
package results

import (
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/capacity"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/profile"
	"github.com/millicore/millicore/internal/lab/wording"
)

// Results are what is derived from a record.
type Results struct {
	Record  *record.Record
	Summary *summary.Summary
	Series  []summary.Series // empty where the frames are lost
	// Unwritten is why Derive could not replace latency.hlog; nil: it did, or was not
	// called.
	Unwritten error
}

// Open computes the results of the record in a folder from its frames alone, within the
// bounds of a reader, and writes nothing. It works on the record of a run that was killed or
// still goes on. Each of readers gets every frame, cell by cell, also of trials that do not
// count.
func Open(with record.Reader, dir string, readers ...func(*signals.Frame)) (Results, error) {
	r, err := with.Open(dir)
	if err != nil {
		return Results{}, err
	}
	all, err := compute(r, readers)
	if err != nil {
		return Results{}, err
	}
	return all, all.common(func(part *record.Record) (Results, error) { return compute(part, nil) })
}

// Cells computes the figures of some cells of a record, and reads their lines only. The others
// have no trials in the summary.
func Cells(r *record.Record, cells ...int) (*summary.Summary, error) {
	wanted := map[int]bool{}
	for _, cell := range cells {
		wanted[cell] = true
		for _, other := range capacity.Beside(r.Run.Experiment, cell) {
			wanted[other] = true
		}
	}
	builder, err := newBuilder(r, slices.DeleteFunc(attempts(r), func(a analysis.Attempt) bool { return !wanted[a.Cell] }))
	if err != nil {
		return nil, err
	}
	for _, cell := range slices.Sorted(maps.Keys(wanted)) {
		if err := readCell(builder, r.Of(cell), nil); err != nil {
			return nil, err
		}
		builder.Close(cell)
	}
	s := builder.Summarize(about(r), r.Run.Host)
	wording.Fill(s)
	return s, nil
}

// Derive does the same as Open, and replaces the record's latency.hlog by one of the counted trials,
// in the same pass over the frames. A record that may only be read has results, too.
func Derive(with record.Reader, dir string, readers ...func(*signals.Frame)) (Results, error) {
	r, err := with.Open(dir)
	if err != nil {
		return Results{}, err
	}
	all, err := derive(r, readers)
	if err != nil {
		return all, err
	}
	return all, all.common(func(part *record.Record) (Results, error) { return derive(part, nil) })
}

func derive(r *record.Record, readers []func(*signals.Frame)) (Results, error) {
	record.Sweep(r.Dir)
	run, counted := &r.Run, analysis.Counted(attempts(r))
	var builder *analysis.Builder
	var err error
	unwritten := record.ReplaceHlog(filepath.Join(r.Dir, record.LatencyFile), run.Experiment, run.Started, func(h *record.Hlog) error {
		var appended error
		appendTo := func(f *signals.Frame) {
			if counted[f.Trial] && appended == nil {
				appended = h.Frame(f)
			}
		}
		builder, err = read(r, append(slices.Clone(readers), appendTo))
		return errors.Join(err, appended)
	})
	if builder == nil && err == nil { // the log could not be created
		builder, err = read(r, readers)
	}
	if err != nil {
		return Results{}, err
	}
	all, err := finish(r, builder)
	all.Unwritten = unwritten
	return all, err
}

// common adds the second part of a run of searches, which open computes. A run that ended
// before its second part has none.
func (r *Results) common(open func(*record.Record) (Results, error)) error {
	planned := r.Record.Run.Experiment.CommonLoad()
	if planned == nil {
		return nil
	}
	e := &r.Summary.Experiment
	second, err := r.Record.Common()
	if err != nil {
		return err
	}
	if second == nil {
		if e.Interrupted = !r.Record.Finished; e.Interrupted {
			e.TrialsPlanned += planned.Repeats * len(r.Summary.Cells)
		}
		return nil
	}
	part, err := open(second)
	if err != nil {
		return err
	}
	r.Summary.Common = part.Summary
	e.TrialsPlanned += part.Summary.Experiment.TrialsPlanned
	e.TrialsDone += part.Summary.Experiment.TrialsDone
	e.Interrupted = e.Interrupted || part.Summary.Experiment.Interrupted
	r.Unwritten = errors.Join(r.Unwritten, part.Unwritten)
	return nil
}

func compute(r *record.Record, readers []func(*signals.Frame)) (Results, error) {
	builder, err := read(r, readers)
	if err != nil {
		return Results{}, err
	}
	return finish(r, builder)
}

// read makes the one pass over the lines of a record, cell by cell. It keeps those of two: the
// figures of one are computed while the next is read.
func read(r *record.Record, readers []func(*signals.Frame)) (*analysis.Builder, error) {
	builder, err := newBuilder(r, attempts(r))
	if err != nil {
		return nil, err
	}
	var closing sync.WaitGroup // of the cell before
	defer closing.Wait()
	for cell := range r.Run.Experiment.Cells {
		if err := readCell(builder, r.Of(cell), readers); err != nil {
			return nil, err
		}
		closing.Wait()
		closing.Go(func() { builder.Close(cell) })
	}
	return builder, nil
}

// finish computes the results of what was read.
func finish(r *record.Record, builder *analysis.Builder) (Results, error) {
	all := Results{Record: r, Summary: builder.Summarize(about(r), r.Run.Host), Series: builder.Series()}
	wording.Fill(all.Summary)
	return all, profiles(r, all.Summary)
}

// newBuilder returns a builder that has what a record says of its trials.
func newBuilder(r *record.Record, all []analysis.Attempt) (*analysis.Builder, error) {
	steps, err := collect(r.Steps())
	if err != nil {
		return nil, err
	}
	builder := analysis.New(r.Run.Experiment, all, steps...)
	if r.Run.NoWindows {
		builder.NoWindows()
	}
	for _, s := range r.Run.Skipped {
		builder.Skip(s.Service, s.Reason)
	}
	return builder, nil
}

// readCell reads the lines of a cell.
func readCell(builder *analysis.Builder, of *record.Record, readers []func(*signals.Frame)) error {
	for w, err := range of.Windows() {
		if err != nil {
			return err
		}
		builder.Window(w)
	}
	for s, err := range of.Slow() {
		if err != nil {
			return err
		}
		builder.Slow(s)
	}
	for l, err := range of.Benchmarks() {
		if err != nil {
			return err
		}
		builder.Benchmark(benchmarkLine(l))
	}
	for f, err := range of.Frames() {
		if err != nil {
			return err
		}
		builder.Add(f)
		for _, read := range readers {
			read(f)
		}
	}
	return nil
}

// benchmarkLine is a result of the record as analysis takes it.
func benchmarkLine(b *record.Benchmark) analysis.BenchmarkLine {
	l := analysis.BenchmarkLine{Trial: b.Trial, Cell: b.Cell, Name: b.Name, Procs: b.Procs}
	for _, v := range b.Values {
		l.Values = append(l.Values, analysis.BenchmarkValue(v))
	}
	return l
}

func attempts(r *record.Record) []analysis.Attempt {
	states := map[record.Outcome]analysis.State{
		record.Done: analysis.Complete, record.Disturbed: analysis.Disturbed, record.Failed: analysis.Failed,
		record.Interrupted: analysis.Partial, record.Started: analysis.Partial, record.Profiled: analysis.Profiled,
		record.Invalid: analysis.Invalid,
	}
	var all []analysis.Attempt
	for _, t := range r.Trials {
		if t.Repeat == 0 && t.Outcome != record.Profiled {
			continue // a trial for profiles that was cut off
		}
		a := analysis.Attempt{Trial: t.Trial, Cell: t.Cell, Repeat: t.Repeat, Attempt: t.Attempt, State: states[t.Outcome], Why: t.Why, Lost: t.LostAgents, Held: t.StoppedAgents, Neighbours: t.Neighbours, Early: t.EndedEarly, Starts: t.Starts}
		if t.Outcome == record.Started {
			a.Why = "the run was cut off"
		}
		all = append(all, a)
	}
	return all
}

func about(r *record.Record) summary.Experiment {
	s := summary.Experiment{
		Started: r.Run.Started.Format(time.RFC3339), Platform: r.Run.Platform, Seed: r.Run.Seed, TrialsPlanned: len(r.Run.Plan),
	}
	type planned struct{ cell, repeat int }
	ended := map[planned]bool{}
	broken := false // a trial was under way when the run ended
	for _, t := range r.Trials {
		switch t.Outcome {
		case record.Done, record.Disturbed:
			ended[planned{t.Cell, t.Repeat}] = ended[planned{t.Cell, t.Repeat}] || !t.EndedEarly
		case record.Started, record.Interrupted:
			broken = true
		}
	}
	for _, done := range ended {
		if done {
			s.TrialsDone++
		}
	}
	// A run that was stopped when every trial had ended has lost nothing.
	s.Interrupted = !r.Finished && (broken || s.TrialsDone < s.TrialsPlanned)
	return s
}

// profiles adds what the record holds of them to the cells.
func profiles(r *record.Record, s *summary.Summary) error {
	for i := range s.Cells {
		if r.Stopped() {
			return record.ErrStopped
		}
		p, err := profile.Read(r.Files(), record.ProfileDir(s.Cells[i].Cell))
		switch {
		case errors.Is(err, profile.ErrNone):
		case err != nil:
			return err
		default:
			s.Cells[i].Profile = p
		}
	}
	return nil
}

// collect gathers what an iterator yields until its first error.
func collect[T any](all iter.Seq2[*T, error]) ([]T, error) {
	var list []T
	for one, err := range all {
		if err != nil {
			return nil, err
		}
		list = append(list, *one)
	}
	return list, nil
}
