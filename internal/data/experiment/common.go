package experiment

import (
	"slices"
	"time"
)

// Common is the second part of a run of searches. When all searches have ended, every
// cell is measured again at one load, so that the latencies of the cells compare.
type Common struct {
	Percent  float64       `json:"percent" yaml:"percent" kind:"percent" default:"70" doc:"The load, in percent of the lowest breaking point that was found: high enough for queues and throttling to show, and below the breaking point of every cell. Where nothing broke, the load that all held."`
	Warmup   time.Duration `json:"warmup" yaml:"warmup" default:"1s" doc:"Length of the load before the measured part."`
	Duration time.Duration `json:"duration" yaml:"duration" default:"4s" doc:"Length of the measured part of a trial; up to four times as long if all trials of a cell together would have too few requests for the quantile of the objective."`
	Repeats  int           `json:"repeats" yaml:"repeats" default:"6" doc:"Number of trials of each cell."`
}

// CommonLoad is the second part of the run; nil: it has none.
func (e *Experiment) CommonLoad() *Common {
	if len(e.Cells) == 0 || !e.Cells[0].Load.Find {
		return nil
	}
	return e.Measure.Common
}

// At is the experiment of the second part of the run: the same cells at one load.
func (e *Experiment) At(load float64) *Experiment {
	at, common := *e, e.Measure.Common
	at.Cells = slices.Clone(e.Cells)
	for i := range at.Cells {
		l := &at.Cells[i].Load
		l.Find = false
		if target := (&Target{Value: load}); l.Users != nil {
			l.Users, l.Agents = target, min(l.Agents, int(load))
		} else {
			l.Rate = target
		}
	}
	m := &at.Measure
	m.Warmup, m.Duration, m.Repeats, m.Common = common.Warmup, common.Duration, common.Repeats, nil
	at.Profile, at.Claims = false, nil
	return &at
}

// hurried is the length of the frames of a search in a hurry.
const hurried = 200 * time.Millisecond

// Hurry divides the times of a run of searches, and those of their windows. It is for tests
// of whole programs: a short search has an answer, its evidence and its reasons, but its
// answer is less exact, and nothing is known of its error.
func (e *Experiment) Hurry(times int) {
	if times <= 1 || len(e.Cells) == 0 || !e.Cells[0].Load.Find {
		return
	}
	shorter := func(d time.Duration) time.Duration {
		return max(1, (d/time.Duration(times)+hurried-1)/hurried) * hurried
	}
	m := &e.Measure
	m.SearchSpeed, m.Interval = times, hurried
	m.Warmup, m.Duration = shorter(m.Warmup), shorter(m.Duration)
	if m.Common != nil {
		common := *m.Common
		common.Warmup, common.Duration = shorter(common.Warmup), shorter(common.Duration)
		m.Common = &common
	}
}
