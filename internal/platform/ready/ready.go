// Package ready looks whether a replica serves: whether its port accepts, or a
// path answers. What a replica is, and what becomes of one that does not serve,
// is the platform's.
package ready

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/millicore/millicore/internal/ask"
	"github.com/millicore/millicore/internal/experiment"
)

// Waits between two looks whether a replica serves. Each look costs it some of
// its quota, an answer more than a connection.
const (
	connectEvery = 5 * time.Millisecond
	askEvery     = 20 * time.Millisecond
	askPatience  = 2 * time.Second
)

// Look looks once whether a replica serves, and where.
type Look func(context.Context) (address string, err error)

// Await waits until a look succeeds and returns the address. When ctx ends
// first, the error says what the last look saw.
func Await(ctx context.Context, every time.Duration, look Look) (string, error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var seen error
	for {
		address, err := look(ctx)
		if err == nil {
			return address, nil
		}
		if seen == nil || ctx.Err() == nil { // what the end of ctx broke off saw nothing
			seen = err
		}
		select {
		case <-ctx.Done():
			return "", seen
		case <-tick.C:
		}
	}
}

// Begin looks until a replica serves at its address (as serves tells, or else as
// At does), and then, or when ctx ends, gives the outcome.
func Begin(ctx context.Context, r experiment.Ready, address string, serves func(context.Context, string) error) <-chan error {
	every, look := At(r, address)
	if serves != nil {
		every, look = Told(serves, address)
	}
	outcome := make(chan error, 1)
	go func() {
		_, err := Await(ctx, every, look)
		outcome <- err
	}()
	return outcome
}

// At looks at addresses, one of which is to accept or, if there is a path, to
// answer GET path with a status of 200 to 299. The error is of the first.
func At(r experiment.Ready, addresses ...string) (every time.Duration, _ Look) {
	every, one := connectEvery, Accepts
	if r.Path != "" {
		every, one = askEvery, Answers(r.Protocol, http.MethodGet, r.Path, 299)
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

// Told looks at an address as the unit says.
func Told(serves func(context.Context, string) error, address string) (every time.Duration, _ Look) {
	return askEvery, func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, askPatience)
		defer cancel()
		return address, serves(ctx, address)
	}
}

// Accepts reports whether an address accepts connections. One that met itself,
// as a connection to a port among those that the kernel gives to connections
// may, is no answer.
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

// BadStatus is an answer of HTTP, but not the one that is wanted.
type BadStatus struct{ method, path, status string }

func (b *BadStatus) Error() string { return b.method + " " + b.path + " answers " + b.status }

// Answers returns a look at a path, which is to answer with a status of 200 to
// highest; any other is a BadStatus.
func Answers(protocol, method, path string, highest int) func(context.Context, string) error {
	client := ask.Client(protocol, askPatience)
	return func(ctx context.Context, address string) error {
		request, err := http.NewRequestWithContext(ctx, method, ask.URL(protocol, address, path), nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode < 200 || response.StatusCode > highest {
			return &BadStatus{method, path, response.Status}
		}
		return nil
	}
}
