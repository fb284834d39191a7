package live

import (
	"math"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// stretch has the figures of a stretch of time.
type stretch struct {
	seconds float64 // of intervals with load
	answers float64 // good ones in these, including those intended during the warm-up
	good    int64
	bad     int64 // ended without a good answer, or never sent
	latency *signals.Histogram

	p50, p90, p99, highest time.Duration // of latency

	used usage
}

func newStretch() stretch { return stretch{latency: signals.NewHistogram()} }

// client adds an agent's frame. The time counts once for all agents: begins means that
// this is the first frame of its interval.
func (s *stretch) client(f *signals.Frame, begins bool) {
	c := f.Client
	if f.Phase != signals.Drain {
		if begins {
			s.seconds += f.Seconds()
		}
		// The frame does not have which carried answers were good. The share of good
		// ones is assumed to be that of the interval.
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

// resetClient resets everything except the usage of the observed process.
func (s *stretch) resetClient() {
	s.latency.Reset()
	*s = stretch{latency: s.latency, used: s.used}
}

// rate is the number of good answers per second.
func (s *stretch) rate() float64 {
	if s.seconds == 0 {
		return 0
	}
	return s.answers / s.seconds
}

// requests is the number of requests that ended, or were never sent.
func (s *stretch) requests() int64 { return s.good + s.bad }

// availability is the percentage of requests with a good answer.
func (s *stretch) availability() float64 { return 100 * float64(s.good) / float64(s.requests()) }

// usage is the usage of the observed process in a stretch of time; nil: not measured.
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

// cpu is the used share of the limit or, without a limit, the number of CPUs; NaN: not
// measured.
func (u *usage) cpu() float64 {
	switch {
	case u.used == nil || u.seconds == 0:
		return math.NaN()
	case u.limit != nil && *u.limit > 0:
		return *u.used / u.seconds / *u.limit
	}
	return *u.used / u.seconds
}

// throttledShare is the share of throttled periods; NaN: not measured, or no periods.
func (u *usage) throttledShare() float64 {
	if u.periods == nil || u.throttled == nil || *u.periods == 0 {
		return math.NaN()
	}
	return float64(*u.throttled) / float64(*u.periods)
}
