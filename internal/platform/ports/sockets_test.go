package ports

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const tcp4Table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                                     
   0: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 649 1 00000000a6dfe328 100 0 0 10 0                       
   1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 12345 1 0000000000000000 100 0 0 10 0
   2: 0100007F:1F90 0100007F:A001 01 00000000:00000000 00:00000000 00000000  1000        0 12346 1 0000000000000000 20 4 30 10 -1
`

const tcp6Table = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 700 1 0000000000000000 100 0 0 10 0
   1: 00000000000000000000000001000000:0051 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 701 1 0000000000000000 100 0 0 10 0
   2: 0000000000000000FFFF00000100007F:0052 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 702 1 0000000000000000 100 0 0 10 0
`

func littleEndian(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the fixtures are of a little-endian machine")
	}
}

func TestParseInet(t *testing.T) {
	littleEndian(t)
	parse := func(table string) (all []socket) {
		if err := parseInet(strings.NewReader(table), func(s socket) bool { all = append(all, s); return s.listens }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	equal := cmp.AllowUnexported(socket{})
	addresses := cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })
	want := []socket{
		{inode: 649, local: netip.MustParseAddrPort("0.0.0.0:2024"), listens: true},
		{inode: 12345, local: netip.MustParseAddrPort("127.0.0.1:8080"), listens: true},
		{inode: 12346, local: netip.MustParseAddrPort("127.0.0.1:8080")},
	}
	if d := cmp.Diff(want, parse(tcp4Table), equal, addresses); d != "" {
		t.Error(d)
	}
	want = []socket{
		{inode: 700, local: netip.MustParseAddrPort("[::]:80"), listens: true},
		{inode: 701, local: netip.MustParseAddrPort("[::1]:81"), listens: true},
		{inode: 702, local: netip.MustParseAddrPort("[::ffff:127.0.0.1]:82"), listens: true},
	}
	if d := cmp.Diff(want, parse(tcp6Table), equal, addresses); d != "" {
		t.Error(d)
	}
}

func TestParseUnix(t *testing.T) {
	table := `Num       RefCount Protocol Flags    Type St Inode Path
00000000860dd812: 00000003 00000000 00000000 0001 03   645
00000000cd579d84: 00000002 00000000 00010000 0001 01   646 /run/app.sock
`
	var got []socket
	if err := parseUnix(strings.NewReader(table), func(s socket) bool { got = append(got, s); return true }); err != nil {
		t.Fatal(err)
	}
	want := []socket{{inode: 645}, {inode: 646, path: "/run/app.sock", listens: true}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(socket{}), cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); d != "" {
		t.Error(d)
	}
}

func TestBrokenTablesAreErrors(t *testing.T) {
	for name, table := range map[string]string{
		"too few words":      "header\n 0: 0100007F:1F90\n",
		"no port":            "header\n 0: 0100007F 0 0A 0 0 0 0 0 649\n",
		"a port too high":    "header\n 0: 0100007F:11F90 0 0A 0 0 0 0 0 649\n",
		"an odd address":     "header\n 0: 0100007:1F90 0 0A 0 0 0 0 0 649\n",
		"a long address":     "header\n 0: 0100007F00:1F90 0 0A 0 0 0 0 0 649\n",
		"inode not a number": "header\n 0: 0100007F:1F90 0 0A 0 0 0 0 0 x\n",
	} {
		if err := parseInet(strings.NewReader(table), func(socket) bool { return true }); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

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

func FuzzSocketTables(f *testing.F) {
	f.Add([]byte(tcp4Table))
	f.Add([]byte(tcp6Table))
	f.Add([]byte("h\n1: 2 3 00010000 5 6 7 /x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		parseInet(strings.NewReader(string(data)), func(s socket) bool {
			if !s.local.Addr().IsValid() {
				t.Errorf("%+v has no address", s)
			}
			for _, a := range reachable(s.local) {
				if !a.Addr().IsLoopback() || a.Port() != s.local.Port() {
					t.Errorf("%v is reached at %v", s.local, a)
				}
			}
			return true
		})
		parseUnix(strings.NewReader(string(data)), func(socket) bool { return true })
	})
}
