package local

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// movedEvery is how often a replica that does not serve again is checked for another port.
const movedEvery = time.Second

// looking returns the probe of the replica until it serves.
func (r *replica) looking() (every time.Duration, _ supervise.Probe) {
	switch {
	case r.serves != nil && !r.find:
		return supervise.ProbeWith(r.serves, r.address)
	case r.address != "" && r.find:
		return r.comesBack()
	case r.address != "":
		return supervise.ProbeFor(r.ready, r.address)
	case r.find:
		return supervise.FindPort(r.ready, func() ([]netip.AddrPort, error) { return ports.Listening(r.PIDs()) })
	}
	return supervise.ProbeFor(r.ready, loopbackAt(r.port), netip.AddrPortFrom(netip.IPv6Loopback(), uint16(r.port)).String())
}

// comesBack returns the probe of a replica at the address of its first life. A replica
// that now listens elsewhere is not ready, because the traffic cannot follow it. Its
// log says so once.
func (r *replica) comesBack() (every time.Duration, _ supervise.Probe) {
	every, there := supervise.ProbeFor(r.ready, r.address)
	next, said := time.Now().Add(movedEvery), false
	return every, func(ctx context.Context) (string, error) {
		address, err := there(ctx)
		if err == nil || said || time.Now().Before(next) {
			return address, err
		}
		next = time.Now().Add(movedEvery)
		found, findErr := ports.Listening(r.PIDs())
		isThere := func(a netip.AddrPort) bool { return a.String() == r.address }
		if findErr == nil && !slices.ContainsFunc(found, isThere) {
			said = true
			r.keeper.Log.Note("it now listens on %v, not on %s, where the traffic goes: it counts as down; set --port, and let it listen there", found[0], r.address)
		}
		return "", err
	}
}
