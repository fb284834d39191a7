package capacity

import (
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Levels are the stretches of a trial in which the load was constant. A percentile
// over a ramp describes no level, so it is never a result.
type Levels struct {
	warmup time.Duration
	Held   []Level
	last   int // index in held of the level at the end of the load; -1: a ramp
}

// Level is a stretch of constant load, as times since the trial's load began.
type Level struct {
	from, to time.Duration
	Target   float64
}

// LevelsOf returns nil for a load without stages.
func LevelsOf(e *experiment.Experiment, c *experiment.Cell) *Levels {
	target := c.Load.Target()
	if target == nil || len(target.Stages) == 0 {
		return nil
	}
	l := &Levels{warmup: e.Measure.Warmup, last: -1}
	at, value := e.Measure.Warmup, 0.0
	for _, s := range target.Stages {
		l.last = -1
		if s.Target == value && s.Duration > 0 && value > 0 {
			l.hold(Level{at, at + s.Duration, value})
		}
		at, value = at+s.Duration, s.Target
	}
	return l
}

// hold adds a stretch. One that continues the last at the same target is the same
// level.
func (l *Levels) hold(h Level) {
	if n := len(l.Held); n > 0 && l.Held[n-1].to == h.from && l.Held[n-1].Target == h.Target {
		l.Held[n-1].to = h.to
	} else {
		l.Held = append(l.Held, h)
	}
	l.last = len(l.Held) - 1
}

// Find returns the level that a frame lies in. Client frames are cut exactly and must
// lie within it. Server and host frames are read a little after the boundary, and
// later on a busy host, so 90% of them is enough. Answers of the drain belong to the
// level at the end of the load.
func (l *Levels) Find(f *signals.Frame, began int64) (int, bool) {
	switch f.Phase {
	case signals.Drain:
		return l.last, l.last >= 0
	case signals.Measure:
		enough := 0.999
		if f.Client == nil {
			enough = 0.9
		}
		start, end := time.Duration(f.Start-began), time.Duration(f.End-began)
		for i, h := range l.Held {
			if inside := min(end, h.to) - max(start, h.from); inside > 0 && float64(inside) >= enough*float64(end-start) {
				return i, true
			}
		}
	}
	return 0, false
}
