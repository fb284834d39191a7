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

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/load/serviceclient"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/supervise"
)

const (
	findEvery = 50 * time.Millisecond
	// A service may open several ports one after the other; they are compared this
	// long after the first.
	openingTime = 250 * time.Millisecond
	// A port that answers / with an error may be a debugger's. This is how long to wait
	// for a better one.
	doubtTime = time.Second
	// How often a replica that does not serve again is checked for another port.
	movedEvery = time.Second
)

// finder finds the port on which a replica's processes, including children, answer
// HTTP. They may listen on other ports too, such as a debugger's: it returns the lowest
// port with a good answer, or else the lowest with any answer.
type finder struct {
	pids   func() []int
	answer func(ctx context.Context, address string) error
	any    bool                    // accept any answer in the end
	since  time.Time               // when a port was first seen
	secure map[netip.AddrPort]bool // ports that gave no HTTP: whether they speak TLS
}

// newFinder returns a finder for a port where GET path has a status of 200 to 299. If
// path is empty, any answer to HEAD / is accepted, preferably below 400.
func newFinder(pids func() []int, r experiment.Ready) *finder {
	if r.Path == "" {
		return &finder{pids: pids, any: true, answer: supervise.Answers(r.Protocol, http.MethodHead, "/", 399)}
	}
	return &finder{pids: pids, answer: supervise.Ready(r)}
}

// look is a supervise.Probe.
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
		return "", fmt.Errorf("it started to listen on port %d a moment ago", found[0].Port())
	}
	errs := make([]error, len(found))
	var all sync.WaitGroup
	for i, address := range found {
		all.Go(func() { errs[i] = f.answer(ctx, address.String()) })
	}
	all.Wait()
	best := slices.Index(errs, nil)
	if best < 0 && f.any && time.Since(f.since) >= doubtTime {
		best = slices.IndexFunc(errs, func(err error) bool { var bad *supervise.BadStatus; return errors.As(err, &bad) })
	}
	if best >= 0 {
		return found[best].String(), nil
	}
	for i, err := range errs {
		errs[i] = f.whetherTLS(ctx, found[i], err)
	}
	return "", fmt.Errorf("it listens, but none of its ports gives a valid HTTP answer; set --port to choose one: %w", errors.Join(errs...))
}

// whetherTLS is the error of a port, which is that it speaks TLS if it gave no HTTP and makes
// a TLS handshake. That is tried once for each port.
func (f *finder) whetherTLS(ctx context.Context, at netip.AddrPort, err error) error {
	var not *serviceclient.NotHTTP
	switch {
	case !errors.As(err, &not):
		return err
	case not.TLS:
		return fmt.Errorf("%s: %w", at, err)
	}
	speaks, tried := f.secure[at]
	if !tried {
		if f.secure == nil {
			f.secure = map[netip.AddrPort]bool{}
		}
		speaks = serviceclient.SpeaksTLS(ctx, at.String())
		f.secure[at] = speaks
	}
	if speaks {
		return &serviceclient.NotHTTP{TLS: true, Why: fmt.Sprintf("port %d speaks TLS (HTTPS), not HTTP", at.Port())}
	}
	return fmt.Errorf("%s: %w", at, err) // its text has no address
}

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
		return findEvery, newFinder(r.PIDs, r.ready).look
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
