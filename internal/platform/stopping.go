package platform

import (
	"context"
	"fmt"
	"time"
)

// StopGrace is the time between a unit's StopSignal and KILL.
const StopGrace = 5 * time.Second

// LeaveWithin is how long an interrupted run may wait for units to end and for answers in
// flight. Who interrupts it wants it to end.
const LeaveWithin = time.Second

// Leaving returns a context that ends LeaveWithin after ctx.
func Leaving(ctx context.Context) (context.Context, context.CancelFunc) {
	out, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(LeaveWithin, end)
		context.AfterFunc(out, func() { timer.Stop() })
	})
	return out, func() { stop(); end() }
}

// Stopping returns a context in which units of a run are stopped: they have their
// StopGrace, or LeaveWithin once ctx has ended.
func Stopping(ctx context.Context) (context.Context, context.CancelFunc) {
	leaving, left := Leaving(ctx)
	out, end := context.WithTimeout(leaving, 2*StopGrace)
	return out, func() { end(); left() }
}

// Cleaning ends the message of a failed stop or close on the platform with this name: the
// command that removes what is left; "" where there is none. Services that already ran are
// not stopped, and agents beside them end with Millicore.
func Cleaning(name string) string {
	switch name {
	case "local", "docker", "kubernetes":
		return fmt.Sprintf("; `millicore clean --on %s` removes what is left", name)
	}
	return ""
}
