package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// order is what loops are told from outside: at a moment, do this. Exactly one
// of the fields below at is set.
type order struct {
	at    time.Duration // on the engine's clock, not before the order before it
	start bool
	load  *Load // replaces the present one
	stop  bool  // end the load, await what is in flight
	quit  bool  // end at once
}

// orders is a list that only grows. It is published as a whole, so that all
// loops see an order from the same instant on.
type orders struct {
	mu   sync.Mutex
	list atomic.Pointer[[]order]
}

func (o *orders) add(next order) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var list []order
	if old := o.list.Load(); old != nil {
		list = append(list, *old...)
		next.at = max(next.at, list[len(list)-1].at)
	}
	list = append(list, next)
	o.list.Store(&list)
}

// after returns the order that follows the first n.
func (o *orders) after(n int) (order, bool) {
	list := o.list.Load()
	if list == nil || n >= len(*list) {
		return order{}, false
	}
	return (*list)[n], true
}
