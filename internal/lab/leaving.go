package lab

import (
	"context"

	"github.com/millicore/millicore/internal/platform"
)

// stopping returns the context in which units are stopped: when it ends, they are killed.
func (l *Lab) stopping() (context.Context, context.CancelFunc) {
	ctx := l.leaving
	if ctx == nil { // not in Run
		ctx = context.Background()
	}
	return context.WithTimeout(ctx, 2*platform.StopGrace)
}

// abandon ends the agents without awaiting the answers in flight. What they have sent so
// far counts, and they are not lost.
func (all *agents) abandon() {
	all.abandoned.Store(true)
	for _, a := range all.running {
		a.process.Close()
	}
}
