package ports

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestWhereASocketIsReached(t *testing.T) {
	for at, want := range map[string]string{
		"0.0.0.0:80":            "127.0.0.1:80",
		"[::]:80":               "127.0.0.1:80 [::1]:80",
		"127.0.0.1:80":          "127.0.0.1:80",
		"127.3.2.1:80":          "127.3.2.1:80",
		"[::1]:80":              "[::1]:80",
		"[::ffff:127.0.0.1]:80": "127.0.0.1:80",
		"[::ffff:0.0.0.0]:80":   "127.0.0.1:80",
		"192.0.2.1:80":          "",
		"[2001:db8::1]:80":      "",
	} {
		var got []string
		for _, a := range reachable(netip.MustParseAddrPort(at)) {
			got = append(got, a.String())
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s is reached at %v, want %s", at, got, want)
		}
	}
}

func FuzzReachable(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1}, uint16(80))
	f.Add(make([]byte, 16), uint16(0))
	f.Fuzz(func(t *testing.T, ip []byte, port uint16) {
		address, ok := netip.AddrFromSlice(ip)
		if !ok {
			return
		}
		for _, a := range reachable(netip.AddrPortFrom(address, port)) {
			if !a.Addr().IsLoopback() || a.Port() != port {
				t.Errorf("%v is reached at %v", address, a)
			}
		}
	})
}
