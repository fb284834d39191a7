package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// order is what loops are told from outside: at a moment, do this. Exactly one
// of start, load, targets, stop and quit is set.
type order struct {
	at      time.Duration // on the engine's clock, not before the order before it
	start   bool
	load    *Load    // replaces the present one
	drop    bool     // with load: what is due and was not sent yet is dropped
	targets []Target // replace the present ones
	stop    bool     // end the load, await what is in flight
	quit    bool     // end at once
}

// orders is a queue that each loop reads at its own pace: every order leads to
// the next, a loop holds the last one that it obeyed, and nothing holds the
// first. So what all loops have obeyed is forgotten, however often the load
// changes.
type orders struct {
	mu   sync.Mutex
	last *posted
}

// posted is an order in the queue. All loops see the next one from the same
// instant on.
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

// newest is where a loop begins to read: at what is added from now on.
func (o *orders) newest() *posted {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}
