package poll

import (
	"encoding/binary"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// sockaddr is an address in the kernel's form.
type sockaddr struct {
	family int
	raw    [unix.SizeofSockaddrUnix]byte
	size   uintptr

	loopback bool // of IPv4
}

func newSockaddr(addr netip.AddrPort) sockaddr {
	s := sockaddr{}
	ip := addr.Addr().Unmap()
	// Layout: struct sockaddr_in and sockaddr_in6, linux/in.h and in6.h.
	binary.BigEndian.PutUint16(s.raw[2:], addr.Port())
	if ip.Is4() {
		s.family, s.size = unix.AF_INET, unix.SizeofSockaddrInet4
		copy(s.raw[4:], ip.AsSlice())
		s.loopback = ip.IsLoopback()
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
