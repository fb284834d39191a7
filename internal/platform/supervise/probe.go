package supervise

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/load/reflection"
	"github.com/millicore/millicore/internal/load/serviceclient"
)

// Intervals of probes. Each probe uses some of the replica's CPU quota; a request
// uses more than a connection.
const (
	connectEvery   = 5 * time.Millisecond
	requestEvery   = 20 * time.Millisecond
	requestTimeout = 2 * time.Second
)

// Probe checks once whether a replica serves, and returns the address at which it
// does.
type Probe func(context.Context) (address string, err error)

// AwaitProbe repeats a probe until it succeeds, and returns the address. If ctx
// ends first, the error is that of the last probe.
func AwaitProbe(ctx context.Context, every time.Duration, probe Probe) (string, error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last error
	for {
		address, err := probe(ctx)
		if err == nil {
			return address, nil
		}
		if last == nil || ctx.Err() == nil { // a probe that ctx cancelled found nothing
			last = err
		}
		select {
		case <-ctx.Done():
			return "", last
		case <-tick.C:
		}
	}
}

// StartProbe probes in the background until a replica serves at its address, or
// ctx ends, and then sends the result. serves replaces the probe of ProbeFor; it
// may be nil.
func StartProbe(ctx context.Context, r experiment.Ready, address string, serves func(context.Context, string) error) <-chan error {
	every, probe := ProbeFor(r, address)
	if serves != nil {
		every, probe = ProbeWith(serves, address)
	}
	result := make(chan error, 1)
	go func() {
		_, err := AwaitProbe(ctx, every, probe)
		result <- err
	}()
	return result
}

// ProbeFor returns a probe of several addresses. It succeeds if one of them
// accepts a connection or, if there is a path, if it passes Ready. Otherwise the error is that of the first address.
func ProbeFor(r experiment.Ready, addresses ...string) (every time.Duration, _ Probe) {
	every, one := connectEvery, Accepts
	if r.Path != "" {
		every, one = requestEvery, Ready(r)
	}
	return every, func(ctx context.Context) (string, error) {
		var first error
		for _, address := range addresses {
			err := one(ctx, address)
			if err == nil {
				return address, nil
			}
			if first == nil {
				first = err
			}
		}
		return "", first
	}
}

// ProbeWith returns a probe of an address that calls serves.
func ProbeWith(serves func(context.Context, string) error, address string) (every time.Duration, _ Probe) {
	return requestEvery, func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		return address, serves(ctx, address)
	}
}

// Accepts checks whether an address accepts connections. A connection to itself is
// refused: the kernel can give a connection the same local port as the port that
// it connects to.
func Accepts(ctx context.Context, address string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	if conn.LocalAddr().String() == conn.RemoteAddr().String() {
		err = fmt.Errorf("dial tcp %s: %w", address, syscall.ECONNREFUSED)
	}
	return errors.Join(err, conn.Close())
}

// Ready returns a check of a path: that GET answers with a status of 200 to 299, or, of
// gRPC's method Health/Check, perhaps with ?service=NAME, that it serves.
func Ready(r experiment.Ready) func(context.Context, string) error {
	path, query, _ := strings.Cut(r.Path, "?")
	if path != reflection.HealthPath {
		return Answers(r.Protocol, http.MethodGet, r.Path, 299)
	}
	protocol := "h2c"
	if r.Protocol == "https" || r.Protocol == "h2" {
		protocol = "h2"
	}
	client := serviceclient.Client(protocol, requestTimeout)
	return func(ctx context.Context, address string) error {
		c := reflection.Client{HTTP: client, URL: serviceclient.URL(protocol, address, "")}
		return c.Serving(ctx, strings.TrimPrefix(query, "service="))
	}
}

// BadStatus is the error for an HTTP answer with another status than expected.
type BadStatus struct{ method, path, status string }

func (b *BadStatus) Error() string { return b.method + " " + b.path + " answers " + b.status }

// Answers returns a check of a path. It expects a status of 200 to highest; any
// other is a BadStatus.
func Answers(protocol, method, path string, highest int) func(context.Context, string) error {
	client := serviceclient.Client(protocol, requestTimeout)
	return func(ctx context.Context, address string) error {
		request, err := http.NewRequestWithContext(ctx, method, serviceclient.URL(protocol, address, path), nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return serviceclient.Explain(err)
		}
		response.Body.Close()
		if response.StatusCode < 200 || response.StatusCode > highest {
			return &BadStatus{method, path, response.Status}
		}
		return nil
	}
}
