package lab

import (
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// Progress is how a run stands, told at least once an interval.
type Progress struct {
	Label   string        // the cell's
	Trial   int           // number of this trial, from 1
	Of      int           // trials in all, as far as is known now
	Repeat  int           // of the cell, from 1
	Repeats int           // of each cell
	Stage   string        // "starting", "warmup", "measure", "drain", "done", "failed"
	Left    time.Duration // until the run's end, estimated

	// Of the measured part of this trial so far; nil until something was seen.
	Rate             *float64 // good answers a second
	P99              *time.Duration
	Periods          *int64
	ThrottledPeriods *int64
	Why              string // with "failed" and "disturbed"
}

// teller gathers one trial's progress.
type teller struct {
	told  Progress
	tell  func(Progress)
	left  func(sofar time.Duration) time.Duration
	began time.Time

	answers, seconds float64
	agents           map[int]bool
	latency          *signals.Histogram
	periods          *int64
	throttled        *int64
}

func (l *Lab) progress(a attempt, number int, q *queue, p *pace) *teller {
	remaining := len(q.waiting)
	return &teller{
		told: Progress{Label: l.Experiment.Cells[a.Cell].Label(), Trial: number, Of: number + remaining,
			Repeat: a.Repeat, Repeats: l.Experiment.Measure.Repeats},
		tell:    l.Progress,
		left:    func(sofar time.Duration) time.Duration { return p.left(remaining, sofar) },
		began:   time.Now(),
		agents:  map[int]bool{},
		latency: signals.NewHistogram(),
	}
}

// stage tells that another part of the trial began.
func (t *teller) stage(name, why string) {
	t.told.Stage, t.told.Why = name, why
	t.say()
}

// frame takes a frame into the figures; they are told with the host's half,
// the last of an interval.
func (t *teller) frame(f *signals.Frame, service string) {
	t.told.Stage = string(f.Phase)
	if f.Phase != signals.Warmup {
		switch {
		case f.Client != nil:
			t.client(f)
		case f.Server != nil && f.Of == service:
			t.periods = plus(t.periods, f.Server.Periods)
			t.throttled = plus(t.throttled, f.Server.ThrottledPeriods)
		}
	}
	if f.Host != nil {
		t.say()
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

// pace estimates how long is left: what a trial takes by the plan, until trials
// have shown what they take.
type pace struct {
	each  time.Duration
	taken int
	sum   time.Duration
}

// overhead of a trial beyond its load, before one has been seen.
const overhead = 500 * time.Millisecond

func newPace(e *experiment.Experiment, trials int) *pace {
	var sum time.Duration
	for i := range e.Cells {
		sum += e.Measure.Warmup + e.Measure.Measured(&e.Cells[i]) + overhead
	}
	return &pace{each: sum / time.Duration(max(1, len(e.Cells)))}
}

func (p *pace) took(d time.Duration) {
	p.taken++
	p.sum += d
	p.each = p.sum / time.Duration(p.taken)
}

func (p *pace) left(trials int, sofar time.Duration) time.Duration {
	return time.Duration(trials)*p.each + max(0, p.each-sofar)
}

func plus(sum, v *int64) *int64 {
	if v == nil {
		return sum
	}
	n := *v
	if sum != nil {
		n += *sum
	}
	return &n
}
