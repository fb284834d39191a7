package life

import (
	"sync"

	"github.com/millicore/millicore/internal/signals"
)

// Standing is whether a replica serves, and how often it was started again. At
// first it is down and never was. It may be used by several goroutines at once.
type Standing struct {
	mu       sync.Mutex
	up       bool
	restarts int64
}

// SetUp says whether the replica serves.
func (s *Standing) SetUp(up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = up
}

// Restarted counts a restart.
func (s *Standing) Restarted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restarts++
}

// Counters adds it to running totals that were read without an error.
func (s *Standing) Counters(c signals.Counters, err error) (signals.Counters, error) {
	if err != nil {
		return signals.Counters{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Restarts, c.Up = s.restarts, s.up
	return c, nil
}

// Pulse does so with a pulse.
func (s *Standing) Pulse(p signals.Pulse, err error) (signals.Pulse, error) {
	if err != nil {
		return signals.Pulse{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Up = s.up
	return p, nil
}
