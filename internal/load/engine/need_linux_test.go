package engine

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
)

// listening is a target with a listener.
func listening(t *testing.T) (*net.TCPListener, Target) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.(*net.TCPListener), Target{Addr: netip.MustParseAddrPort(l.Addr().String()), Name: "example.com"}
}

// No connection is opened before the start, because a service that serves one
// connection at a time would wait for its first request.
func TestNoConnectionIsMadeBeforeTheStart(t *testing.T) {
	for name, load := range map[string]Load{
		"open":   *even(t, 1000, time.Hour),
		"closed": {Curve: steady(t, 8, time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			l, target := listening(t)
			p := plan(load)
			target.Requests = p.Targets[0].Requests
			p.Targets = []Target{target}
			e, err := Open(p)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			l.SetDeadline(time.Now().Add(50 * time.Millisecond))
			if conn, err := l.Accept(); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a connection of %v, %v; want none", conn.RemoteAddr(), err)
			}
		})
	}
}

// A service with one thread, which serves a connection until its end or until it is
// idle, reaches its full rate. If it keeps idle connections for 20 ms, it would need 5
// s for the maximum number of connections.
func TestAServiceOfOneConnectionAtATime(t *testing.T) {
	const closes = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	for name, c := range map[string]struct {
		answer string
		idle   time.Duration
		load   Load
	}{
		"closes each, open loop":   {closes, time.Minute, Load{Open: true, Curve: steady(t, 100, 2*time.Second)}},
		"closes each, closed loop": {closes, time.Minute, Load{Curve: steady(t, 4, time.Second)}},
		"keeps alive, open loop": {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 20 * time.Millisecond,
			Load{Open: true, Curve: steady(t, 100, 2*time.Second)}},
	} {
		t.Run(name, func(t *testing.T) {
			l, target := listening(t)
			go serveOneByOne(l, c.answer, c.idle)
			p := plan(c.load)
			if target.Requests = p.Targets[0].Requests; c.load.Open {
				p.Connections = 256
			}
			// On a busy machine many connections wait for the service, each for the idle
			// time of all before it. A connection that is held for nothing is held for more.
			p.Targets, p.Timeout = []Target{target}, 20*time.Second
			sum, err := ran(t, p)
			// What is sent as the service closes an idle connection is sent again.
			if err != nil || sum.Good == 0 || sum.Good != sum.Intended || sum.Resent > sum.Good/10 {
				t.Errorf("%d good, %d resent of %d on %d connections: %v", sum.Good, sum.Resent, sum.Intended, sum.Connects, err)
			}
		})
	}
}

func serveOneByOne(l net.Listener, answer string, idle time.Duration) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		for in := bufio.NewReader(conn); ; {
			conn.SetReadDeadline(time.Now().Add(idle))
			if _, err := http.ReadRequest(in); err != nil {
				break
			}
			if _, err := io.WriteString(conn, answer); err != nil || strings.HasPrefix(answer, "HTTP/1.0") {
				break
			}
		}
		conn.Close()
	}
}

// A service that closes idle connections, over TLS and HTTP/2: each request opens a new
// one. Only with HTTP/2 a request that is sent at the time of a close may be cut off.
func TestIdleConnectionsOfTransportsMayEnd(t *testing.T) {
	for _, way := range ways[:2] {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			s.Config.IdleTimeout = 10 * time.Millisecond
			s.EnableHTTP2 = way.transport.HTTP2
			s.StartTLS()
			t.Cleanup(s.Close)
			p := plan(*even(t, 10, time.Second))
			p.Targets = []Target{{Addr: netip.MustParseAddrPort(s.Listener.Addr().String()), Name: "example.com", Requests: p.Targets[0].Requests}}
			p.Transport, p.Timeout = way.transport, 10*time.Second
			sum, err := ran(t, p)
			if err != nil || sum.Good+sum.Cut != 10 || sum.Good < 5 || sum.Cut > 0 && !way.transport.HTTP2 {
				t.Errorf("%d good, %d cut of 10 on %d connections: %v", sum.Good, sum.Cut, sum.Connects, err)
			}
		})
	}
}
