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

	"github.com/millicore/millicore/internal/data/signals"
)

// Answer is the server's answer to every request.
const Answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

// Serve serves HTTP/1.1 on a free loopback port until in ends. It writes its address as
// a line to out, and its Lateness as another line at the end. The service's clock starts
// at from with the first request, so that the freezes are at the same times of each
// generator's run, regardless of its start-up time.
//
// One thread sleeps until shortly before the next answer is due, and polls in a busy
// loop for the rest. Sleeping goroutines wake up to 1 ms late, as long as an answer
// takes.
func Serve(s Service, from time.Duration, in *os.File, out io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // without it sleeps are only less precise
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
	zero     time.Time // start of the service's clock; the zero time before the first request
	in       int
	epoll    int
	listener int
	conns    map[int]int // by descriptor: matched bytes of a request's end
	queue    []answer    // in the order of their due times, which is that of the requests
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

// serve runs until the input ends.
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

// early is how long before the next answer a sleep ends, because threads wake up late.
const early = 80 * time.Microsecond

// sleep waits for an event, or until shortly before the next answer is due. It uses
// ppoll because the timeout of epoll_wait is in whole milliseconds.
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

// read reads requests from a connection. They have no body and end with an empty line.
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

// take queues the answer to a request.
func (v *server) take(fd int) {
	if v.zero.IsZero() {
		v.zero = time.Now()
	}
	v.queue = append(v.queue, answer{v.service.Done(v.now()), fd})
}

func (v *server) hangUp(fd int) {
	for i := range v.queue {
		if v.queue[i].fd == fd {
			v.queue[i].fd = -1 // the descriptor may be reused
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
