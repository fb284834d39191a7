package poll

import (
	"net"
	"net/netip"
	"testing"
	"time"

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
	for _, c := range []struct {
		first, slot int
		want        string
	}{
		{0, mostOfSource - 1, "127.0.0.1"},
		{0, mostOfSource, "127.0.0.2"},
		{mostOfSource, mostOfSource - 1, "127.0.0.2"},
		{40 * mostOfSource, 5, "127.0.0.41"},
	} {
		p, err := New(time.Now(), []port.Target{{Addr: netip.MustParseAddrPort(l.Addr().String())}}, c.first)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Release()
		if out := p.Dial(int32(c.slot), 1, 0); out != port.Succeeded && out != port.WouldBlock {
			t.Fatalf("dial: outcome %d", out)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := conn.RemoteAddr().(*net.TCPAddr).IP.String(); got != c.want {
			t.Errorf("connection %d of a poller that begins at %d comes from %s; want %s", c.slot, c.first, got, c.want)
		}
	}
}
