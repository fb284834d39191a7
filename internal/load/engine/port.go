package engine

import "time"

// port is what a loop needs of the world: a clock, sockets and one wait for
// both. Slots are indices of connections; a slot's generation tells its present
// connection from earlier ones, whose late events are to be ignored.
type port interface {
	// now is the time since a zero that all loops of an engine share.
	now() time.Duration
	// wait fills in events and returns their number: at once where there
	// are any, else when the first one comes, until is reached, or the port
	// is woken from outside. An exact wait takes pains to meet until.
	wait(events []event, until time.Duration, exact bool) int

	dial(slot, generation int32, target int) outcome
	// move replaces the targets, whose places stay.
	move(targets []Target)
	dialed(slot int32) outcome // how a dial ended
	write(slot int32, p []byte) (int, outcome)
	// read also tells when the last of what it read came: by the kernel's
	// stamp, where it gives one.
	read(slot int32, p []byte) (n int, came time.Duration, out outcome)
	// close ends a connection; abruptly without waiting for what is on
	// its way.
	close(slot int32, abruptly bool)

	wake() // from any goroutine
	err() error
	release()
}

// event says what may be done with a connection now. Each is told once: what is
// readable is to be read until nothing is left.
type event struct {
	slot, generation int32
	readable         bool
	writable         bool
	ended            bool // the other side has closed, or the connection broke
}

// outcome is how an operation on a connection went.
type outcome uint8

const (
	okay    outcome = iota
	later           // nothing can be done now
	ended           // the other side has closed
	broken          // reset, refused or unreachable
	lacking         // this machine lacks ports, descriptors or memory: err tells
)
