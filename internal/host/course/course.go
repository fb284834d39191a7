// Package course has the kernel's counters of a group over a watch, and how its use changed
// during the watch. It is pure: package inspect reads the counters.
package course

import (
	"cmp"
	"time"
)

// Counts are the counters of a period of time.
type Counts struct {
	Length    time.Duration // 0: not known
	Periods   int64         // nr_periods: those in which the group ran
	Throttled int64         // nr_throttled: those in which it was throttled
	// Stopped is the throttled time, summed over the CPUs: it can exceed Length.
	Stopped time.Duration
	// Used is the CPU time of the group and its children; nil: not measured.
	Used *time.Duration
	// Pressure is the time in which at least one thread of the group waited for a CPU
	// (PSI); nil: not measured.
	Pressure *time.Duration
}

// Share is the share of throttled periods, 0 to 1.
func (c Counts) Share() float64 {
	if c.Periods <= 0 {
		return 0
	}
	return float64(c.Throttled) / float64(c.Periods)
}

// PerThrottled is the throttled time per throttled period, summed over the CPUs.
func (c Counts) PerThrottled() time.Duration {
	if c.Throttled <= 0 {
		return 0
	}
	return c.Stopped / time.Duration(c.Throttled)
}

// Less is the difference between these counters and an earlier reading. ok is false
// if a counter decreased: the group was created again.
func (c Counts) Less(before Counts, length time.Duration) (d Counts, ok bool) {
	d = Counts{
		Length: length, Periods: c.Periods - before.Periods,
		Throttled: c.Throttled - before.Throttled, Stopped: c.Stopped - before.Stopped,
	}
	if c.Used != nil && before.Used != nil {
		used := *c.Used - *before.Used
		d.Used = &used
	}
	if c.Pressure != nil && before.Pressure != nil {
		pressure := max(*c.Pressure-*before.Pressure, 0)
		d.Pressure = &pressure
	}
	return d, d.Periods >= 0 && d.Throttled >= 0 && d.Stopped >= 0 && (d.Used == nil || *d.Used >= 0)
}

// Course is how the use of a group changed during a watch: an average hides a job that is
// stopped each time that it runs, and an hour of a day in which the limit is used up.
type Course struct {
	// Seconds are those in which the group ran, and Stopped those of them in which it was
	// throttled.
	Seconds, Stopped int
	// Windows are parts of 10 s in which the group ran, and Pressed those of them in which it was
	// throttled in pressed of enough periods.
	Windows, Pressed int
	// Peak are the counters of the window in which it was throttled most, and of several the
	// one in which it used most. PeakAt is when it began, from the beginning of the watch.
	Peak   Counts
	PeakAt time.Duration
	// Highest is the CPU time per second of the busiest second, in CPUs; 0: not measured.
	Highest float64
}

const (
	// window is the time of which peaks are kept.
	window = 10 * time.Second
	// enough is how many periods a window must have to be pressed, and pressed the share of
	// them that were throttled.
	enough, pressed = 50, 0.05
)

// Recorder sums up the readings of one group.
type Recorder struct {
	Course
	began, at time.Time // of the first and the last reading
	was       Counts    // the last reading
	part      Counts    // the window that has not ended
}

// Record begins with a reading.
func Record(at time.Time, counts Counts) *Recorder {
	return &Recorder{began: at, at: at, was: counts}
}

// Add adds a reading, a second or more after the last one. Counters that decreased begin a
// new window.
func (c *Recorder) Add(now time.Time, counts Counts) {
	d, ok := counts.Less(c.was, now.Sub(c.at))
	c.at, c.was = now, counts
	if !ok {
		c.part = Counts{}
		return
	}
	if d.Used != nil && d.Length > 0 {
		c.Highest = max(c.Highest, d.Used.Seconds()/d.Length.Seconds())
	}
	if d.Periods > 0 {
		c.Seconds++
		if d.Throttled > 0 {
			c.Stopped++
		}
	}
	if c.part = c.part.plus(d); c.part.Length < window {
		return
	}
	w := c.part
	c.part = Counts{}
	if w.Periods == 0 {
		return
	}
	c.Windows++
	if w.Periods >= enough && w.Share() >= pressed {
		c.Pressed++
	}
	if c.Windows == 1 || cmp.Or(cmp.Compare(w.Throttled, c.Peak.Throttled), cmp.Compare(value(w.Used), value(c.Peak.Used))) > 0 {
		c.Peak, c.PeakAt = w, now.Sub(c.began)-w.Length
	}
}

func value(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return *d
}

// plus is the sum of two parts of a watch.
func (c Counts) plus(d Counts) Counts {
	sum := Counts{Length: c.Length + d.Length, Periods: c.Periods + d.Periods, Throttled: c.Throttled + d.Throttled, Stopped: c.Stopped + d.Stopped}
	if d.Used != nil {
		used := value(c.Used) + *d.Used
		sum.Used = &used
	}
	return sum
}
