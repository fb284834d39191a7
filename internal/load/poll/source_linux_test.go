package poll

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/load/port"
)

// The first connections to loopback come from the target's address, and later ones from
// others, so that ports are found at once.
func TestSourceAddresses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr := netip.MustParseAddrPort(l.Addr().String())
	from := func(place Place, slot int32) string {
		p, err := New(time.Now(), []port.Target{{Addr: addr}}, place)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Release()
		if out := p.Dial(slot, 1, 0); out != port.Succeeded && out != port.WouldBlock {
			t.Fatalf("dial: outcome %d", out)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		ip := conn.RemoteAddr().(*net.TCPAddr).IP.String()
		if other := ip != "127.0.0.1"; other != (p.Sourced() == 1) {
			t.Errorf("%d connections from other addresses than the kernel's choice, and one from %s", p.Sourced(), ip)
		}
		return ip
	}
	for _, c := range []struct {
		place Place
		slot  int32
		want  string
	}{
		{Place{}, mostOfSource - 1, "127.0.0.1"},
		{Place{}, mostOfSource, "127.0.0.2"},
		{Place{Index: 39, Of: 40}, 299, "127.0.0.1"},
		{Place{Index: 39, Of: 40}, mostOfSource - 1, "127.0.0.40"},
	} {
		if got := from(c.place, c.slot); got != c.want {
			t.Errorf("connection %d of poller %d comes from %s; want %s", c.slot, c.place.Index, got, c.want)
		}
	}
}

// Connections come from the named addresses in turn, of both versions of IP.
func TestNamedSourceAddresses(t *testing.T) {
	for listen, names := range map[string][]string{"127.0.0.1:0": {"127.0.0.7", "127.0.0.8"}, "[::1]:0": {"::1", "::1"}} {
		l, err := net.Listen("tcp", listen)
		if err != nil {
			t.Skipf("needs %s: %v", listen, err)
		}
		defer l.Close()
		targets := []port.Target{{Addr: netip.MustParseAddrPort(l.Addr().String())}}
		sources, err := Sources(names, targets)
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(time.Now(), targets, Place{Sources: sources})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Release()
		for slot, want := range []string{names[0], names[1], names[0]} {
			if out := p.Dial(int32(slot), 1, 0); out != port.Succeeded && out != port.WouldBlock {
				t.Fatalf("dial: outcome %d", out)
			}
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if got := conn.RemoteAddr().(*net.TCPAddr).IP.String(); got != want {
				t.Errorf("connection %d comes from %s; want %s", slot, got, want)
			}
		}
		if p.Sourced() != 0 {
			t.Errorf("%d connections from addresses that nobody named", p.Sourced())
		}
	}
}

func TestWrongSourceAddresses(t *testing.T) {
	targets := []port.Target{{Addr: netip.MustParseAddrPort("127.0.0.1:80")}, {Gone: true}, {Socket: "/x"}}
	for name, want := range map[string]string{
		"eth0":      "source address eth0: want an IP address",
		"::1":       "source address ::1: the target 127.0.0.1:80 is of the other version of IP",
		"192.0.2.1": "source address 192.0.2.1: cannot assign requested address: name an address of this machine", // RFC 5737
	} {
		if _, err := Sources([]string{"127.0.0.1", name}, targets); err == nil || err.Error() != want {
			t.Errorf("%s: %v; want %s", name, err, want)
		}
	}
}

// The connections of all pollers have numbers of their own, also if a poller gets more of
// them later.
func TestNumbersOfConnections(t *testing.T) {
	const pollers, slots = 3, 100
	seen := map[int]bool{}
	for i := range pollers {
		for slot := range int32(slots) {
			seen[Place{Index: i, Of: pollers}.connection(slot)] = true
		}
	}
	if len(seen) != pollers*slots || !seen[0] || !seen[pollers*slots-1] {
		t.Errorf("%d numbers for %d connections", len(seen), pollers*slots)
	}
}

// Where this machine has no address 127.0.0.2, all connections come from 127.0.0.1.
func TestASourceAddressThatDoesNotExist(t *testing.T) {
	runtime.LockOSThread() // never unlocked: the thread stays in its own network namespace
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("needs a network namespace: %v", err)
	}
	for _, args := range [][]string{{"link", "set", "lo", "up"}, {"addr", "del", "127.0.0.1/8", "dev", "lo"}, {"addr", "add", "127.0.0.1/32", "dev", "lo"}} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Skipf("needs ip: %v: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := New(time.Now(), []port.Target{{Addr: netip.MustParseAddrPort(l.Addr().String())}}, Place{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	for slot := range int32(2) {
		if out := p.Dial(mostOfSource+slot, 1, 0); out != port.Succeeded && out != port.WouldBlock {
			t.Fatalf("dial: outcome %d", out)
		}
	}
	if p.Sourced() != 0 || !p.plain {
		t.Errorf("%d connections from an address that does not exist; plain %v", p.Sourced(), p.plain)
	}
}

// An error for lack of ports or files has the number of both.
func TestRemedies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "range")
	if err := os.WriteFile(file, []byte("32768\t60999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := portsOf(file); got != "there are 28232 (32768 to 60999)" {
		t.Error(got)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for errno, want := range map[unix.Errno]string{unix.EADDRNOTAVAIL: "net.ipv4.ip_local_port_range", unix.EMFILE: fmt.Sprintf("all %d files", limit.Cur)} {
		if got := remedy(errno); !strings.Contains(got, want) {
			t.Errorf("%v: %s", errno, got)
		}
	}
}
