package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// order is a command to all loops that takes effect at a time. Exactly one of start,
// load, targets, stop and quit is set.
type order struct {
	at      time.Duration // on the engine's clock, not before the previous order's
	start   bool
	load    *Load    // replaces the present load
	drop    bool     // with load: waiting requests are dropped
	targets []Target // replace the present targets
	stop    bool     // end the load, await the requests in flight
	quit    bool     // end at once
}

// orders is a queue that each loop reads at its own pace, as a linked list: a loop
// holds the last order that it executed, and nothing holds the first. So the garbage
// collector frees the orders that all loops have executed.
type orders struct {
	mu   sync.Mutex
	last *posted
}

// posted is an order in the queue. The next one becomes visible to all loops at the
// same instant.
type posted struct {
	order
	number int // from 1
	next   atomic.Pointer[posted]
}

func newOrders() *orders { return &orders{last: &posted{}} }

func (o *orders) add(next order) {
	o.mu.Lock()
	defer o.mu.Unlock()
	next.at = max(next.at, o.last.at)
	p := &posted{order: next, number: o.last.number + 1}
	o.last.next.Store(p)
	o.last = p
}

// newest is the order after which a new loop starts to read.
func (o *orders) newest() *posted {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}
