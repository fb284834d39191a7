package report

import (
	"bytes"
	"errors"
	"path/filepath"
	"time"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/record"
)

// Rebuild computes all that is derived from a record again, from its frames
// alone: summary.json, report.html and latency.hlog are written anew, the last
// one with the counted trials only. It works on the record of a killed run.
func Rebuild(dir string) (*analysis.Summary, error) {
	r, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	attempts := attempts(r)
	builder := analysis.New(r.Run.Experiment, attempts)
	if err := replay(r, analysis.Counted(attempts), builder); err != nil {
		return nil, err
	}
	data := Data{Summary: builder.Summarize(about(r), r.Run.Host), Series: builder.Series()}
	var summary, page bytes.Buffer
	if err := errors.Join(JSON(&summary, data.Summary), HTML(&page, data)); err != nil {
		return nil, err
	}
	return data.Summary, errors.Join(
		record.WriteFile(filepath.Join(dir, record.SummaryFile), summary.Bytes()),
		record.WriteFile(filepath.Join(dir, record.ReportFile), page.Bytes()),
	)
}

// replay feeds the frames to the builder, and the counted ones to latency.hlog.
func replay(r *record.Record, counted map[int]bool, b *analysis.Builder) (err error) {
	hlog, err := record.CreateHlog(filepath.Join(r.Dir, record.LatencyFile), r.Run.Experiment, r.Run.Started)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hlog.Close()) }()
	for f, err := range r.Frames() {
		if err != nil {
			return err
		}
		b.Add(f)
		if counted[f.Trial] {
			if err := hlog.Frame(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func attempts(r *record.Record) []analysis.Attempt {
	states := map[record.Outcome]analysis.State{
		record.Done: analysis.Complete, record.Disturbed: analysis.Disturbed, record.Failed: analysis.Failed,
		record.Interrupted: analysis.Partial, record.Started: analysis.Partial,
	}
	var all []analysis.Attempt
	for _, t := range r.Trials {
		a := analysis.Attempt{Trial: t.Trial, Cell: t.Cell, Repeat: t.Repeat, Attempt: t.Attempt, State: states[t.Outcome], Why: t.Why}
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
	for _, t := range r.Trials {
		switch t.Outcome {
		case record.Done, record.Disturbed:
			ended[planned{t.Cell, t.Repeat}] = true
		case record.Interrupted, record.Started:
			s.Interrupted = true
		}
	}
	s.TrialsDone = len(ended)
	return s
}
