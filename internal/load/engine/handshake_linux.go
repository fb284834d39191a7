package engine

import (
	"crypto/tls"
	"io"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/load/poll"
	"github.com/millicore/millicore/internal/load/port"
)

// handshake is a TLS handshake in a goroutine. crypto/tls cannot continue a handshake
// after a temporary error, so it runs in one call. The goroutine reads and writes the
// socket itself, and waits for the loop's word that the socket is ready.
type handshake struct {
	poller  *securePoller
	config  *tls.Config
	started bool // the loop's
	fd      int
	ready   chan struct{} // holds one token: the socket may be ready, or the loop gave up

	mu       sync.Mutex
	rung     time.Duration  // when the last token was sent
	times    port.Handshake // Held is the time between tokens and their use
	conn     *tls.Conn
	err      error
	done     bool
	gaveUp   bool // the goroutine closes the socket
	abruptly bool
}

func newHandshake(p *securePoller, c *tls.Config) *handshake {
	return &handshake{poller: p, config: c, ready: make(chan struct{}, 1)}
}

// start starts the goroutine on a connected socket.
func (h *handshake) start(l *secureLine, fd int) {
	h.started, h.fd, h.rung = true, fd, h.poller.Now()
	h.times.Began = h.rung
	h.poller.shakes.Go(func() { h.run(l) })
}

// run shakes hands, and leaves the result to the loop.
func (h *handshake) run(l *secureLine) {
	h.count()
	conn := tls.Client(l, h.config)
	err := conn.Handshake()
	if err == nil {
		err = h.poller.transport.Agreed(conn)
	}
	err = h.poller.transport.OrUnfit(err)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conn, h.err, h.done, h.times.Ended = conn, err, true, h.poller.Now()
	if h.gaveUp {
		poll.CloseSocket(h.fd, h.abruptly)
		return
	}
	h.poller.later(event{Slot: l.slot, Generation: l.generation, Readable: true, Writable: true})
	h.poller.Wake()
}

// proceed lets the goroutine continue, as the socket may be ready. It returns the result
// once it is done.
func (h *handshake) proceed() (conn *tls.Conn, err error, done bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.done {
		h.ring()
	}
	return h.conn, h.err, h.done
}

// abandon ends the handshake. It reports whether the goroutine had ended, so that the
// caller closes the socket.
func (h *handshake) abandon(abruptly bool) (ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.done {
		h.gaveUp, h.abruptly = true, abruptly
		h.ring()
	}
	return h.done
}

func (h *handshake) ring() {
	select {
	case h.ready <- struct{}{}:
		h.rung = h.poller.Now()
	default: // it has not used the last token
	}
}

// count adds the time since the last token to those that it waited for a CPU.
func (h *handshake) count() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.times.Held += h.poller.Now() - h.rung
}

// await waits for a token, and reports whether the handshake is to go on.
func (h *handshake) await() bool {
	select {
	case <-h.ready: // it came during a calculation
	default:
		<-h.ready
		h.count()
	}
	return !h.over()
}

func (h *handshake) over() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.gaveUp
}

func (h *handshake) read(b []byte) (int, error) {
	for !h.over() {
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(h.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0, 0, 0)
		switch {
		case errno == 0 && n > 0:
			return int(n), nil
		case errno == 0:
			return 0, io.EOF
		case errno != unix.EAGAIN && errno != unix.EINTR:
			return 0, errno
		case errno == unix.EAGAIN && !h.await():
			return 0, errBroken
		}
	}
	return 0, errBroken
}

func (h *handshake) write(b []byte) (int, error) {
	for sent := 0; !h.over(); {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(h.fd), uintptr(unsafe.Pointer(&b[sent])), uintptr(len(b)-sent), unix.MSG_NOSIGNAL, 0, 0)
		switch {
		case errno == 0:
			if sent += int(n); sent == len(b) {
				return sent, nil
			}
		case errno != unix.EAGAIN && errno != unix.EINTR:
			return sent, errno
		case errno == unix.EAGAIN && !h.await():
			return sent, errBroken
		}
	}
	return 0, errBroken
}
