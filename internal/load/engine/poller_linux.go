package engine

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/load/mux"
)

// epollPoller is the poller of one loop on Linux: an edge-triggered epoll with one
// registration per connection.
//
// All system calls are raw, including the wait, so that the Go scheduler does not
// notice them. Otherwise it would take the loop's processor away during each wait,
// which at low rates costs a third of a request's CPU time. The scheduler can still
// preempt a waiting loop with a signal, which ends the wait.
type epollPoller struct {
	epoll, bell int // bell: an eventfd that wake writes to
	timer       int // a timerfd if there is no epoll_pwait2; else -1
	zero        time.Time
	addrs       []sockaddr
	fds         []int32 // by slot; -1: none
	ported      bool    // a connection got a local port
	events      []unix.EpollEvent
	failed      atomic.Pointer[error]
	woken       atomic.Bool

	parted  ring[parted]    // parted connections, by deadline
	untils  []time.Duration // deadlines by descriptor; 0: not parted
	parting int             // number of parted connections

	credit   time.Duration // time that may be spent in busy waits
	credited time.Duration // the time up to which credit was added

	receiver
}

// sockaddr is an address in the kernel's form.
type sockaddr struct {
	family int
	raw    [unix.SizeofSockaddrUnix]byte
	size   uintptr
}

// Slots of events that do not belong to a slot's connection.
const (
	bellSlot  = -1
	timerSlot = -2
	partSlot  = -3 // a parted connection; the generation is its descriptor
)

func newPoller(zero time.Time, plan *Plan) (p poller, err error) {
	if t := plan.Transport; t.TLS {
		p, err = newSecurePoller(zero, plan.Targets, t)
	} else {
		p, err = newEpollPoller(zero, plan.Targets)
	}
	if err == nil && plan.Transport.HTTP2 {
		p = mux.New(p, len(plan.Targets), mux.Options{HTTPS: plan.Transport.TLS, Streams: plan.Transport.Streams, Shares: plan.shares()})
	}
	return p, err
}

func newEpollPoller(zero time.Time, targets []Target) (*epollPoller, error) {
	p := &epollPoller{zero: zero, epoll: -1, bell: -1, timer: -1, events: make([]unix.EpollEvent, maxEvents)}
	p.Move(targets)
	var err error
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("make an epoll: %w", err)
	}
	if p.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		p.Release()
		return nil, fmt.Errorf("make an eventfd: %w", err)
	}
	if err := p.watch(p.bell, bellSlot); err != nil {
		p.Release()
		return nil, err
	}
	if !hasPwait2() {
		if err := p.useTimer(); err != nil {
			p.Release()
			return nil, err
		}
	}
	return p, nil
}

func (p *epollPoller) Move(targets []Target) {
	p.addrs = p.addrs[:0]
	for _, t := range targets {
		switch {
		case t.Gone:
			p.addrs = append(p.addrs, sockaddr{})
		case t.Socket != "":
			p.addrs = append(p.addrs, unixSockaddr(t.Socket))
		default:
			p.addrs = append(p.addrs, newSockaddr(t.Addr))
		}
	}
}

func (p *epollPoller) watch(fd int, mark int32) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: mark}
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return fmt.Errorf("add to an epoll: %w", err)
	}
	return nil
}

// hasPwait2 reports whether epoll_pwait2 is available: since Linux 5.11, unless an
// older sandbox forbids it.
func hasPwait2() bool {
	_, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, ^uintptr(0), 0, 0, 0, 0, 0)
	return errno != unix.ENOSYS && errno != unix.EPERM
}

// useTimer ends waits with a timerfd, because the timeout of epoll_pwait is in whole
// milliseconds.
func (p *epollPoller) useTimer() (err error) {
	if p.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return fmt.Errorf("make a timerfd: %w", err)
	}
	return p.watch(p.timer, timerSlot)
}

func newSockaddr(addr netip.AddrPort) sockaddr {
	s := sockaddr{}
	ip := addr.Addr().Unmap()
	// Layout: struct sockaddr_in and sockaddr_in6, linux/in.h and in6.h.
	binary.BigEndian.PutUint16(s.raw[2:], addr.Port())
	if ip.Is4() {
		s.family, s.size = unix.AF_INET, unix.SizeofSockaddrInet4
		copy(s.raw[4:], ip.AsSlice())
	} else {
		s.family, s.size = unix.AF_INET6, unix.SizeofSockaddrInet6
		copy(s.raw[8:], ip.AsSlice())
		if zone, err := net.InterfaceByName(ip.Zone()); err == nil {
			binary.NativeEndian.PutUint32(s.raw[24:], uint32(zone.Index))
		}
	}
	binary.NativeEndian.PutUint16(s.raw[0:], uint16(s.family))
	return s
}

