package lab

import (
	"context"
	"time"

	"github.com/millicore/millicore/internal/platform"
)

// Machines may take a replica away for good: a cluster evicts it, or loses a
// node. That is no failure of the service, and what is left of it is not what was
// asked for. The trial ends then, and is repeated.

// evicted says what of the trial's units was taken away, and why; "": nothing.
func (t *trial) evicted() string { return platform.Evicted(t.units) }

// evictedEvery is how often it is looked whether all replicas are still there.
const evictedEvery = 250 * time.Millisecond

// endIfEvicted ends the traffic where a replica is taken away, until ctx ends with
// it.
func (t *trial) endIfEvicted(ctx context.Context) {
	tick := time.NewTicker(evictedEvery)
	defer tick.Stop()
	for t.evicted() == "" {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	t.stopAgents()
}
