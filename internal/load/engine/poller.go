package engine

import (
	"github.com/millicore/millicore/internal/load/port"
	"github.com/millicore/millicore/internal/load/transport"
)

type (
	// Target is a replica and the requests that it gets.
	Target = port.Target
	// Transport is the protocol of the requests, and Unfit the error of a service that does
	// not speak it.
	Transport = transport.Transport
	Unfit     = transport.Unfit

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
