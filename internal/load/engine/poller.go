package engine

import "time"

// poller gives a loop a clock, sockets, and one wait for both. A slot is the index of
// a connection. A slot's generation distinguishes its present connection from earlier
// ones, whose late events must be ignored.
type poller interface {
	// now is the time since an origin that all loops of an engine share.
	now() time.Duration
	// wait fills in events and returns their number: at once if there are any, else
	// at the first event, at until, or at a call of wake. An exact wait meets until
	// more precisely, at the cost of CPU time.
	wait(events []event, until time.Duration, exact bool) int

	dial(slot, generation int32, target int) outcome
	// move replaces the targets, which keep their indices.
	move(targets []Target)
	dialed(slot int32) outcome // the result of a dial
	write(slot int32, p []byte) (int, outcome)
	// left is when the first bytes of the last write left, if that was later than its
	// beginning: they were encrypted before. Else 0.
	left() time.Duration
	// held is how long the handshake of a new connection waited for a CPU.
	held(slot int32) time.Duration
	// read also returns when the last byte that it read arrived, by the kernel's
	// time stamp if there is one.
	read(slot int32, p []byte) (n int, came time.Duration, out outcome)
	// close ends a connection; abruptly without waiting for data on its way.
	close(slot int32, abruptly bool)
	// part frees the slot of a connection that the other side is expected to close,
	// and waits a short time for that.
	part(slot int32)

	wake() // from any goroutine
	err() error
	release()
}

// sharing is a poller whose slots share connections: it counts these, not the loop.
type sharing interface {
	// counted names the functions to call when a connection is made, and when it ends.
	counted(opened, closed func())
}

// mostParted is the maximum number of parted connections that a poller waits for.
const mostParted = 128

// event reports which operations on a connection are possible. It is edge-triggered:
// a readable connection must be read until nothing is left.
type event struct {
	slot, generation int32
	readable         bool
	writable         bool
	ended            bool // the other side has closed, or the connection broke
}

// outcome is the result of an operation on a connection.
type outcome uint8

const (
	succeeded   outcome = iota
	wouldBlock          // the operation would block
	ended               // the other side has closed
	broken              // reset, refused or unreachable
	portless            // this machine has no free port for the target; others worked
	exhausted           // this machine lacks something, and the trial ends; see err
	unprocessed         // the service ended the connection before it looked at the request
	declined            // it did not look at the request, and the connection goes on
	invalid             // the service broke the protocol
)
