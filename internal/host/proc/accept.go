package proc

import (
	"encoding/binary"
	"net/netip"
)

// AcceptQueue is how connections wait for a service to accept them, over all sockets that
// listen on its address.
type AcceptQueue struct {
	// Drops counts the attempts to connect that the kernel dropped at these sockets,
	// since they listen: the queue was full, or there was no memory. A client tries again
	// after 1, 3 and 7 s.
	Drops   int64
	Waiting int64 // connections that wait now, in all queues
	Backlog int64 // how many may wait, in all of them
}

// A message of sock_diag(7) about a socket: struct inet_diag_msg, and then attributes.
const (
	diagSize     = 72
	diagSource   = 8  // the local address, 4 or 16 bytes; its port is before it
	diagQueued   = 56 // of a listener: connections that wait, and how many may
	diagMemory   = 7  // INET_DIAG_SKMEMINFO
	memoryDrops  = 8  // SK_MEMINFO_DROPS
	diagFamily4  = 2
	diagPortFrom = 4
)

// add adds a message about a listening socket, if it listens on the address. It reports
// whether it does.
//
// Linux include/uapi/linux/inet_diag.h, sock_diag.h; net/ipv4/tcp_diag.c.
func (q *AcceptQueue) add(message []byte, address netip.AddrPort) bool {
	if len(message) < diagSize {
		return false
	}
	long := 16
	if message[0] == diagFamily4 {
		long = 4
	}
	local, _ := netip.AddrFromSlice(message[diagSource : diagSource+long])
	local = local.Unmap()
	if binary.BigEndian.Uint16(message[diagPortFrom:]) != address.Port() || !local.IsUnspecified() && local != address.Addr().Unmap() {
		return false
	}
	q.Waiting += int64(binary.NativeEndian.Uint32(message[diagQueued:]))
	q.Backlog += int64(binary.NativeEndian.Uint32(message[diagQueued+4:]))
	for rest := message[diagSize:]; len(rest) >= 4; {
		size, kind := int(binary.NativeEndian.Uint16(rest)), binary.NativeEndian.Uint16(rest[2:])
		if size < 4 || size > len(rest) {
			break
		}
		if figures := rest[4:size]; kind == diagMemory && len(figures) >= 4*(memoryDrops+1) {
			q.Drops += int64(binary.NativeEndian.Uint32(figures[4*memoryDrops:]))
		}
		rest = rest[min(len(rest), (size+3)&^3):]
	}
	return true
}
