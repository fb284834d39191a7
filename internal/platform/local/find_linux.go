package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/ready"
)

const (
	findEvery = 50 * time.Millisecond
	// A service may open several ports one after the other; this long after the
	// first they are compared.
	openingTime = 250 * time.Millisecond
	// A port that answers / with an error may be a debugger's; for this long one
	// that answers better may follow.
	doubtTime = time.Second
	// How often a replica that does not come back is looked at for another port.
	movedEvery = time.Second
)

// finder finds the port on which a replica's processes, children included,
// answer HTTP. They may listen on others too (a debugger's, say): of those that
// answer well the lowest is taken, or else the lowest that answers at all.
type finder struct {
	pids   func() []int
	answer func(ctx context.Context, address string) error
	any    bool      // whether any answer will do in the end
	since  time.Time // when a port was first seen
}

// newFinder looks for a port at which GET path answers with a status of 200 to
// 299 or, if path is empty, HEAD / with any, rather one below 400.
func newFinder(pids func() []int, r experiment.Ready) *finder {
	if r.Path == "" {
		return &finder{pids: pids, any: true, answer: ready.Answers(r.Protocol, http.MethodHead, "/", 399)}
	}
	return &finder{pids: pids, answer: ready.Answers(r.Protocol, http.MethodGet, r.Path, 299)}
}

// look is a look of serves.
func (f *finder) look(ctx context.Context) (string, error) {
	found, err := ports.Listening(f.pids())
	if err != nil {
		f.since = time.Time{}
		return "", err
	}
	if f.since.IsZero() {
		f.since = time.Now()
	}
	if time.Since(f.since) < openingTime {
		return "", fmt.Errorf("it has just begun to listen on port %d", found[0].Port())
	}
	errs := make([]error, len(found))
	var all sync.WaitGroup
	for i, address := range found {
		all.Go(func() { errs[i] = f.answer(ctx, address.String()) })
	}
	all.Wait()
	best := slices.Index(errs, nil)
	if best < 0 && f.any && time.Since(f.since) >= doubtTime {
		best = slices.IndexFunc(errs, func(err error) bool { var bad *ready.BadStatus; return errors.As(err, &bad) })
	}
	if best >= 0 {
		return found[best].String(), nil
	}
	return "", fmt.Errorf("it listens, but none of its ports answers as HTTP should; say --port if one is to: %w", errors.Join(errs...))
}

// looking returns how the replica is to be looked at until it serves.
func (r *replica) looking() (every time.Duration, _ ready.Look) {
	switch {
	case r.serves != nil && !r.find:
		return ready.Told(r.serves, r.address)
	case r.address != "" && r.find:
		return r.comesBack()
	case r.address != "":
		return ready.At(r.ready, r.address)
	case r.find:
		return findEvery, newFinder(r.PIDs, r.ready).look
	}
	return ready.At(r.ready, loopbackAt(r.port), netip.AddrPortFrom(netip.IPv6Loopback(), uint16(r.port)).String())
}

// comesBack looks for a replica where it was found in its first life. One that
// listens elsewhere now is not ready, which its log says once: the traffic has
// no way to follow it.
func (r *replica) comesBack() (every time.Duration, _ ready.Look) {
	every, there := ready.At(r.ready, r.address)
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
			r.log.Note("it listens on %v now, not on %s, where the traffic goes: it counts as down; say --port, and have it listen there", found[0], r.address)
		}
		return "", err
	}
}
