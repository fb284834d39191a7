package agent

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// hostile is a server whose behaviour a test defines.
type hostile struct {
	net.Listener
	accepted atomic.Int64
	requests atomic.Int64
	open     sync.WaitGroup
}

// startHostile starts a server that calls serve with each connection.
func startHostile(tb testing.TB, serve func(*exchange)) *hostile {
	tb.Helper()
	return startHostileAt(tb, "127.0.0.1:0", serve)
}

// startHostileAt starts it at an address.
func startHostileAt(tb testing.TB, address string, serve func(*exchange)) *hostile {
	tb.Helper()
	return startHostileOn(tb, address, serve, func(conn net.Conn) net.Conn { return conn })
}

// startHostileTLS starts the same server behind TLS.
func startHostileTLS(tb testing.TB, serve func(*exchange)) *hostile {
	tb.Helper()
	lender := httptest.NewUnstartedServer(nil)
	lender.StartTLS()
	config := &tls.Config{Certificates: lender.TLS.Certificates}
	lender.Close()
	return startHostileOn(tb, "127.0.0.1:0", serve, func(conn net.Conn) net.Conn { return tls.Server(conn, config) })
}

func startHostileOn(tb testing.TB, address string, serve func(*exchange), over func(net.Conn) net.Conn) *hostile {
	tb.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	h := &hostile{Listener: l}
	h.open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			h.accepted.Add(1)
			h.open.Go(func() {
				below := conn.(*net.TCPConn)
				conn := over(conn)
				defer conn.Close()
				serve(&exchange{Conn: conn, below: below, in: bufio.NewReader(conn), server: h})
			})
		}
	})
	tb.Cleanup(func() {
		l.Close()
		h.open.Wait()
	})
	return h
}

func (h *hostile) addr() string { return h.Addr().String() }

// exchange is one connection of a hostile server.
type exchange struct {
	net.Conn
	below  *net.TCPConn
	in     *bufio.Reader
	server *hostile
}

// request reads a complete request; false: the connection ended.
func (x *exchange) request() bool {
	r, err := http.ReadRequest(x.in)
	if err != nil {
		return false
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return false
	}
	x.server.requests.Add(1)
	return true
}

func (x *exchange) say(text string) bool {
	_, err := io.WriteString(x, text)
	return err == nil
}

// silence waits until the other side hangs up.
func (x *exchange) silence() { io.Copy(io.Discard, x.in) }

// reset ends the connection by a reset.
func (x *exchange) reset() {
	x.below.SetLinger(0)
	x.below.Close()
}

// answering sends the same answer to each request.
func answering(text string) func(*exchange) {
	return func(x *exchange) {
		for x.request() && x.say(text) {
		}
	}
}

const fine = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// big is an answer of 5 MB.
var big = "HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n" + strings.Repeat("x", 5_000_000)

// chunky is the same in chunks of 1000 bytes.
var chunky = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
	strings.Repeat("3e8;n=1\r\n"+strings.Repeat("x", 1000)+"\r\n", 5000) + "0\r\nX-Sum: 1\r\n\r\n"

// byByte sends an answer one byte a packet.
func byByte(text string) func(*exchange) {
	return func(x *exchange) {
		for x.request() {
			for i := range text {
				if !x.say(text[i : i+1]) {
					return
				}
			}
		}
	}
}

// sleeping answers after a time.
func sleeping(d time.Duration) func(*exchange) {
	return func(x *exchange) {
		for x.request() {
			time.Sleep(d)
			if !x.say(fine) {
				return
			}
		}
	}
}
