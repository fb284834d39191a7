package pods

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/kubernetes/nodeagent"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// sampledTotals are the totals of a replica over all its containers, from samples.
// What a container used between its last sample and its end is lost. Several
// goroutines may use it concurrently.
type sampledTotals struct {
	mu     sync.Mutex
	id     string           // of the current container
	past   map[string]bool  // earlier containers
	before signals.Counters // their totals
	last   signals.Counters // of this one
	given  time.Time        // of the newest reading that was returned
	err    error            // why there is no newer sample
	closed bool
}

// put stores a sample of a container. It ignores a sample that is not newer, and
// one of an earlier container.
func (c *sampledTotals) put(id string, now signals.Counters) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = nil
	switch {
	case c.past[id] || !now.At.After(c.last.At):
		return
	case c.id != id && c.id != "":
		if c.past == nil {
			c.past = map[string]bool{}
		}
		c.past[c.id] = true
		c.before = supervise.SumCounters(c.before, c.last)
		c.before.CPULimit, c.before.MemoryLimit = nil, nil // those of the new container apply
	}
	c.id, c.last = id, now
}

// fail stores the reason why there are no samples now.
func (c *sampledTotals) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// read returns the totals of the newest sample, once. While the replica is down the
// totals do not change, and no sample is needed.
func (c *sampledTotals) read(down bool) (signals.Counters, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return signals.Counters{}, errStopped
	}
	sum := supervise.SumCounters(c.before, c.last)
	switch {
	case c.last.At.After(c.given):
	case down && c.id != "":
		sum.At, sum.Memory = time.Now(), nil
	case c.err != nil:
		return signals.Counters{}, c.err
	default:
		return signals.Counters{}, nodeagent.ErrNoNewer
	}
	c.given = sum.At
	return sum, nil
}

func (c *sampledTotals) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// errStopped is the error of a replica that was removed.
var errStopped = fmt.Errorf("its pod was removed: %w", os.ErrClosed)
