package engine

import (
	"net"
	"net/netip"
	"testing"
	"time"
)

// The kernel stamps what comes: what a loop reads later came before it looked.
func TestTheKernelTellsWhenBytesCame(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := newEpollPort(time.Now(), []Target{{Addr: netip.MustParseAddrPort(l.Addr().String())}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.release()
	if out := p.dial(0, 1, 0); out != okay && out != later {
		t.Fatalf("dial: outcome %d", out)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	// The kernel begins to stamp a moment after it is asked, where nobody else
	// on the machine had asked.
	stamped := false
	for range 100 {
		begun := p.now()
		if _, err := server.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		for events := make([]event, 1); p.wait(events, p.now()+time.Second, false) == 0 || !events[0].readable; {
		}
		looked := p.now()
		n, came, out := p.read(0, make([]byte, 10))
		if n != 1 || out != okay {
			t.Fatalf("read %d bytes, outcome %d; want 1", n, out)
		}
		if came < begun {
			t.Fatalf("came at %v, before it was written at %v", came, begun)
		}
		stamped = stamped || came < looked
	}
	if !stamped {
		t.Error("no byte came before it was looked for: the kernel gives no stamps")
	}
}
