//go:build !linux

package proc

import "net/netip"

// ReadAcceptQueue reads nothing: it needs Linux's sock_diag.
func ReadAcceptQueue(netip.AddrPort) (q AcceptQueue, ok bool) { return q, false }
