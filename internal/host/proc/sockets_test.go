package proc

import (
	"encoding/binary"
	"net/netip"
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
	parse := func(table string) (all []Socket) {
		if err := ParseInet(strings.NewReader(table), func(s Socket) bool { all = append(all, s); return s.Listens }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	addresses := cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })
	want := []Socket{
		{Inode: 649, Local: netip.MustParseAddrPort("0.0.0.0:2024"), Listens: true},
		{Inode: 12345, Local: netip.MustParseAddrPort("127.0.0.1:8080"), Listens: true},
		{Inode: 12346, Local: netip.MustParseAddrPort("127.0.0.1:8080")},
	}
	if d := cmp.Diff(want, parse(tcp4Table), addresses); d != "" {
		t.Error(d)
	}
	want = []Socket{
		{Inode: 700, Local: netip.MustParseAddrPort("[::]:80"), Listens: true},
		{Inode: 701, Local: netip.MustParseAddrPort("[::1]:81"), Listens: true},
		{Inode: 702, Local: netip.MustParseAddrPort("[::ffff:127.0.0.1]:82"), Listens: true},
	}
	if d := cmp.Diff(want, parse(tcp6Table), addresses); d != "" {
		t.Error(d)
	}
}

func TestParseUnix(t *testing.T) {
	table := `Num       RefCount Protocol Flags    Type St Inode Path
00000000860dd812: 00000003 00000000 00000000 0001 03   645
00000000cd579d84: 00000002 00000000 00010000 0001 01   646 /run/app.sock
`
	var got []Socket
	if err := ParseUnix(strings.NewReader(table), func(s Socket) bool { got = append(got, s); return true }); err != nil {
		t.Fatal(err)
	}
	want := []Socket{{Inode: 645}, {Inode: 646, Path: "/run/app.sock", Listens: true}}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); d != "" {
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
		if err := ParseInet(strings.NewReader(table), func(Socket) bool { return true }); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func FuzzSocketTables(f *testing.F) {
	f.Add([]byte(tcp4Table))
	f.Add([]byte(tcp6Table))
	f.Add([]byte("h\n1: 2 3 00010000 5 6 7 /x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ParseInet(strings.NewReader(string(data)), func(s Socket) bool {
			if !s.Local.Addr().IsValid() {
				t.Errorf("%+v has no address", s)
			}
			return true
		})
		ParseUnix(strings.NewReader(string(data)), func(Socket) bool { return true })
	})
}
