package supervise

import (
	"sync"

	"github.com/millicore/millicore/internal/data/signals"
)

// Status records whether a replica serves, and the number of its restarts. The
// zero value is down, without a restart. Several goroutines may use it
// concurrently.
type Status struct {
	mu       sync.Mutex
	up       bool
	restarts int64
}

// SetUp records whether the replica serves.
func (s *Status) SetUp(up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = up
}

// Restarted counts a restart.
func (s *Status) Restarted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restarts++
}

// Counters adds the status to running totals that were read without an error.
func (s *Status) Counters(c signals.Counters, err error) (signals.Counters, error) {
	if err != nil {
		return signals.Counters{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Restarts, c.Up = s.restarts, s.up
	return c, nil
}

// ThrottleSample adds the status to a sample that was read without an error.
func (s *Status) ThrottleSample(p signals.ThrottleSample, err error) (signals.ThrottleSample, error) {
	if err != nil {
		return signals.ThrottleSample{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Up = s.up
	return p, nil
}
