package corpus

import (
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Steady runs a service under a constant load and measures nothing but its requests, which
// is how a truth without a formula is found.
type Steady struct {
	trial *trial
}

// NewSteady starts a service of a cell under a load, in requests/s. Trial number of a seed
// has the arrivals and the work that this trial has in a record.
func NewSteady(b Behaviour, c *experiment.Cell, load float64, seed uint64, number int) *Steady {
	t := newTrial(b, c, number, 0, 0, seed)
	t.set(load)
	return &Steady{trial: t}
}

// For runs it for a time and returns the latencies of the requests that ended in it with a
// good answer or were given up, how many were given up, and how many failed otherwise.
func (s *Steady) For(d time.Duration) (latencies *signals.Histogram, timeouts, failed int64) {
	t := s.trial
	t.tally = &tally{latencies: signals.NewHistogram()}
	t.until(t.now + int64(d))
	t.server.windows, t.server.calls = nil, nil
	return t.tally.latencies, t.tally.timeouts, t.tally.failed
}

// Request is one that was due in a measured time.
type Request struct {
	Number   int64
	Latency  time.Duration
	Good     bool // answered with the status 200
	TimedOut bool // given up
}

// Measured runs it for a time after a warm-up, as a trial of a record does, and returns the
// requests that were due in that time.
func (s *Steady) Measured(warmup, d time.Duration) []Request {
	t := s.trial
	t.until(int64(warmup))
	t.tally = &tally{latencies: signals.NewHistogram(), from: int64(warmup), to: int64(warmup + d)}
	t.until(t.tally.to)
	t.set(0)
	for len(t.due) > 0 || t.inFlight > 0 {
		t.until(t.now + int64(time.Second))
	}
	return t.tally.requests
}

// tally counts requests, and has those that were due between two times.
type tally struct {
	latencies        *signals.Histogram
	timeouts, failed int64
	from, to         int64
	requests         []Request
}

func (t *tally) add(j *job) {
	one := Request{j.number, time.Duration(j.done - j.intended), j.end == answered && j.status == 200, j.end == timedOut}
	if t.from <= j.intended && j.intended < t.to {
		t.requests = append(t.requests, one)
	}
	switch {
	case one.TimedOut:
		t.timeouts++
	case !one.Good:
		t.failed++
		return
	}
	t.latencies.Record(one.Latency)
}
