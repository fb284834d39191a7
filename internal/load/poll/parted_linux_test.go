package poll

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/load/port"
)

// accepted is a poller with one connection, and the service's end of it.
func accepted(t *testing.T) (*Poller, *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := New(time.Now(), []port.Target{{Addr: netip.MustParseAddrPort(l.Addr().String())}}, Place{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Release)
	if out := p.Dial(0, 1, 0); out != port.Succeeded && out != port.WouldBlock {
		t.Fatalf("dial: outcome %d", out)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return p, server.(*net.TCPConn)
}

// A service that announced to close a connection closes it first, because the side that
// closes first occupies the port for a minute.
func TestTheServiceClosesFirst(t *testing.T) {
	p, server := accepted(t)
	p.Part(0)
	raw, err := server.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	const established = 1 // include/net/tcp_states.h
	if err := raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err != nil || info.State != established {
			t.Errorf("the service's connection is in state %d, %v; want it open", info.State, err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := server.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	events := make([]port.Event, 1)
	for p.parting > 0 {
		if n := p.Wait(events, p.Now()+partWithin, port.Roughly); n != 0 {
			t.Fatalf("%d events of a connection that was given up", n)
		}
	}
	server.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := server.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("read %d bytes, %v; want the end", n, err)
	}
}

// If the service does not close the connection as announced, the poller closes it after
// a short time.
func TestAServiceThatDoesNotClose(t *testing.T) {
	p, server := accepted(t)
	p.Part(0)
	for events := make([]port.Event, 1); p.parting > 0; {
		p.Wait(events, p.Now()+partWithin, port.Roughly)
	}
	server.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := server.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("read %d bytes, %v; want the end", n, err)
	}
}
