package chaos

import (
	"fmt"
	"iter"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// Intervals are those of the agents in a record.
type Intervals struct {
	Kept int // in the record
	Lost int // missing between others, or complete when the run broke off
}

// Count counts the intervals in the frames of a record. Each agent has one frame for each
// interval of a trial, numbered from 0. planned is how many intervals the load of a trial
// has. If the run broke off, at is the time, and the last trial should have each interval
// that was complete then. The zero time: the run went to its end. began has when the load
// of trials began, as their services saw it: a record without a frame does not show it.
func Count(frames iter.Seq2[*signals.Frame, error], interval time.Duration, planned int, at time.Time, began map[int]time.Time) (Intervals, error) {
	type source struct{ trial, agent int }
	type seen struct {
		n, next int   // frames, and the number after the highest
		end     int64 // of the last interval
	}
	all, last := map[source]*seen{}, 0
	for trial := range began {
		last = max(last, trial)
	}
	for f, err := range frames {
		if err != nil {
			return Intervals{}, err
		}
		if f.Client == nil || f.Agent == nil {
			continue
		}
		from := source{f.Trial, *f.Agent}
		if all[from] == nil {
			all[from] = &seen{}
		}
		s := all[from]
		s.n, s.next, s.end = s.n+1, max(s.next, f.Seq+1), max(s.end, f.End)
		last = max(last, f.Trial)
	}
	var found Intervals
	since := func(end time.Time, next int) int { return max(0, min(int(at.Sub(end)/interval), planned-next)) }
	shown := false // whether the last trial has frames
	for from, s := range all {
		found.Kept += s.n
		found.Lost += s.next - s.n
		if from.trial == last && !at.IsZero() {
			shown = true
			found.Lost += since(time.Unix(0, s.end), s.next)
		}
	}
	if begin, known := began[last]; known && !shown && !at.IsZero() {
		found.Lost += since(begin, 0)
	}
	return found, nil
}

// Follow checks that the intervals of each source follow each other: none ends before it
// begins, begins before the last one has ended, or is longer than most. A step of the clock
// would show.
func Follow(frames iter.Seq2[*signals.Frame, error], most time.Duration) error {
	type source struct {
		trial, agent, replica int
		of                    string
	}
	ends := map[source]int64{}
	for f, err := range frames {
		if err != nil {
			return err
		}
		from := source{trial: f.Trial, agent: -1, replica: f.Index, of: f.Of}
		if f.Agent != nil {
			from.agent = *f.Agent
		}
		last, known := ends[from]
		if f.End < f.Start || f.End-f.Start > int64(most) || known && f.Start < last {
			return fmt.Errorf("interval %d of %+v: from %v to %v after the end of the last one", f.Seq, from, time.Duration(f.Start-last), time.Duration(f.End-last))
		}
		ends[from] = f.End
	}
	return nil
}
