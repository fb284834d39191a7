// Package port is what an event loop needs of the connections below it: a clock, sockets,
// and one wait for both. Package engine has the loop, package poll the sockets; package
// mux shares connections of HTTP/2.
package port

import (
	"net/netip"
	"time"

	"github.com/millicore/millicore/internal/load/wire"
)

// Target is an address of a replica and the requests that it gets, one of each kind.
type Target struct {
	Replica  int32 // whose address it is
	Addr     netip.AddrPort
	Socket   string // path of a unix socket, instead of Addr
	Name     string // host name that the certificate must be valid for
	Requests []*wire.Template
	Gone     bool // it keeps its index but gets no connection; no other field is set
}

// Poller gives a loop a clock, sockets, and one wait for both. A slot is the index of
// a connection. A slot's generation distinguishes its present connection from earlier
// ones, whose late events must be ignored.
type Poller interface {
	// Now is the time since an origin that all loops of an engine share.
	Now() time.Duration
	// Wait fills in events and returns their number: at once if there are any, else
	// at the first event, at until, or at a call of Wake.
	Wait(events []Event, until time.Duration, how Waiting) int

	Dial(slot, generation int32, target int) Outcome
	// Move replaces the targets, which keep their indices.
	Move(targets []Target)
	Dialed(slot int32) Outcome // the result of a dial
	Write(slot int32, p []byte) (int, Outcome)
	// Left is when the first bytes of the last write left, if that was later than its
	// beginning: they were encrypted before. Else 0.
	Left() time.Duration
	// Shook is the TLS handshake of a new connection; the zero value without TLS.
	Shook(slot int32) Handshake
	// Read also returns when the last byte that it read arrived, by the kernel's
	// time stamp if there is one.
	Read(slot int32, p []byte) (n int, came time.Duration, out Outcome)
	// Close ends a connection; abruptly without waiting for data on its way.
	Close(slot int32, abruptly bool)
	// Part frees the slot of a connection that the other side is expected to close,
	// and waits a short time for that.
	Part(slot int32)

	Wake() // from any goroutine
	Err() error
	Release()
}

// Sharing is a poller whose slots share connections: it counts these and their bytes, not the loop.
type Sharing interface {
	// Counted names the functions to call when a connection is made, of which it names the
	// begin, when it ends, and when bytes of the service have come, with their number.
	Counted(opened func(began time.Duration, shook Handshake), closed func(), received func(int))
}

// Handshake is a TLS handshake.
type Handshake struct {
	Began, Ended time.Duration // on the poller's clock
	Held         time.Duration // of these, how long it waited for a CPU of this machine
}

// Sourcing is a poller that counts its connections from other source addresses than the
// kernel chooses.
type Sourcing interface {
	Sourced() int64
}

// Waiting is how a wait meets its end.
type Waiting uint8

const (
	Roughly Waiting = iota // up to 0.1 ms late
	Exactly                // on time, at the cost of CPU time
	// Resting is Exactly, and only a call of Wake needs to end the wait earlier: events
	// may stay in the kernel until shortly before its end. A poller does that only if
	// the kernel's time stamps say when an answer came.
	Resting
)

// Event reports which operations on a connection are possible. It is edge-triggered:
// a readable connection must be read until nothing is left.
type Event struct {
	Slot, Generation int32
	Readable         bool
	Writable         bool
	Ended            bool // the other side has closed, or the connection broke
}

// Outcome is the result of an operation on a connection.
type Outcome uint8

const (
	Succeeded   Outcome = iota
	WouldBlock          // the operation would block
	Ended               // the other side has closed
	Broken              // reset, refused or unreachable
	Portless            // this machine has no free port for the target; others worked
	Exhausted           // this machine lacks something, and the trial ends; see Err
	Unprocessed         // the service ended the connection before it looked at the request
	Declined            // it did not look at the request, and the connection goes on
	Invalid             // the service broke the protocol
)
