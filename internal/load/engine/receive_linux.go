package engine

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// receiver reads from sockets and learns from the kernel when what it reads had
// come. A loop that was preempted, throttled or busy finds an answer late; the
// stamp is that of the packet's arrival all the same.
type receiver struct {
	// ahead is how far the wall clock, which the kernel stamps by, is ahead of the
	// engine's. They are compared at each wait, since somebody may set it: then
	// what was stamped before means nothing.
	ahead time.Duration
	set   bool

	header  unix.Msghdr
	vector  unix.Iovec
	control [8]uint64 // aligned as its header and its times want
	info    unix.TCPInfo
}

// stamp is struct __kernel_timespec, linux/time_types.h.
type stamp struct{ seconds, nanoseconds int64 }

// Where the parts of a control message with a stamp lie.
var (
	stampAt  = unix.CmsgLen(0)
	stampEnd = unix.CmsgLen(int(unsafe.Sizeof(stamp{})))
)

// askForStamps asks the kernel for the moments at which a socket's packets came.
// A kernel before 5.1 does not give them in this form: then what is read came
// when it was read.
func askForStamps(fd int) { _ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1) }

// compareClocks compares the wall clock with the engine's, whose zero is given.
func (r *receiver) compareClocks(zero time.Time) {
	now := time.Now()
	ahead := time.Duration(now.UnixNano()) - now.Sub(zero)
	r.set = (ahead - r.ahead).Abs() > lateEnough
	r.ahead = ahead
}

func (p *epollPort) read(slot int32, b []byte) (int, time.Duration, outcome) {
	p.vector.Base = &b[0]
	p.vector.SetLen(len(b))
	p.header.Iov = &p.vector
	p.header.SetIovlen(1)
	p.header.Control = (*byte)(unsafe.Pointer(&p.control))
	p.header.SetControllen(int(unsafe.Sizeof(p.control)))
	n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(p.fds[slot]), uintptr(unsafe.Pointer(&p.header)), 0)
	switch {
	case errno == 0 && n > 0:
		return int(n), p.came(int(p.fds[slot])), okay
	case errno == 0:
		return 0, 0, ended
	case errno == unix.EAGAIN, errno == unix.EINTR:
		return 0, 0, later
	}
	return 0, 0, broken
}

// lateEnough is by how much a stamp lies back before it is looked at closely.
const lateEnough = time.Millisecond

// came is when the last of what was just read from a socket had come. The stamp is
// that of the stream's last packet. Where one before it was lost, that came late,
// and the last lay waiting for it: a stamp that lies back is good only where all
// packets of the connection came in order.
func (p *epollPort) came(fd int) time.Duration {
	now := p.now()
	at, ok := p.stamped()
	if !ok || p.set {
		return now
	}
	if now-at > lateEnough && !p.inOrder(fd) {
		return now
	}
	return at
}

// inOrder tells whether all packets of a connection came in their order, which
// Linux counts since 5.4.
func (p *epollPort) inOrder(fd int) bool {
	size := uint32(unsafe.Sizeof(p.info))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(&p.info)), uintptr(unsafe.Pointer(&size)), 0)
	counts := uintptr(size) >= unsafe.Offsetof(p.info.Rcv_ooopack)+unsafe.Sizeof(p.info.Rcv_ooopack)
	return errno == 0 && counts && p.info.Rcv_ooopack == 0
}

// stamped is the kernel's stamp of what was just read.
func (p *epollPort) stamped() (at time.Duration, ok bool) {
	if int(p.header.Controllen) < stampEnd {
		return 0, false
	}
	c := (*unix.Cmsghdr)(unsafe.Pointer(&p.control))
	if c.Level != unix.SOL_SOCKET || c.Type != unix.SO_TIMESTAMPNS_NEW {
		return 0, false
	}
	t := (*stamp)(unsafe.Add(unsafe.Pointer(&p.control), stampAt))
	return time.Duration(t.seconds)*time.Second + time.Duration(t.nanoseconds) - p.ahead, true
}
