// Package ports assigns TCP ports of this machine to replicas, and finds the processes
// that listen on ports. It does not listen itself.
package ports

import "net/netip"

// reachable are the loopback addresses at which a listening socket can be reached, the
// most likely first; none if it listens only on another address. A socket on all IPv6
// addresses usually accepts IPv4 as well.
func reachable(a netip.AddrPort) []netip.AddrPort {
	v4 := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port())
	v6 := netip.AddrPortFrom(netip.IPv6Loopback(), a.Port())
	switch ip := a.Addr().Unmap(); {
	case ip == netip.IPv4Unspecified():
		return []netip.AddrPort{v4}
	case ip == netip.IPv6Unspecified():
		return []netip.AddrPort{v4, v6}
	case ip.IsLoopback():
		return []netip.AddrPort{netip.AddrPortFrom(ip, a.Port())}
	}
	return nil
}
