package poll

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/port"
)

// The kernel's time stamp of data that a loop reads late is before the read.
func TestTimeStampsOfTheKernel(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := New(time.Now(), []port.Target{{Addr: netip.MustParseAddrPort(l.Addr().String())}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	if out := p.Dial(0, 1, 0); out != port.Succeeded && out != port.WouldBlock {
		t.Fatalf("dial: outcome %d", out)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	// If no other process on the machine uses time stamps, the kernel enables them
	// asynchronously, some time after the request.
	stamped := false
	for deadline := p.Now() + 30*time.Second; !stamped && p.Now() < deadline; {
		begun := p.Now()
		if _, err := server.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		for events := make([]port.Event, 1); p.Wait(events, p.Now()+time.Second, port.Roughly) == 0 || !events[0].Readable; {
		}
		looked := p.Now()
		n, came, out := p.Read(0, make([]byte, 10))
		if n != 1 || out != port.Succeeded {
			t.Fatalf("read %d bytes, outcome %d; want 1", n, out)
		}
		if came < begun {
			t.Fatalf("came at %v, before it was written at %v", came, begun)
		}
		stamped = came < looked
	}
	if !stamped {
		t.Error("no byte came before it was looked for: the kernel gives no stamps")
	}
}
