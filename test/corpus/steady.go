package corpus

import (
	"math/rand/v2"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Steady runs a service under a constant load and measures nothing but its requests, which
// is how a truth without a formula is found.
type Steady struct {
	trial *trial
}

// NewSteady starts a service of a cell under a load, in requests/s.
func NewSteady(b Behaviour, c *experiment.Cell, load float64, seed uint64) *Steady {
	t := newTrial(b, c, 1, 0, 0, rand.New(rand.NewPCG(seed, 1)))
	t.set(load)
	return &Steady{trial: t}
}

// For runs it for a time and returns the latencies of the requests that ended in it with a
// good answer or were given up, how many were given up, and how many failed otherwise.
func (s *Steady) For(d time.Duration) (latencies *signals.Histogram, timeouts, failed int64) {
	latencies = signals.NewHistogram()
	for end := s.trial.now + int64(d); s.trial.now < end; {
		s.trial.until(min(end, s.trial.now+int64(time.Second)))
		s.trial.server.windows, s.trial.server.calls = nil, nil
		k := s.trial.client()
		latencies.Merge(k.Latency)
		timeouts += k.Timeouts
		failed += k.Refused + k.Cut
		for status, n := range k.Status {
			if status != "200" {
				failed += n
			}
		}
	}
	return latencies, timeouts, failed
}
