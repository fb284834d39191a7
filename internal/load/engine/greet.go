package engine

import (
	"context"
	"errors"
	"net"

	"github.com/millicore/millicore/internal/load/h2"
)

var errNoH2C = &Unfit{"the service does not speak HTTP/2 without TLS (h2c): its answer is not HTTP/2; ask for HTTP/1.1"}

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
			return errNoH2C
		} else if err != nil {
			return err
		}
	}
	return nil
}
