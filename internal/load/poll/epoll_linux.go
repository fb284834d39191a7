package poll

import (
	"fmt"
	"math"
	"net/netip"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/load/port"
)

// Poller is the port.Poller of one loop: an edge-triggered epoll with one registration
// per connection.
//
// All system calls are raw, including short waits, so that the Go scheduler does not
// notice them. Otherwise it would take the loop's processor away during each wait, which
// costs a third of a request's CPU time. But it preempts a loop that seems to run for 10 ms
// with a signal, which ends the wait. So it knows of waits from knownWait on.
type Poller struct {
	epoll, bell int // bell: an eventfd that wake writes to
	timer       int // a timerfd if there is no epoll_pwait2; else -1
	zero        time.Time
	place       Place
	plain       bool  // the kernel chooses all source addresses: another one was refused
	sourced     int64 // connections from another
	restless    bool  // rests are not possible
	addrs       []sockaddr
	fds         []int32 // by slot; -1: none
	ported      bool    // a connection got a local port
	events      []unix.EpollEvent
	failed      atomic.Pointer[error]
	woken       atomic.Bool

	parted  []parted        // parted connections, by deadline
	untils  []time.Duration // deadlines by descriptor; 0: not parted
	parting int             // number of parted connections

	left unix.Timespec // of the present wait
	rung unix.PollFd

	credit   time.Duration // time that may be spent in busy waits
	credited time.Duration // the time up to which credit was added

	receiver
}

// Slots of events that do not belong to a slot's connection.
const (
	bellSlot  = -1
	timerSlot = -2
	partSlot  = -3 // a parted connection; the generation is its descriptor
)

// mostEvents is how many events one wait takes out of the kernel.
const mostEvents = 512

// Place is a poller's place among those of this machine that connect to the same targets.
type Place struct {
	Index, Of int
	Sources   []netip.Addr // that connections come from, in turn; see Sources
}

// connection is the number of a slot's connection among those of all pollers, whatever their
// numbers of slots are, and become.
func (p Place) connection(slot int32) int { return int(slot)*max(p.Of, 1) + p.Index }