// unixSockaddr is the address of a unix socket, whose path must fit; a path that
// begins with @ is in the abstract namespace.
func unixSockaddr(path string) sockaddr {
	s := sockaddr{family: unix.AF_UNIX, size: uintptr(2 + len(path) + 1)}
	binary.NativeEndian.PutUint16(s.raw[0:], unix.AF_UNIX)
	copy(s.raw[2:], path)
	if path[0] == '@' {
		s.raw[2], s.size = 0, uintptr(2+len(path))
	}
	return s
}

func (p *epollPoller) Now() time.Duration { return time.Since(p.zero) }

func (p *epollPoller) Err() error {
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// fail records the first error.
func (p *epollPoller) fail(err error) { p.failed.CompareAndSwap(nil, &err) }

func (p *epollPoller) Wake() {
	if p.woken.Swap(true) {
		return
	}
	one := [8]byte{1}
	_, _ = unix.Write(p.bell, one[:]) // cannot fail: the counter holds one
}

func (p *epollPoller) Release() {
	for slot, fd := range p.fds {
		if fd >= 0 {
			p.Close(int32(slot), true)
		}
	}
	p.giveUp(never)
	for _, fd := range []int{p.timer, p.bell, p.epoll} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

func (p *epollPoller) Wait(events []event, until time.Duration, exact bool) int {
	var n int
	if exact {
		n = p.pollExactly(until)
	} else {
		n = p.poll(until - p.Now())
	}
	p.compareClocks(p.zero)
	if p.parted.len() > 0 {
		p.giveUp(p.Now())
	}
	filled := 0
	for i := range p.events[:n] {
		e := &p.events[i]
		if e.Fd < 0 {
			switch e.Fd {
			case bellSlot:
				p.quiet()
			case partSlot:
				p.end(e.Pad)
			}
			continue
		}
		events[filled] = event{
			Slot:       e.Fd,
			Generation: e.Pad,
			Readable:   e.Events&unix.EPOLLIN != 0,
			Writable:   e.Events&unix.EPOLLOUT != 0,
			Ended:      e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0,
		}
		filled++
	}
	return filled
}

// quiet drains the eventfd before it allows the next wake. In the other order the read
// could consume a later wake. The loop checks for orders after every wait, so none is
// missed.
func (p *epollPoller) quiet() {
	var count [8]byte
	_, _ = unix.Read(p.bell, count[:])
	p.woken.Store(false)
}

// A sleeping thread wakes up 10 to 100 us late, the later the longer it slept. So an
// exact wait sleeps until shortly before its end and polls in a busy loop for the
// rest, for at most a twentieth of the time. At 1,000 requests/s that covers every
// request; at 10,000 requests/s sleeps are short and wake up on time anyway.
const (
	earliest   = 50 * time.Microsecond
	spinShare  = 20
	mostCredit = time.Millisecond
)

// pollExactly polls until a time that must be met precisely.
func (p *epollPoller) pollExactly(until time.Duration) int {
	now := p.Now()
	p.credit = min(p.credit+(now-p.credited)/spinShare, mostCredit)
	p.credited = now
	early := until - min(p.credit, earliest)
	if early > now {
		n := p.poll(early - now)
		if now = p.Now(); n > 0 || now < early { // or a signal came
			return n
		}
	}
	began := now
	n := p.poll(0)
	for n == 0 && now < until {
		n = p.poll(0)
		now = p.Now()
	}
	p.credit -= now - began
	return n
}

// poll waits for the first event, for at most left.
func (p *epollPoller) poll(left time.Duration) int {
	var n uintptr
	var errno unix.Errno
	epoll, first, all := uintptr(p.epoll), uintptr(unsafe.Pointer(&p.events[0])), uintptr(len(p.events))
	switch left = min(left, time.Hour); {
	case left <= 0:
		n, _, errno = unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, epoll, first, all, 0, 0, 0)
	case p.timer < 0:
		spec := unix.NsecToTimespec(int64(left))
		n, _, errno = unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, epoll, first, all, uintptr(unsafe.Pointer(&spec)), 0, 0)
	default:
		// Setting the timer also clears its previous event.
		spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(left))}
		if err := unix.TimerfdSettime(p.timer, 0, &spec, nil); err != nil {
			p.fail(fmt.Errorf("set a timerfd: %w", err))
			return 0
		}
		n, _, errno = unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, epoll, first, all, ^uintptr(0), 0, 0)
	}
	switch errno {
	case 0:
		return int(n)
	case unix.EINTR:
	default:
		p.fail(fmt.Errorf("wait for events: %w", errno))
	}
	return 0
}

