package report

import (
	"bytes"
	"errors"
	"iter"
	"path/filepath"
	"time"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/profile"
	"github.com/millicore/millicore/internal/record"
)

// Read computes all that is derived from a record, from its frames alone. It
// works on the record of a run that was killed or still goes on, and writes
// nothing.
func Read(dir string) (Data, error) {
	r, err := record.Open(dir)
	if err != nil {
		return Data{}, err
	}
	steps, err := collect(r.Steps())
	if err != nil {
		return Data{}, err
	}
	builder := analysis.New(r.Run.Experiment, attempts(r), steps...)
	if r.Run.NoWindows {
		builder.NoWindows()
	}
	for _, s := range r.Run.Skipped {
		builder.Skip(s.Service, s.Reason)
	}
	for w, err := range r.Windows() {
		if err != nil {
			return Data{}, err
		}
		builder.Window(w)
	}
	for s, err := range r.Slow() {
		if err != nil {
			return Data{}, err
		}
		builder.Slow(s)
	}
	for l, err := range r.Benchmarks() {
		if err != nil {
			return Data{}, err
		}
		builder.Benchmark(benchmarkLine(l))
	}
	for f, err := range r.Frames() {
		if err != nil {
			return Data{}, err
		}
		builder.Add(f)
	}
	data := Data{Summary: builder.Summarize(about(r), r.Run.Host), Series: builder.Series()}
	return data, profiles(dir, data.Summary)
}

// Write puts the derived files into a record's folder anew: summary.json,
// report.html and, with the counted trials only, latency.hlog.
func Write(dir string, d Data) error {
	var summary, page bytes.Buffer
	if err := errors.Join(JSON(&summary, d.Summary), HTML(&page, d)); err != nil {
		return err
	}
	return errors.Join(
		record.WriteFile(filepath.Join(dir, record.SummaryFile), summary.Bytes()),
		record.WriteFile(filepath.Join(dir, record.ReportFile), page.Bytes()),
		writeHlog(dir),
	)
}

func writeHlog(dir string) error {
	r, err := record.Open(dir)
	if err != nil {
		return err
	}
	counted := analysis.Counted(attempts(r))
	path := filepath.Join(dir, record.LatencyFile)
	return record.ReplaceHlog(path, r.Run.Experiment, r.Run.Started, func(h *record.Hlog) error {
		for f, err := range r.Frames() {
			if err != nil {
				return err
			}
			if !counted[f.Trial] {
				continue
			}
			if err := h.Frame(f); err != nil {
				return err
			}
		}
		return nil
	})
}

func attempts(r *record.Record) []analysis.Attempt {
	states := map[record.Outcome]analysis.State{
		record.Done: analysis.Complete, record.Disturbed: analysis.Disturbed, record.Failed: analysis.Failed,
		record.Interrupted: analysis.Partial, record.Started: analysis.Partial, record.Profiled: analysis.Profiled,
	}
	var all []analysis.Attempt
	for _, t := range r.Trials {
		if t.Repeat == 0 && t.Outcome != record.Profiled {
			continue // a trial for profiles that was cut off
		}
		a := analysis.Attempt{Trial: t.Trial, Cell: t.Cell, Repeat: t.Repeat, Attempt: t.Attempt, State: states[t.Outcome], Why: t.Why, Lost: t.LostAgents}
		if t.Outcome == record.Started {
			a.Why = "the run was cut off"
		}
		all = append(all, a)
	}
	return all
}

func about(r *record.Record) analysis.SummaryExperiment {
	s := analysis.SummaryExperiment{
		Started: r.Run.Started.Format(time.RFC3339), Platform: r.Run.Platform, Seed: r.Run.Seed, TrialsPlanned: len(r.Run.Plan),
	}
	type planned struct{ cell, repeat int }
	ended := map[planned]bool{}
	broken := false // a trial was under way when the run ended
	for _, t := range r.Trials {
		switch t.Outcome {
		case record.Done, record.Disturbed:
			ended[planned{t.Cell, t.Repeat}] = true
		case record.Started, record.Interrupted:
			broken = true
		}
	}
	s.TrialsDone = len(ended)
	// A run that was stopped when every trial had ended has lost nothing.
	s.Interrupted = !r.Finished && (broken || s.TrialsDone < s.TrialsPlanned)
	return s
}

// profiles adds what the record holds of them to the cells.
func profiles(dir string, s *analysis.Summary) error {
	for i := range s.Cells {
		p, err := profile.Read(filepath.Join(dir, record.ProfileDir(s.Cells[i].Cell)))
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
