package freeze

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/signals"
)

// Answer is what a server answers to whatever it is asked.
const Answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

// Serve serves HTTP/1.1 on a free port of the loopback until in ends: it says its
// address on out in a line, and its Lateness in another when it ends. The clock of
// the service begins at a moment, from, when the first request comes, so that the
// freezes lie at the same place of each generator's run, however long that takes
// to start.
//
// One thread sleeps until the next answer is due, and turns in circles for the
// last moments: goroutines that sleep wake up to 1 ms late, which is as long as an
// answer takes.
func Serve(s Service, from time.Duration, in *os.File, out io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // only costs exactness
	v := &server{service: s, from: from, in: int(in.Fd()), conns: map[int]int{}, late: signals.NewHistogram()}
	defer v.close()
	addr, err := v.listen()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, addr); err != nil {
		return err
	}
	if err := v.serve(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, v.late.Count(), int64(v.late.Quantile(0.99)), int64(v.late.Max()))
	return err
}

type server struct {
	service  Service
	from     time.Duration
	zero     time.Time // of the service's clock; zero before the first request
	in       int
	epoll    int
	listener int
	conns    map[int]int // by descriptor: how much of a request's end has come
	queue    []answer    // in the order in which they are due, which is that of the requests
	late     *signals.Histogram
}

type answer struct {
	due time.Duration
	fd  int
}

func (v *server) listen() (netip.AddrPort, error) {
	fail := func(what string, err error) (netip.AddrPort, error) {
		return netip.AddrPort{}, fmt.Errorf("freezing server: %s: %w", what, err)
	}
	var err error
	if v.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fail("make an epoll", err)
	}
	if v.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return fail("make a socket", err)
	}
	if err := unix.Bind(v.listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return fail("bind", err)
	}
	if err := unix.Listen(v.listener, 4096); err != nil {
		return fail("listen", err)
	}
	for _, fd := range []int{v.listener, v.in} {
		if err := v.watch(fd); err != nil {
			return fail("watch", err)
		}
	}
	name, err := unix.Getsockname(v.listener)
	if err != nil {
		return fail("find its port", err)
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(name.(*unix.SockaddrInet4).Port)), nil
}

func (v *server) watch(fd int) error {
	return unix.EpollCtl(v.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

func (v *server) close() {
	for fd := range v.conns {
		unix.Close(fd)
	}
	unix.Close(v.listener)
	unix.Close(v.epoll)
}

// serve works until the input ends.
func (v *server) serve() error {
	events := make([]unix.EpollEvent, 512)
	for {
		if err := v.sleep(); err != nil {
			return err
		}
		n, err := unix.EpollWait(v.epoll, events, 0)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("freezing server: wait: %w", err)
		}
		for _, e := range events[:max(n, 0)] {
			switch fd := int(e.Fd); fd {
			case v.in:
				return nil
			case v.listener:
				v.accept()
			default:
				v.read(fd)
			}
		}
		v.answer()
	}
}

// early is how long before an answer is due a sleep ends: no thread wakes up on
// time.
const early = 80 * time.Microsecond

// sleep waits until something comes or the next answer is due soon. epoll alone
// would know whole milliseconds only, where there is no epoll_pwait2.
func (v *server) sleep() error {
	var until *unix.Timespec
	if len(v.queue) > 0 {
		left := v.queue[0].due - v.now() - early
		if left <= 0 {
			return nil
		}
		spec := unix.NsecToTimespec(int64(left))
		until = &spec
	}
	_, err := unix.Ppoll([]unix.PollFd{{Fd: int32(v.epoll), Events: unix.POLLIN}}, until, nil)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("freezing server: sleep: %w", err)
	}
	return nil
}

func (v *server) now() time.Duration { return v.from + time.Since(v.zero) }

func (v *server) accept() {
	for {
		fd, _, err := unix.Accept4(v.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		if v.watch(fd) != nil {
			unix.Close(fd)
			continue
		}
		v.conns[fd] = 0
	}
}

// read takes what has come on a connection: requests without a body, each of
// which ends with an empty line.
func (v *server) read(fd int) {
	var b [16 << 10]byte
	n, err := unix.Read(fd, b[:])
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return
	case err != nil || n == 0:
		v.hangUp(fd)
		return
	}
	const end = "\r\n\r\n"
	matched := v.conns[fd]
	for _, c := range b[:n] {
		switch {
		case c == end[matched]:
			matched++
		case c == '\r':
			matched = 1
		default:
			matched = 0
		}
		if matched == len(end) {
			matched = 0
			v.take(fd)
		}
	}
	v.conns[fd] = matched
}

// take takes a request.
func (v *server) take(fd int) {
	if v.zero.IsZero() {
		v.zero = time.Now()
	}
	v.queue = append(v.queue, answer{v.service.Done(v.now()), fd})
}

func (v *server) hangUp(fd int) {
	for i := range v.queue {
		if v.queue[i].fd == fd {
			v.queue[i].fd = -1 // the number may be given to another
		}
	}
	delete(v.conns, fd)
	unix.Close(fd)
}

// answer sends the answers that are due.
func (v *server) answer() {
	sent := 0
	for _, a := range v.queue {
		late := v.now() - a.due
		if late < 0 {
			break
		}
		sent++
		if a.fd < 0 {
			continue
		}
		v.late.Record(late)
		if _, err := unix.Write(a.fd, []byte(Answer)); err != nil {
			v.hangUp(a.fd)
		}
	}
	v.queue = append(v.queue[:0], v.queue[sent:]...)
}
