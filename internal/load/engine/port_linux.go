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
)

// epollPort is the port of one loop on Linux: an epoll, edge-triggered, with one
// registration for the life of a connection.
//
// All calls are raw, the wait among them: they do not tell the Go scheduler,
// which would give the loop's processor away during each wait and watch it
// closely, at a third of the cost of a request where requests are sparse. The
// scheduler gets at a waiting loop by a signal, which ends the wait.
type epollPort struct {
	epoll, bell int // bell: an eventfd that wake rings
	timer       int // a timerfd, where there is no epoll_pwait2; else -1
	zero        time.Time
	addrs       []sockaddr
	fds         []int32 // by slot; -1: none
	events      []unix.EpollEvent
	failed      atomic.Pointer[error]
	rung        atomic.Bool

	credit   time.Duration // time that may be spent turning in circles
	credited time.Duration // until when

	receiver
}

// sockaddr is an address in the kernel's form.
type sockaddr struct {
	family int
	raw    [unix.SizeofSockaddrUnix]byte
	size   uintptr
}

// Marks of the events that are no connection's.
const (
	bellSlot  = -1
	timerSlot = -2
)

func newPort(zero time.Time, plan *Plan) (port, error) {
	switch t := plan.Transport; {
	case t.HTTP2:
		return newStreamPort(zero, newHTTP2Dialer(plan.Targets, t))
	case t.TLS:
		return newStreamPort(zero, newTLSDialer(plan.Targets, t))
	}
	return newEpollPort(zero, plan.Targets)
}

func newEpollPort(zero time.Time, targets []Target) (*epollPort, error) {
	p := &epollPort{zero: zero, epoll: -1, bell: -1, timer: -1, events: make([]unix.EpollEvent, maxEvents)}
	p.move(targets)
	var err error
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("make an epoll: %w", err)
	}
	if p.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		p.release()
		return nil, fmt.Errorf("make an eventfd: %w", err)
	}
	if err := p.watch(p.bell, bellSlot); err != nil {
		p.release()
		return nil, err
	}
	if !hasPwait2() {
		if err := p.useTimer(); err != nil {
			p.release()
			return nil, err
		}
	}
	return p, nil
}

func (p *epollPort) move(targets []Target) {
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

func (p *epollPort) watch(fd int, mark int32) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: mark}
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return fmt.Errorf("add to an epoll: %w", err)
	}
	return nil
}

// hasPwait2 tells whether there is epoll_pwait2: since Linux 5.11, unless a
// sandbox older than that forbids it.
func hasPwait2() bool {
	_, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, ^uintptr(0), 0, 0, 0, 0, 0)
	return errno != unix.ENOSYS && errno != unix.EPERM
}

