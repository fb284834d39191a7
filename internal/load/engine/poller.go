package engine

import "github.com/millicore/millicore/internal/load/port"

type (
	// Target is a replica and the requests that it gets.
	Target  = port.Target
	poller  = port.Poller
	event   = port.Event
	outcome = port.Outcome
)

const (
	succeeded   = port.Succeeded
	wouldBlock  = port.WouldBlock
	ended       = port.Ended
	broken      = port.Broken
	portless    = port.Portless
	exhausted   = port.Exhausted
	unprocessed = port.Unprocessed
	declined    = port.Declined
	invalid     = port.Invalid
)
