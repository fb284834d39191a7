// Package freeze provides a service whose latencies are known exactly: it freezes for a
// part of every period, with all its answers. Service and Truth compute the latencies
// that a generator must measure, and Serve is a real server that behaves so. It is for
// tests and benchmarks of generators, not for production.
package freeze

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// Service needs Work for each answer, processes any number of requests concurrently,
// and freezes for the time Still at the end of each period. All times are on its own
// clock.
type Service struct{ Work, Period, Still time.Duration }

// Done is when work that starts at the given time ends.
func (s Service) Done(at time.Duration) time.Duration {
	if s.Still == 0 {
		return at + s.Work
	}
	for left := s.Work; ; {
		stop := at - at%s.Period + s.Period - s.Still // of the present period
		if at < stop {
			if at+left <= stop {
				return at + left
			}
			left -= stop - at
		}
		at = stop + s.Still
	}
}

// Truth computes the sorted latencies of evenly spaced requests, from a time on, at a
// rate per second, over a length of time. Request k is due at (k+½)/rate, is sent on
// the connection that is free first, and is done at Done.
func (s Service) Truth(from time.Duration, rate float64, length time.Duration, connections int) []time.Duration {
	free := make([]time.Duration, connections)
	var latencies []time.Duration
	for k := 0; ; k++ {
		due := time.Duration((float64(k) + 0.5) / rate * 1e9)
		if due >= length {
			slices.Sort(latencies)
			return latencies
		}
		due += from
		first := 0
		for c := range free {
			if free[c] < free[first] {
				first = c
			}
		}
		free[first] = s.Done(max(due, free[first]))
		latencies = append(latencies, free[first]-due)
	}
}

// Rank is the quantile q (0 to 1) of sorted latencies, by the nearest-rank method.
func Rank(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(int(math.Ceil(q*float64(len(sorted)))), 1)-1]
}

// Lateness is the server's own delay: how much later than due it sent its answers. It
// must not be attributed to the generator.
type Lateness struct {
	Answers   int64
	P99, Most time.Duration
}

// ReadLateness parses the last line that Serve writes. Serve needs Linux.
func ReadLateness(r io.Reader) (Lateness, error) {
	var l Lateness
	_, err := fmt.Fscan(r, &l.Answers, &l.P99, &l.Most)
	return l, err
}
