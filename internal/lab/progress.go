package lab

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/record"
	"github.com/millicore/millicore/internal/signals"
)

// Progress is how a run stands, told at least once an interval.
type Progress struct {
	Label   string // the cell's
	Trial   int    // number of this trial, from 1
	Of      int    // trials in all, as far as is known now
	Repeat  int    // of the cell, from 1
	Repeats int    // of each cell
	Stage   Stage
	Left    time.Duration // until the run's end, estimated

	// Of the measured part of this trial so far; nil until something was seen.
	Rate             *float64 // good answers a second
	P99              *time.Duration
	Periods          *int64
	ThrottledPeriods *int64
	Search           string // what the search does now; "" without one
	Why              string // where the trial ended otherwise than done
}

// Stage is where a trial stands: starting, a phase of its frames, or its outcome.
type Stage string

// Starting is the stage before the load.
const Starting Stage = "starting"

// Ended reports whether the trial is over.
func (s Stage) Ended() bool {
	switch record.Outcome(s) {
	case record.Done, record.Disturbed, record.Failed, record.Interrupted:
		return true
	}
	return false
}

// teller gathers one trial's progress.
type teller struct {
	told  Progress
	tell  func(Progress)
	seen  func(*signals.Frame)
	left  func(sofar time.Duration) time.Duration
	began time.Time

	answers, seconds float64
	agents           map[int]bool
	latency          *signals.Histogram
	periods          *int64
	throttled        *int64
}

func (l *Lab) progress(a attempt, number int, q *queue, p *pace) *teller {
	return &teller{
		told: Progress{Label: l.Experiment.Cells[a.Cell].Label(), Trial: number, Of: number + len(q.waiting),
			Repeat: a.Repeat, Repeats: l.Experiment.Measure.Repeats},
		tell:    l.Progress,
		seen:    l.Seen,
		left:    func(sofar time.Duration) time.Duration { return p.left(a.Cell, sofar, q.waiting) },
		began:   time.Now(),
		agents:  map[int]bool{},
		latency: signals.NewHistogram(),
	}
}

// stage tells that another part of the trial began.
func (t *teller) stage(s Stage, why string) {
	t.told.Stage, t.told.Why = s, why
	t.say()
}

// searching tells that a search holds another load; the figures are of it alone.
func (t *teller) searching(s search.Step) {
	t.told.Search = fmt.Sprintf("%s at %.4g", s.Stage, s.Load)
	t.answers, t.seconds, t.periods, t.throttled = 0, 0, nil, nil
	t.latency.Reset()
}

// frame takes a frame into the figures.
func (t *teller) frame(f *signals.Frame, service string) {
	if t.seen != nil {
		t.seen(f)
	}
	t.told.Stage = Stage(f.Phase)
	if f.Phase != signals.Warmup {
		switch {
		case f.Client != nil:
			t.client(f)
		case f.Server != nil && f.Of == service:
			t.periods = signals.Plus(t.periods, f.Server.Periods)
			t.throttled = signals.Plus(t.throttled, f.Server.ThrottledPeriods)
		}
	}
}

func (t *teller) client(f *signals.Frame) {
	t.latency.Merge(f.Client.Latency)
	if f.Phase == signals.Measure {
		t.agents[*f.Agent] = true
		t.answers += float64(f.Client.Good + f.Client.Carried)
		t.seconds += f.Seconds()
	}
}

func (t *teller) say() {
	if t.tell == nil {
		return
	}
	p := t.told
	p.Left = t.left(time.Since(t.began))
	p.Periods, p.ThrottledPeriods = t.periods, t.throttled
	if t.seconds > 0 {
		rate := t.answers / t.seconds * float64(len(t.agents))
		p.Rate = &rate
	}
	if t.latency.Count() > 0 {
		p99 := t.latency.Quantile(0.99)
		p.P99 = &p99
	}
	t.tell(p)
}

// pace estimates how long is left: what a cell's trials take by the plan, until
// they have shown what they take.
type pace struct {
	planned []time.Duration // by cell
	taken   []time.Duration // by cell, summed
	trials  []int           // by cell
}

// overhead of a trial beyond its load, before one has been seen.
const overhead = 500 * time.Millisecond

func newPace(e *experiment.Experiment) *pace {
	n := len(e.Cells)
	p := &pace{planned: make([]time.Duration, n), taken: make([]time.Duration, n), trials: make([]int, n)}
	for i := range e.Cells {
		c := cut(e, &e.Cells[i])
		p.planned[i] = c.Warmup + c.Measure + overhead
		if e.Cells[i].Load.Find {
			p.planned[i] += e.Measure.Duration
		}
	}
	return p
}

func (p *pace) took(cell int, d time.Duration) {
	p.taken[cell] += d
	p.trials[cell]++
}

func (p *pace) each(cell int) time.Duration {
	if p.trials[cell] == 0 {
		return p.planned[cell]
	}
	return p.taken[cell] / time.Duration(p.trials[cell])
}

// left is what remains of the trial under way, and all that waits behind it.
func (p *pace) left(cell int, sofar time.Duration, waiting []attempt) time.Duration {
	sum := max(0, p.each(cell)-sofar)
	for _, a := range waiting {
		sum += p.each(a.Cell)
	}
	return sum
}
