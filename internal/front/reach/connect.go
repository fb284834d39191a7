package reach

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/lab/requests"
)

// Unreachable is the error of a target to which no request can be sent.
type Unreachable struct {
	URL, Why string
	Err      error
}

func (u *Unreachable) Error() string { return secret.Text(u.URL + ": " + u.Why) }
func (u *Unreachable) Unwrap() error { return u.Err }

// Connect makes and closes a connection to the target, with its TLS handshake, so that a
// wrong address ends the command before the load. The error is an Unreachable.
func Connect(e *experiment.Experiment, t Target) error {
	return unreachable(t, lab.Reach(e, []string{t.Address}))
}

// AwaitHealth waits until the target answers grpc.health.v1 that it serves. The error is an
// Unreachable.
func AwaitHealth(ctx context.Context, e *experiment.Experiment, t Target) error {
	return unreachable(t, requests.AwaitHealth(ctx, &e.Cells[0].Load, t.Address))
}

func unreachable(t Target, err error) error {
	if err == nil {
		return nil
	}
	return &Unreachable{t.URL, WhyNot(err, t.Address), err}
}

// WhyNot returns the reason of an error of a connection to an address, without the error's
// own prefixes.
func WhyNot(err error, address string) string {
	socket, isSocket := strings.CutPrefix(address, "unix:")
	switch {
	case isSocket && errors.Is(err, syscall.ENOENT):
		return fmt.Sprintf("there is no unix socket %s", socket)
	case isSocket && errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("connection refused: nothing listens on the unix socket %s", socket)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("connection refused: nothing listens on %s", address)
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return fmt.Sprintf("no connection to %s: %v", strings.TrimPrefix(address, "unix:"), errno)
	}
	return err.Error()
}