// useTimer makes the wait end by a timerfd, since epoll_pwait knows whole
// milliseconds only.
func (p *epollPort) useTimer() (err error) {
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

// unixSockaddr is the address of a unix socket, whose path is known to fit; one
// that begins with @ is in the abstract namespace.
func unixSockaddr(path string) sockaddr {
	s := sockaddr{family: unix.AF_UNIX, size: uintptr(2 + len(path) + 1)}
	binary.NativeEndian.PutUint16(s.raw[0:], unix.AF_UNIX)
	copy(s.raw[2:], path)
	if path[0] == '@' {
		s.raw[2], s.size = 0, uintptr(2+len(path))
	}
	return s
}

func (p *epollPort) now() time.Duration { return time.Since(p.zero) }

func (p *epollPort) err() error {
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// fail notes the first failure.
func (p *epollPort) fail(err error) { p.failed.CompareAndSwap(nil, &err) }

func (p *epollPort) wake() {
	if p.rung.Swap(true) {
		return
	}
	one := [8]byte{1}
	_, _ = unix.Write(p.bell, one[:]) // cannot fail: the counter holds one
}

func (p *epollPort) release() {
	for slot, fd := range p.fds {
		if fd >= 0 {
			p.close(int32(slot), true)
		}
	}
	for _, fd := range []int{p.timer, p.bell, p.epoll} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

func (p *epollPort) wait(events []event, until time.Duration, exact bool) int {
	var n int
	if exact {
		n = p.pollExactly(until)
	} else {
		n = p.poll(until - p.now())
	}
	p.compareClocks(p.zero)
	filled := 0
	for i := range p.events[:n] {
		e := &p.events[i]
		if e.Fd < 0 {
			if e.Fd == bellSlot {
				p.quiet()
			}
			continue
		}
		events[filled] = event{
			slot:       e.Fd,
			generation: e.Pad,
			readable:   e.Events&unix.EPOLLIN != 0,
			writable:   e.Events&unix.EPOLLOUT != 0,
			ended:      e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0,
		}
		filled++
	}
	return filled
}

// quiet stops the bell, and only then lets it be rung again: the other way round
// this reading could take a ring that was to come. What it was rung for is looked
// for after every wait.
func (p *epollPort) quiet() {
	var count [8]byte
	_, _ = unix.Read(p.bell, count[:])
	p.rung.Store(false)
}

// A thread that sleeps until a moment wakes up some 10 to 100 us after it, the
// later the longer it slept. So an exact wait sleeps until a little before and
// turns in circles for the rest, in at most a twentieth of all time: with 1,000
// requests/s that is worth it for each of them, with 10,000 sleep is shallow
// anyway.
const (
	earliest   = 50 * time.Microsecond
	spinShare  = 20
	mostCredit = time.Millisecond
)

// pollExactly is poll until a moment that is to be met.
func (p *epollPort) pollExactly(until time.Duration) int {
	now := p.now()
	p.credit = min(p.credit+(now-p.credited)/spinShare, mostCredit)
	p.credited = now
	early := until - min(p.credit, earliest)
	if early > now {
		n := p.poll(early - now)
		if now = p.now(); n > 0 || now < early { // or a signal came
			return n
		}
	}
	began := now
	n := p.poll(0)
	for n == 0 && now < until {
		n = p.poll(0)
		now = p.now()
	}
	p.credit -= now - began
	return n
}

// poll asks for events, and waits for the first one as long as left.
func (p *epollPort) poll(left time.Duration) int {
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
		// Setting the timer also takes its last event back.
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

func (p *epollPort) dial(slot, generation int32, target int) outcome {
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
		return broken // nobody accepts: the service's own queue is full
	}
	switch errno {
	case 0, unix.EINPROGRESS:
	case unix.EADDRNOTAVAIL, unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM:
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
		return p.lack("add a socket to an epoll", err.(unix.Errno))
	}
	if errno == 0 {
		return okay
	}
	return later
}

// lack notes that this machine, not the service, refuses a connection. Going
// on would blame the service, so the trial ends.
func (p *epollPort) lack(what string, errno unix.Errno) outcome {
	p.fail(fmt.Errorf("%s: %w; %s", what, errno, remedy(errno)))
	return lacking
}

func remedy(errno unix.Errno) string {
	switch errno {
	case unix.EADDRNOTAVAIL, unix.EAGAIN:
		return "this machine has no free local port for the target: widen net.ipv4.ip_local_port_range, or let the service keep its connections open"
	case unix.EMFILE:
		return "raise the limit of open files (ulimit -n), or ask for fewer connections"
	}
	return "the kernel lacks memory for sockets: ask for fewer connections"
}

func (p *epollPort) dialed(slot int32) outcome {
	value, err := unix.GetsockoptInt(int(p.fds[slot]), unix.SOL_SOCKET, unix.SO_ERROR)
	switch {
	case err != nil:
		return broken
	case value == 0, unix.Errno(value) == unix.ECONNRESET, unix.Errno(value) == unix.EPIPE:
		return okay // perhaps it has broken since, which its use will show
	}
	return broken
}

func (p *epollPort) write(slot int32, b []byte) (int, outcome) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(p.fds[slot]),
		uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	switch errno {
	case 0:
		return int(n), okay
	case unix.EAGAIN, unix.EINTR:
		return 0, later
	}
	return 0, broken
}

// close ends a connection; abruptly by a reset, which leaves no socket behind
// that waits out the last packets and holds the port.
func (p *epollPort) close(slot int32, abruptly bool) {
	fd := int(p.fds[slot])
	if fd < 0 {
		return
	}
	p.fds[slot] = -1
	if abruptly {
		_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	_ = unix.Close(fd)
}

// enter makes the calling thread's timers exact; it belongs to the loop from
// now on.
func enter() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // only costs exactness
}