func (p *epollPoller) Dial(slot, generation int32, target int) outcome {
	for int(slot) >= len(p.fds) {
		p.fds = append(p.fds, -1)
	}
	addr := &p.addrs[target]
	fd, _, errno := unix.RawSyscall(unix.SYS_SOCKET, uintptr(addr.family),
		unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if errno != 0 {
		return p.lack("make a socket", errno)
	}
	p.fds[slot] = int32(fd)
	if addr.family != unix.AF_UNIX {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		askForStamps(int(fd))
	}
	_, _, errno = unix.RawSyscall(unix.SYS_CONNECT, fd, uintptr(unsafe.Pointer(&addr.raw)), addr.size)
	if addr.family == unix.AF_UNIX && errno == unix.EAGAIN {
		return broken // the service's accept queue is full
	}
	switch errno {
	case 0, unix.EINPROGRESS:
		p.ported = true
	case unix.EADDRNOTAVAIL, unix.EAGAIN:
		if p.ported {
			return portless
		}
		return p.lack("connect", errno)
	case unix.ENOBUFS, unix.ENOMEM:
		return p.lack("connect", errno)
	default:
		return broken
	}
	event := unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET,
		Fd:     slot,
		Pad:    generation,
	}
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, int(fd), &event); err != nil {
		return p.lack("add a socket to an epoll", err.(unix.Errno)) //nolint:errorlint // it is not wrapped
	}
	if errno == 0 {
		return succeeded
	}
	return wouldBlock
}

// lack records that this machine, not the service, refused a connection. The trial
// ends, because its figures would blame the service.
func (p *epollPoller) lack(what string, errno unix.Errno) outcome {
	p.fail(fmt.Errorf("%s: %w; %s", what, errno, remedy(errno)))
	return exhausted
}

func remedy(errno unix.Errno) string {
	switch errno {
	case unix.EADDRNOTAVAIL, unix.EAGAIN:
		return "this machine has no free local port for the target: widen net.ipv4.ip_local_port_range, or let the service keep its connections open"
	case unix.EMFILE:
		return "raise the limit of open files (ulimit -n), or configure fewer connections"
	}
	return "the kernel lacks memory for sockets: configure fewer connections"
}

func (p *epollPoller) Dialed(slot int32) outcome {
	value, err := unix.GetsockoptInt(int(p.fds[slot]), unix.SOL_SOCKET, unix.SO_ERROR)
	switch {
	case err != nil:
		return broken
	case value == 0, unix.Errno(value) == unix.ECONNRESET, unix.Errno(value) == unix.EPIPE:
		return succeeded // if it has broken since, the next operation reports it
	}
	return broken
}

func (p *epollPoller) Write(slot int32, b []byte) (int, outcome) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(p.fds[slot]),
		uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	switch errno {
	case 0:
		return int(n), succeeded
	case unix.EAGAIN, unix.EINTR:
		return 0, wouldBlock
	}
	return 0, broken
}

// Close ends a connection; abruptly by a reset, which leaves no socket in TIME_WAIT
// that occupies the port.
func (p *epollPoller) Close(slot int32, abruptly bool) {
	fd := int(p.fds[slot])
	if fd < 0 {
		return
	}
	p.fds[slot] = -1
	closeSocket(fd, abruptly)
}

func closeSocket(fd int, abruptly bool) {
	if abruptly {
		_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	_ = unix.Close(fd)
}

func (p *epollPoller) Left() time.Duration      { return 0 }
func (p *epollPoller) Held(int32) time.Duration { return 0 }

// enter makes the timers of the calling thread, the loop's, precise.
func enter() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // without it waits are only less precise
}
