package kubernetes

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/node"
	"github.com/millicore/millicore/internal/platform/life"
	"github.com/millicore/millicore/internal/signals"
)

// counting is the totals of a replica over its containers, as samples of them
// come. What a container used between its last sample and its end is lost. It may
// be used by several goroutines at once.
type counting struct {
	mu     sync.Mutex
	id     string           // of the container that samples come of
	past   map[string]bool  // of those that came before it
	before signals.Counters // their totals
	last   signals.Counters // of this one
	given  time.Time        // of the newest reading that read gave
	err    error            // why there is no newer sample
	closed bool
}

// put takes a sample of a container. One that is not newer, or of a container
// that another has followed, is none.
func (c *counting) put(id string, now signals.Counters) {
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
		c.before = life.Sum(c.before, c.last)
		c.before.CPULimit, c.before.MemoryLimit = nil, nil // the new one's own hold
	}
	c.id, c.last = id, now
}

// fail tells why there are no samples now.
func (c *counting) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// read gives the totals as of the newest sample, once. While the replica is down
// there need be none: they stand.
func (c *counting) read(down bool) (signals.Counters, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return signals.Counters{}, errStopped
	}
	sum := life.Sum(c.before, c.last)
	switch {
	case c.last.At.After(c.given):
	case down && c.id != "":
		sum.At, sum.Memory = time.Now(), nil
	case c.err != nil:
		return signals.Counters{}, c.err
	default:
		return signals.Counters{}, node.ErrNoNewer
	}
	c.given = sum.At
	return sum, nil
}

func (c *counting) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// errStopped is the answer of a replica that is no more.
var errStopped = fmt.Errorf("its pod was removed: %w", os.ErrClosed)
