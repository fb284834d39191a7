package meter

import (
	"net/netip"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/proc"
)

// ReadAccepts adds the accept queue of a service in the network namespace of this process.
// Nothing is added where none is known.
func ReadAccepts(c *signals.Counters, address string) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return
	}
	if q, ok := proc.ReadAcceptQueue(at); ok {
		c.ListenDrops, c.AcceptQueue, c.Backlog = &q.Drops, &q.Waiting, &q.Backlog
	}
}
