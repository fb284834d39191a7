package poll

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/load/port"
)

// receiver reads from sockets with the kernel's time stamps. A loop that was preempted,
// throttled or busy notices an answer late, but the time stamp is that of the packet's
// arrival.
type receiver struct {
	// ahead is how far the wall clock, which the kernel uses for the stamps, is ahead
	// of the engine's clock. They are compared after each wait, because the wall clock
	// may be set. set reports that it was, since the comparison before.
	ahead, before     time.Duration
	compared, earlier time.Duration // when, and when before
	set               bool

	stamped   bool // the kernel has stamped an answer
	unstamped bool // the time of one was unknown

	header  unix.Msghdr
	vector  unix.Iovec
	control [8]uint64 // aligned for the control message's header and times
	info    unix.TCPInfo
}

// kernelTime is struct __kernel_timespec, linux/time_types.h.
type kernelTime struct{ seconds, nanoseconds int64 }

// Offsets in a control message with a time stamp.
var (
	stampAt  = unix.CmsgLen(0)
	stampEnd = unix.CmsgLen(int(unsafe.Sizeof(kernelTime{})))
)

// askForStamps enables time stamps of a socket's received packets. Kernels before 5.1
// do not support this option; then the time of reading is used.
func askForStamps(fd int) { _ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1) }

// compareClocks compares the wall clock with the engine's clock, whose origin is zero.
func (r *receiver) compareClocks(now, zero time.Time) {
	r.earlier, r.compared = r.compared, now.Sub(zero)
	r.before, r.ahead = r.ahead, time.Duration(now.UnixNano())-r.compared
	r.set = (r.ahead - r.before).Abs() > lateEnough
}

// engineTime is when a packet came that the kernel stamped with a time of the wall clock. If
// that was set during the wait, the stamp is of the clock before or after: of the times that
// are possible the later one, so that no latency is too short, or else now.
func (r *receiver) engineTime(wall, now time.Duration) time.Duration {
	if !r.set {
		return wall - r.ahead
	}
	at := time.Duration(-1)
	for _, ahead := range [2]time.Duration{r.ahead, r.before} {
		if t := wall - ahead; t >= r.earlier && t <= now {
			at = max(at, t)
		}
	}
	if at < 0 {
		return now
	}
	return at
}

func (p *Poller) Read(slot int32, b []byte) (int, time.Duration, port.Outcome) {
	p.vector.Base = &b[0]
	p.vector.SetLen(len(b))
	p.header.Iov = &p.vector
	p.header.SetIovlen(1)
	p.header.Control = (*byte)(unsafe.Pointer(&p.control))
	p.header.SetControllen(int(unsafe.Sizeof(p.control)))
	n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(p.fds[slot]), uintptr(unsafe.Pointer(&p.header)), 0)
	switch {
	case errno == 0 && n > 0:
		return int(n), p.came(int(p.fds[slot])), port.Succeeded
	case errno == 0:
		return 0, 0, port.Ended
	case errno == unix.EAGAIN, errno == unix.EINTR:
		return 0, 0, port.WouldBlock
	}
	return 0, 0, port.Broken
}

// lateEnough is the age from which a time stamp is verified by inOrder.
const lateEnough = time.Millisecond

// came is when the last bytes that were just read from a socket arrived. The kernel's
// stamp is that of the stream's last packet. If an earlier packet was lost and arrived
// later, the last packet had to wait for it, and its stamp is too early. So an old
// stamp is valid only if all packets of the connection arrived in order.
func (p *Poller) came(fd int) time.Duration {
	now := p.Now()
	wall, ok := p.stamp()
	at := p.engineTime(wall, now)
	if !ok || now-at > lateEnough && !p.inOrder(fd) {
		p.unstamped = p.unstamped || p.stamped
		return now
	}
	p.stamped = true
	return at
}

// mayRest reports whether all answers have had valid time stamps. On a network that loses
// or reorders packets, answers are read as they come.
func (r *receiver) mayRest() bool { return r.stamped && !r.unstamped }

// inOrder reports whether all packets of a connection arrived in order, which Linux
// counts since 5.4.
func (p *Poller) inOrder(fd int) bool {
	size := uint32(unsafe.Sizeof(p.info))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(&p.info)), uintptr(unsafe.Pointer(&size)), 0)
	counts := uintptr(size) >= unsafe.Offsetof(p.info.Rcv_ooopack)+unsafe.Sizeof(p.info.Rcv_ooopack)
	return errno == 0 && counts && p.info.Rcv_ooopack == 0
}

// stamp is the kernel's time stamp of the last read, since 1970.
func (p *Poller) stamp() (wall time.Duration, ok bool) {
	if int(p.header.Controllen) < stampEnd {
		return 0, false
	}
	c := (*unix.Cmsghdr)(unsafe.Pointer(&p.control))
	if c.Level != unix.SOL_SOCKET || c.Type != unix.SO_TIMESTAMPNS_NEW {
		return 0, false
	}
	t := (*kernelTime)(unsafe.Add(unsafe.Pointer(&p.control), stampAt))
	return time.Duration(t.seconds)*time.Second + time.Duration(t.nanoseconds), true
}
