package dial

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// unanswered is how long what was sent may be without an acknowledgement: an
// agent whose conductor is gone with its node makes no more traffic.
const unanswered = 45 * time.Second

// control has the kernel break a connection whose other end is silent
// (TCP_USER_TIMEOUT of tcp(7)); one that cannot be told so lasts longer.
func control(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unanswered.Milliseconds()))
	})
}
