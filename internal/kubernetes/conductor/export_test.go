package conductor

import (
	"context"
	"io"
)

// Internals for the tests, which are in another package: they share their hubs with
// the tests of clients.

const (
	MostKeep  = mostKeep
	LookAgain = lookAgain
)

var ErrOver = errOver

func ValidSeat(path string) bool { return validSeat(path) }

func NewReaders(look func(context.Context) ([]string, error)) *readers { return &readers{look: look} }

func (r *readers) Know(ctx context.Context, token string) (bool, error) { return r.know(ctx, token) }

func WriteTar(w io.Writer, dir string) error { return writeTar(w, dir) }

// Waits reports whether a stream waits on a seat.
func (h *Hub) Waits(path string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seats[path] != nil && h.seats[path].waiting != nil
}
