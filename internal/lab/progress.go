package lab

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
)

// Progress is the state of a run. It is reported at least once in each interval.
type Progress struct {
	Label   string // the cell's
	Trial   int    // number of this trial, from 1
	Of      int    // trials in all, as far as is known now
	Repeat  int    // of the cell, from 1
	Repeats int    // of each cell
	State   State
	Left    time.Duration // until the end of the run, estimated

	// Of the measured part of this trial so far; nil: nothing was measured yet.
	Rate             *float64 // good answers per second
	P99              *time.Duration
	Periods          *int64
	ThrottledPeriods *int64
	Search           string // the current step of a search; "": no search
	Why              string // the reason of an outcome other than done
}

// State is the state of a trial: starting, a phase of its frames, or its outcome.
type State string

// Starting is the state before the load.
const Starting State = "starting"

// Ended reports whether the trial has ended.
func (s State) Ended() bool {
	switch record.Outcome(s) {
	case record.Done, record.Disturbed, record.Failed, record.Invalid, record.Interrupted:
		return true
	}
	return false
}

// reporter computes and reports the progress of one trial.
type reporter struct {
	progress Progress
	out      func(Progress)       // may be nil
	frames   func(*signals.Frame) // may be nil
	left     func(sofar time.Duration) time.Duration
	began    time.Time

	answers, seconds float64
	agents           map[int]bool
	latency          *signals.Histogram
	periods          *int64
	throttled        *int64
}

func newReporter(l *Lab, a attempt, number int, q *queue, p *pace) *reporter {
	return &reporter{
		progress: Progress{Label: l.Experiment.LabelOf(&l.Experiment.Cells[a.Cell]), Trial: number, Of: number + len(q.waiting) + l.commonTrials(),
			Repeat: a.Repeat, Repeats: l.Experiment.Measure.Repeats},
		out:     l.Progress,
		frames:  l.OnFrame,
		left:    func(sofar time.Duration) time.Duration { return p.left(a.Cell, sofar, q.waiting) },
		began:   time.Now(),
		agents:  map[int]bool{},
		latency: signals.NewHistogram(),
	}
}

// state reports a new state of the trial.
func (r *reporter) state(s State, why string) {
	r.progress.State, r.progress.Why = s, why
	r.report()
}

// searching starts a new step of a search. The figures are of this step only.
func (r *reporter) searching(s search.Step) {
	r.progress.Search = fmt.Sprintf("%s at %s", s.Stage, digits.Significant(s.Load, 4))
	r.answers, r.seconds, r.periods, r.throttled = 0, 0, nil, nil
	r.latency.Reset()
}

// frame adds a frame to the figures.
func (r *reporter) frame(f *signals.Frame, service string) {
	if r.frames != nil {
		r.frames(f)
	}
	r.progress.State = State(f.Phase)
	if f.Phase == signals.Warmup {
		return
	}
	switch {
	case f.Client != nil:
		r.client(f)
	case f.Server != nil && f.Of == service:
		r.periods = signals.Plus(r.periods, f.Server.Periods)
		r.throttled = signals.Plus(r.throttled, f.Server.ThrottledPeriods)
	}
}

func (r *reporter) client(f *signals.Frame) {
	r.latency.Merge(f.Client.Latency)
	if f.Phase == signals.Measure {
		r.agents[*f.Agent] = true
		r.answers += float64(f.Client.Good + f.Client.Carried)
		r.seconds += f.Seconds()
	}
}

// report reports the progress.
func (r *reporter) report() {
	if r.out == nil {
		return
	}
	p := r.progress
	p.Left = r.left(time.Since(r.began))
	p.Periods, p.ThrottledPeriods = r.periods, r.throttled
	if r.seconds > 0 {
		rate := r.answers / r.seconds * float64(len(r.agents))
		p.Rate = &rate
	}
	if r.latency.Count() > 0 {
		p99 := r.latency.Quantile(0.99)
		p.P99 = &p99
	}
	r.out(p)
}