// New makes a poller whose clock begins at zero.
func New(zero time.Time, targets []port.Target, place Place) (*Poller, error) {
	p := &Poller{zero: zero, place: place, epoll: -1, bell: -1, timer: -1, events: make([]unix.EpollEvent, mostEvents)}
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

func (p *Poller) Move(targets []port.Target) {
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

func (p *Poller) watch(fd int, mark int32) error {
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
func (p *Poller) useTimer() (err error) {
	if p.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return fmt.Errorf("make a timerfd: %w", err)
	}
	return p.watch(p.timer, timerSlot)
}

func (p *Poller) Now() time.Duration { return time.Since(p.zero) }

func (p *Poller) Err() error {
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Fail records the first error: Err returns it, and the trial ends.
func (p *Poller) Fail(err error) { p.failed.CompareAndSwap(nil, &err) }

func (p *Poller) Wake() {
	if p.woken.Swap(true) {
		return
	}
	one := [8]byte{1}
	_, _ = unix.Write(p.bell, one[:]) // cannot fail: the counter holds one
}

func (p *Poller) Release() {
	for slot, fd := range p.fds {
		if fd >= 0 {
			p.Close(int32(slot), true)
		}
	}
	p.giveUp(math.MaxInt64)
	for _, fd := range []int{p.timer, p.bell, p.epoll} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

func (p *Poller) Wait(events []port.Event, until time.Duration, how port.Waiting) int {
	var n int
	if how == port.Roughly {
		n = p.poll(until - p.Now())
	} else {
		n = p.pollExactly(until, how == port.Resting && !p.restless && p.mayRest())
	}
	p.compareClocks(time.Now(), p.zero)
	if len(p.parted) > 0 {
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
		events[filled] = port.Event{
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
func (p *Poller) quiet() {
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

// longestRest bounds how late a loop that rests notices that a connection was closed.
const longestRest = 10 * time.Millisecond

// pollExactly polls until a time that must be met precisely. If it rests, events stay in
// the kernel until shortly before.
func (p *Poller) pollExactly(until time.Duration, rests bool) int {
	now := p.Now()
	p.credit = min(p.credit+(now-p.credited)/spinShare, mostCredit)
	p.credited = now
	early := until - min(p.credit, earliest)
	switch {
	case early <= now:
	case rests && early-now <= longestRest && p.rest(early-now):
		if now = p.Now(); now < early { // woken, or a signal came
			return p.poll(0)
		}
	default:
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

// rest waits until the bell rings, for at most left. It reports whether that is possible: a
// sandbox may forbid ppoll.
func (p *Poller) rest(left time.Duration) bool {
	p.rung = unix.PollFd{Fd: int32(p.bell), Events: unix.POLLIN}
	p.left = unix.NsecToTimespec(int64(left))
	_, errno := wait(left, unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p.rung)), 1, uintptr(unsafe.Pointer(&p.left)), 0)
	p.restless = errno != 0 && errno != unix.EINTR
	return !p.restless
}

// knownWait is the length from which the Go scheduler knows of a wait. It takes the processor
// away in one, and to get another costs more than a signal in each 10 ms of a shorter wait.
const knownWait = 20 * time.Millisecond

// wait makes a system call that takes as long as left. Its pointers must be into the heap.
func wait(left time.Duration, call, a, b, c, d uintptr) (n uintptr, errno unix.Errno) {
	if left < knownWait {
		n, _, errno = unix.RawSyscall6(call, a, b, c, d, 0, 0)
	} else {
		n, _, errno = unix.Syscall6(call, a, b, c, d, 0, 0)
	}
	return n, errno
}

// poll waits for the first event, for at most left.
func (p *Poller) poll(left time.Duration) int {
	var n uintptr
	var errno unix.Errno
	epoll, first, all := uintptr(p.epoll), uintptr(unsafe.Pointer(&p.events[0])), uintptr(len(p.events))
	switch left = min(left, time.Hour); {
	case left <= 0:
		n, _, errno = unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, epoll, first, all, 0, 0, 0)
	case p.timer < 0:
		p.left = unix.NsecToTimespec(int64(left))
		n, errno = wait(left, unix.SYS_EPOLL_PWAIT2, epoll, first, all, uintptr(unsafe.Pointer(&p.left)))
	default:
		// Setting the timer also clears its previous event.
		spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(left))}
		if err := unix.TimerfdSettime(p.timer, 0, &spec, nil); err != nil {
			p.Fail(fmt.Errorf("set a timerfd: %w", err))
			return 0
		}
		n, errno = wait(left, unix.SYS_EPOLL_PWAIT, epoll, first, all, ^uintptr(0))
	}
	switch errno {
	case 0:
		return int(n)
	case unix.EINTR:
	default:
		p.Fail(fmt.Errorf("wait for events: %w", errno))
	}
	return 0
}

func (p *Poller) Dial(slot, generation int32, target int) port.Outcome {
	for int(slot) >= len(p.fds) {
		p.fds = append(p.fds, -1)
	}
	addr := &p.addrs[target]
	from := p.source(slot, addr)
	errno := p.connect(slot, addr, from)
	if from.IsValid() && len(p.place.Sources) == 0 && useless(errno) {
		p.plain = errno != unix.EADDRNOTAVAIL || p.sourced == 0 // else the ports of this one are in use
		p.Close(slot, true)
		from = netip.Addr{}
		errno = p.connect(slot, addr, from)
	}
	if addr.family == unix.AF_UNIX && errno == unix.EAGAIN {
		return port.Broken // the service's accept queue is full
	}
	switch errno {
	case 0, unix.EINPROGRESS:
		p.ported = true
		if from.IsValid() && len(p.place.Sources) == 0 {
			p.sourced++
		}
	case unix.EADDRNOTAVAIL, unix.EAGAIN:
		if p.ported {
			return port.Portless
		}
		return p.lack("connect", errno)
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
		return p.lack("make a connection", errno)
	default:
		return port.Broken
	}
	event := unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET,
		Fd:     slot,
		Pad:    generation,
	}
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, p.File(slot), &event); err != nil {
		return p.lack("add a socket to an epoll", errnoOf(err))
	}
	if errno == 0 {
		return port.Succeeded
	}
	return port.WouldBlock
}

func (p *Poller) Dialed(slot int32) port.Outcome {
	value, err := unix.GetsockoptInt(int(p.fds[slot]), unix.SOL_SOCKET, unix.SO_ERROR)
	switch {
	case err != nil:
		return port.Broken
	case value == 0, unix.Errno(value) == unix.ECONNRESET, unix.Errno(value) == unix.EPIPE:
		return port.Succeeded // if it has broken since, the next operation reports it
	}
	return port.Broken
}

func (p *Poller) Write(slot int32, b []byte) (int, port.Outcome) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(p.fds[slot]),
		uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	switch errno {
	case 0:
		return int(n), port.Succeeded
	case unix.EAGAIN, unix.EINTR:
		return 0, port.WouldBlock
	}
	return 0, port.Broken
}

// Close ends a connection; abruptly by a reset, which leaves no socket in TIME_WAIT
// that occupies the port.
func (p *Poller) Close(slot int32, abruptly bool) {
	fd := int(p.fds[slot])
	if fd < 0 {
		return
	}
	p.fds[slot] = -1
	CloseSocket(fd, abruptly)
}

// CloseSocket closes a descriptor as Close does.
func CloseSocket(fd int, abruptly bool) {
	if abruptly {
		_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	_ = unix.Close(fd)
}

func (p *Poller) Left() time.Duration        { return 0 }
func (p *Poller) Shook(int32) port.Handshake { return port.Handshake{} }

// File is the descriptor of a slot's connection; -1: none.
func (p *Poller) File(slot int32) int { return int(p.fds[slot]) }

// Forget gives the slot's connection to the caller, who closes it.
func (p *Poller) Forget(slot int32) { p.fds[slot] = -1 }

// Enter makes the timers of the calling thread, the loop's, precise.
func Enter() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // without it waits are only less precise
}
