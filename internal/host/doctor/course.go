package doctor

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/span"
)

const (
	// A service that was throttled in fewer than fewest periods is judged if it was stopped in
	// recurring seconds, half of those in which it ran, for shortest of a period each time: a
	// job of 100 ms each second has 30 periods in 10 s. The start of a program is one burst.
	recurring, shortest = 5, 0.1
	// long is the length of a watch from which its worst windows count if its average shows
	// nothing, and again how many of them must have been throttled.
	long, again = time.Minute, 3
)

// judgeBy chooses the counters by which the rules judge: those of the watch, if it saw enough
// periods or the same stop again and again; and of a long watch whose average shows nothing
// those of its worst window, if several were throttled. What the threads did is known of the
// whole watch only.
func (s *service) judgeBy() {
	t := s.Throttling
	if t == nil || t.Watch == nil {
		return
	}
	if t.Watch.Periods >= fewest || s.recurs() {
		s.counts = t.Watch
	}
	if c := t.Course; c != nil && t.Watch.Length >= long && t.Watch.Share() < worth && c.Pressed >= again {
		peak := *t
		peak.Watch = &c.Peak
		s.Throttling, s.counts, s.average = &peak, &c.Peak, t.Watch
		s.threads, s.spent = nil, 0
	}
}

// recurs reports whether a service that runs in short bursts is stopped in most of them.
func (s service) recurs() bool {
	c, w := s.Throttling.Course, s.Throttling.Watch
	return c != nil && c.Stopped >= recurring && 2*c.Stopped >= c.Seconds && w.Share() >= much &&
		w.PerThrottled().Seconds() >= shortest*s.CPU.Period.Seconds()
}

// varied describes how the use changed during the watch; "": evenly, or it is not known.
func (s service) varied() string {
	w, c := s.Throttling.Watch, s.Throttling.Course
	switch {
	case c == nil:
		return ""
	case s.average != nil:
		return fmt.Sprintf("this is the worst window of a watch of %s, %s after its beginning; %d of %d windows in which it ran were throttled in 5%% of the periods or more; "+
			"over the whole watch %s%s", span.Text(s.average.Length.Round(time.Second)), span.Text(c.PeakAt.Round(time.Second)), c.Pressed, c.Windows,
			periods(s.average.Throttled, s.average.Periods), s.usedOf(s.average.Used, s.average.Length))
	case w.Length >= long && c.Windows > 1:
		return fmt.Sprintf("in its worst window of %s, %s after the beginning: %s%s", seconds(c.Peak.Length), span.Text(c.PeakAt.Round(time.Second)),
			periods(c.Peak.Throttled, c.Peak.Periods), s.usedOf(c.Peak.Used, c.Peak.Length))
	case w.Periods < fewest && c.Stopped > 0:
		return fmt.Sprintf("stopped in %d of the %s in which it ran", c.Stopped, count(int64(c.Seconds), "second", "seconds"))
	}
	return ""
}

// usedOf is a share of the limit, after what was throttled.
func (s service) usedOf(used *time.Duration, length time.Duration) string {
	if used == nil || length <= 0 || s.CPU.CPUs <= 0 {
		return ""
	}
	return fmt.Sprintf(", %s of the limit used", display.Share(used.Seconds()/length.Seconds()/s.CPU.CPUs))
}
