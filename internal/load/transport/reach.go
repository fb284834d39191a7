package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"github.com/millicore/millicore/internal/load/h2"
	"github.com/millicore/millicore/internal/load/port"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"
)

// fitWithin is the timeout of the check that the targets can be reached, and speak TLS or
// HTTP/2.
const fitWithin = 3 * time.Second

// Fit checks that the targets support the requested protocol, if it is TLS or HTTP/2.
func (t Transport) Fit(targets []port.Target) error {
	if !t.TLS && !t.HTTP2 {
		return nil
	}
	for _, err := range t.greet(targets) {
		if unfit := (*Unfit)(nil); errors.As(err, &unfit) {
			return unfit
		}
	}
	return nil
}

// Reach makes and closes a connection to each target, as the requests would. An error is
// an Unfit, or that of the first target to which no connection is possible now. A service
// that does not accept or answer in time is no error: a trial measures that.
func (t Transport) Reach(targets []port.Target) error {
	for _, err := range t.greet(targets) {
		unfit := (*Unfit)(nil)
		if errors.As(err, &unfit) || slices.ContainsFunc(unreachable, func(errno error) bool { return errors.Is(err, errno) }) {
			return err
		}
	}
	return nil
}

var unreachable = []error{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EADDRNOTAVAIL,
	syscall.ENOENT, syscall.EACCES, syscall.ENOTSOCK}

// greet opens and closes a connection to each target, and returns an error for each to
// which that was not possible.
func (t Transport) greet(targets []port.Target) (errs []error) {
	ctx, cancel := context.WithTimeout(context.Background(), fitWithin)
	defer cancel()
	for i := range targets {
		if targets[i].Gone {
			continue
		}
		conn, err := dial(ctx, &targets[i], t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		conn.Close()
	}
	return errs
}

// dialTarget makes a connection to a target.
func dialTarget(ctx context.Context, t *port.Target) (net.Conn, error) {
	var d net.Dialer
	if t.Socket != "" {
		return d.DialContext(ctx, "unix", t.Socket)
	}
	return d.DialContext(ctx, "tcp", t.Addr.String())
}

// dial makes a connection on which the service speaks what the requests need.
func dial(ctx context.Context, to *port.Target, t Transport) (net.Conn, error) {
	switch {
	case t.TLS:
		return dialTLS(ctx, to, t)
	case !t.HTTP2:
		return dialTarget(ctx, to)
	}
	conn, err := dialTarget(ctx, to)
	if err != nil {
		return nil, err
	}
	if err := greetHTTP2(ctx, conn); err != nil {
		conn.Close()
		if ctx.Err() == nil && speaksTLS(ctx, to) {
			err = ErrTLS
		}
		return nil, err
	}
	return conn, nil
}

// ErrTLS is the error of a service that speaks TLS where none is asked for.
var ErrTLS = &Unfit{"the service speaks TLS; write its address as https://host:port"}

// speaksTLS reports whether a target that did not answer HTTP/2 makes a TLS handshake.
func speaksTLS(ctx context.Context, to *port.Target) bool {
	conn, err := dialTLS(ctx, to, Transport{TLS: true, Insecure: true})
	if err == nil {
		conn.Close()
	}
	return err == nil || strings.HasPrefix(err.Error(), "remote error: tls: ")
}

// dialTLS makes a connection on which the service has agreed to the transport.
func dialTLS(ctx context.Context, to *port.Target, t Transport) (net.Conn, error) {
	conn, err := dialTarget(ctx, to)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, t.Config(to))
	if err = secure.HandshakeContext(ctx); err == nil {
		err = t.Agreed(secure)
	}
	if err != nil {
		conn.Close()
		return nil, t.OrUnfit(err)
	}
	return secure, nil
}

// ErrNoH2C is the error of a service that does not speak HTTP/2 without TLS.
var ErrNoH2C = &Unfit{"the service does not speak HTTP/2 without TLS (h2c): its answer is not HTTP/2; ask for HTTP/1.1"}

// greetHTTP2 begins HTTP/2 on a connection, and waits for the service's settings.
func greetHTTP2(ctx context.Context, conn net.Conn) error {
	if until, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(until)
	}
	c := h2.New(nil)
	if _, err := conn.Write(c.Out()); err != nil {
		return err
	}
	b := make([]byte, 1<<10)
	for !c.Settled() {
		n, err := conn.Read(b)
		if err != nil {
			return err
		}
		if err := c.Receive(b[:n]); errors.Is(err, h2.ErrNotHTTP2) {
			return ErrNoH2C
		} else if err != nil {
			return err
		}
	}
	return nil
}
