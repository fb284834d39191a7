package tunnel

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// unanswered is how long sent data may stay without an acknowledgement: an agent
// whose conductor is gone with its node must stop its traffic.
const unanswered = 45 * time.Second

// control makes the kernel close a connection whose other end is silent
// (TCP_USER_TIMEOUT of tcp(7)). Without the option a connection lasts longer.
func control(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unanswered.Milliseconds()))
	})
}
