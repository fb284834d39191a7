package live

import (
	"math"
	"time"

	"github.com/millicore/millicore/internal/signals"
)

// stretch is what was seen over some time.
type stretch struct {
	seconds float64 // of intervals with load
	answers float64 // good ones in these, those that were intended during the warm-up included
	good    int64
	bad     int64 // ended without a good answer, or never sent
	latency *signals.Histogram

	p50, p90, p99, highest time.Duration // of latency

	used usage
}

func newStretch() stretch { return stretch{latency: signals.NewHistogram()} }

// client adds an agent's frame. The time counts once for all agents: begins says
// that this is the first frame of its interval.
func (s *stretch) client(f *signals.Frame, begins bool) {
	c := f.Client
	if f.Phase != signals.Drain {
		if begins {
			s.seconds += f.Seconds()
		}
		// Whether a carried answer was good was not kept: they are taken to be as
		// good as the interval's own.
		share := 1.0
		if ended := c.Ended(); ended > 0 {
			share = float64(c.Good) / float64(ended)
		}
		s.answers += float64(c.Good) + share*float64(c.Carried)
	}
	s.good += c.Good
	s.bad += c.Bad() + c.Dropped
	if c.Latency.Count() == 0 {
		return
	}
	s.latency.Merge(c.Latency)
	s.p50, s.p90, s.p99, s.highest = s.latency.Quantile(0.5), s.latency.Quantile(0.9), s.latency.Quantile(0.99), s.latency.Max()
}

// resetClient empties it but for the target's half.
func (s *stretch) resetClient() {
	s.latency.Reset()
	*s = stretch{latency: s.latency, used: s.used}
}

// rate is good answers a second.
func (s *stretch) rate() float64 {
	if s.seconds == 0 {
		return 0
	}
	return s.answers / s.seconds
}

// requests are those that ended, or were never sent.
func (s *stretch) requests() int64 { return s.good + s.bad }

// availability is the share of requests that were answered well, in percent.
func (s *stretch) availability() float64 { return 100 * float64(s.good) / float64(s.requests()) }

// usage is what the target used over some time. Nil is not measured.
type usage struct {
	seconds     float64 // in which CPU was measured
	used        *float64
	limit       *float64 // CPUs
	periods     *int64
	throttled   *int64 // periods
	memory      *int64 // highest
	memoryLimit *int64
}

func (u *usage) add(f *signals.Frame) {
	v := f.Server
	if v.CPU != nil {
		u.seconds += f.Seconds()
		u.used = signals.Plus(u.used, v.CPU)
	}
	u.periods = signals.Plus(u.periods, v.Periods)
	u.throttled = signals.Plus(u.throttled, v.ThrottledPeriods)
	u.limit, u.memoryLimit = v.CPULimit, v.MemoryLimit
	if v.Memory != nil && (u.memory == nil || *v.Memory > *u.memory) {
		u.memory = v.Memory
	}
}

// cpu is the share of the limit that was used, or cores where there is none; NaN:
// not measured.
func (u *usage) cpu() float64 {
	switch {
	case u.used == nil || u.seconds == 0:
		return math.NaN()
	case u.limit != nil && *u.limit > 0:
		return *u.used / u.seconds / *u.limit
	}
	return *u.used / u.seconds
}

// throttledShare is of the periods; NaN: not measured, or there were none.
func (u *usage) throttledShare() float64 {
	if u.periods == nil || u.throttled == nil || *u.periods == 0 {
		return math.NaN()
	}
	return float64(*u.throttled) / float64(*u.periods)
}
