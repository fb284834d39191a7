package proc

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// listening is the state TCP_LISTEN as a bit.
const listening = 1 << 10

// ReadAcceptQueue reads the accept queue of the sockets that listen on an address in the
// network namespace of this process; false if none does, or it cannot be read. Other
// services of the same namespace have queues of their own. It takes about 20 us.
func ReadAcceptQueue(address netip.AddrPort) (q AcceptQueue, ok bool) {
	socket, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return q, false
	}
	defer unix.Close(socket)
	if unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}) != nil {
		return q, false
	}
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		err := dumpListeners(socket, family, func(message []byte) { ok = q.add(message, address) || ok })
		if err != nil && family == unix.AF_INET {
			return q, false
		}
	}
	return q, ok
}

// dumpListeners calls each for the messages about the sockets of a family that listen.
func dumpListeners(socket int, family byte, each func([]byte)) error {
	const header, request = unix.SizeofNlMsghdr, 56
	var ask [header + request]byte
	put := binary.NativeEndian
	put.PutUint32(ask[0:], uint32(len(ask)))
	put.PutUint16(ask[4:], unix.SOCK_DIAG_BY_FAMILY)
	put.PutUint16(ask[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	ask[header], ask[header+1], ask[header+2] = family, unix.IPPROTO_TCP, 1<<(diagMemory-1)
	put.PutUint32(ask[header+4:], listening)
	if err := unix.Sendto(socket, ask[:], 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 32<<10) // at least what the kernel sends at once
	for {
		n, _, err := unix.Recvfrom(socket, answer, 0)
		if err != nil {
			return err
		}
		all, err := syscall.ParseNetlinkMessage(answer[:n])
		if err != nil {
			return err
		}
		for _, m := range all {
			switch m.Header.Type {
			case unix.NLMSG_DONE:
				return nil
			case unix.NLMSG_ERROR:
				return errors.New("the kernel refuses to list sockets")
			}
			each(m.Data)
		}
	}
}
