package supervise

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
)

const (
	findEvery = 50 * time.Millisecond
	// A service may open several ports one after the other; they are compared this
	// long after the first.
	openingTime = 250 * time.Millisecond
	// A port that answers / with an error may be a debugger's. This is how long to wait
	// for a better one.
	doubtTime = time.Second
)

// finder finds the port on which a replica's processes, including children, answer
// HTTP. They may listen on other ports too, such as a debugger's: it returns the lowest
// port with a good answer, or else the lowest with any answer.
type finder struct {
	// listening returns the addresses at which the replica may be reached, the lowest port
	// first; the error is why there are none.
	listening func() ([]netip.AddrPort, error)
	answer    func(ctx context.Context, address string) error
	any       bool                    // accept any answer in the end
	since     time.Time               // when a port was first seen
	secure    map[netip.AddrPort]bool // ports that gave no HTTP: whether they speak TLS
}

// FindPort returns a probe that finds the address of a replica among those where it listens:
// where GET path has a status of 200 to 299. If path is empty, any answer to HEAD / is
// accepted, preferably below 400.
func FindPort(r experiment.Ready, listening func() ([]netip.AddrPort, error)) (every time.Duration, _ Probe) {
	f := &finder{listening: listening, any: true, answer: Answers(r.Protocol, http.MethodHead, "/", 399)}
	if r.Path != "" {
		f.any, f.answer = false, Ready(r)
	}
	return findEvery, f.look
}

// look is a Probe.
func (f *finder) look(ctx context.Context) (string, error) {
	found, err := f.listening()
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
		best = slices.IndexFunc(errs, func(err error) bool { var bad *BadStatus; return errors.As(err, &bad) })
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
