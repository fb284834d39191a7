// Package freeze is a service whose faults are known to the millisecond: it
// stands still for a while in every period, all its answers at once. It is the
// arithmetic of what a generator must see of such a service, worked out without a
// generator, and a real server that behaves so. It is for tests and benchmarks.
package freeze

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// Service needs a time of work for each answer, works at any number of them at
// once, and stands still at the end of each period for a while. All times are of
// its own clock.
type Service struct{ Work, Period, Still time.Duration }

// Done is when work begun at a moment ends.
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

// Truth works the latencies out that requests have which are due at a rate a
// second for a length of time from a moment on, and returns them sorted: request k
// is due at the middle of its share of a second, is taken by the connection that
// is free first, and is done when the service says.
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

// Rank is the latency at quantile q in 0..1 of sorted ones.
func Rank(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(int(math.Ceil(q*float64(len(sorted)))), 1)-1]
}

// Lateness is by how much a server woke up later than an answer was due: its own
// fault, and not the generator's.
type Lateness struct {
	Answers   int64
	P99, Most time.Duration
}

// ReadLateness reads the last line of Serve, the real server, which needs Linux.
func ReadLateness(r io.Reader) (Lateness, error) {
	var l Lateness
	_, err := fmt.Fscan(r, &l.Answers, &l.P99, &l.Most)
	return l, err
}
