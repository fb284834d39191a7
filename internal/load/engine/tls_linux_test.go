package engine

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/poll"
	"github.com/millicore/millicore/internal/load/port"
	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
)

// tlsService is a TLS server of Go with a configuration, and its target.
func tlsService(t testing.TB, config *tls.Config, h http.HandlerFunc) (*httptest.Server, Target) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS = config
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, Target{Addr: netip.MustParseAddrPort(s.Listener.Addr().String()), Name: "example.com"}
}

// through is a target behind a proxy that passes the service's bytes to pass.
func through(t *testing.T, to Target, pass func(client *net.TCPConn, service net.Conn)) Target {
	l, target := listening(t)
	go func() {
		for {
			client, err := l.AcceptTCP()
			if err != nil {
				return
			}
			service, err := net.Dial("tcp", to.Addr.String())
			if err != nil {
				client.Close()
				continue
			}
			go func() {
				io.Copy(service, client)
				service.Close()
			}()
			go func() {
				defer client.Close()
				pass(client, service)
			}()
		}
	}()
	return target
}

var insecure = Transport{TLS: true, Insecure: true}

// Records that come byte by byte are put together, in the handshake, for session tickets
// and for answers, of both versions of TLS.
func TestRecordsInPieces(t *testing.T) {
	for name, version := range map[string]uint16{"TLS 1.2": tls.VersionTLS12, "TLS 1.3": tls.VersionTLS13} {
		for pieces, size := range map[string]int{"bytes": 1, "sevens": 7, "odd kilobytes": 1023} {
			t.Run(name+" in "+pieces, func(t *testing.T) {
				t.Parallel()
				answer := strings.Repeat("x", 3*size)
				_, target := tlsService(t, &tls.Config{MaxVersion: version}, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, answer) })
				target = through(t, target, func(client *net.TCPConn, service net.Conn) {
					for b := make([]byte, size); ; {
						n, err := service.Read(b)
						if err != nil {
							return
						}
						client.Write(b[:n])
					}
				})
				sum, err := ran(t, planOf(t, target, insecure, 24, wire.Request{}))
				if err != nil || sum.Good != 24 {
					t.Errorf("%d good of 24, %d cut, %d refused: %v", sum.Good, sum.Cut, sum.Refused, err)
				}
			})
		}
	}
}

// A service that ends the connection by close_notify after each answer, and leaves the
// TCP connection open, has no request cut off.
func TestCloseNotifyWithoutFIN(t *testing.T) {
	s, _ := tlsService(t, nil, func(http.ResponseWriter, *http.Request) {})
	l, target := listening(t)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				secure := tls.Server(conn, s.TLS)
				if _, err := http.ReadRequest(bufio.NewReader(secure)); err != nil {
					return
				}
				io.WriteString(secure, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
				secure.CloseWrite()
				io.Copy(io.Discard, conn)
			}()
		}
	}()
	p := planOf(t, target, insecure, 20, wire.Request{})
	p.Load.Curve = steady(t, 1, schedule.Endless)
	sum, err := ran(t, p)
	if err != nil || sum.Good != 20 || sum.Connects < 20 {
		t.Errorf("%d good, %d resent of 20 on %d connections: %v", sum.Good, sum.Resent, sum.Connects, err)
	}
}

// A handshake that stalls, at its begin or in its middle, counts as refused after the
// timeout, and no goroutine or descriptor stays behind.
func TestAHandshakeThatStalls(t *testing.T) {
	for name, most := range map[string]int64{"at once": 0, "in a record": 3, "in the certificate": 300} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, service := tlsService(t, nil, func(http.ResponseWriter, *http.Request) {})
			target := through(t, service, func(client *net.TCPConn, service net.Conn) {
				io.CopyN(client, service, most)
				io.Copy(io.Discard, service)
			})
			p := planOf(t, target, insecure, 4, wire.Request{})
			p.Timeout = 100 * time.Millisecond
			sum, err := ran(t, p)
			if err != nil || sum.Refused != 4 {
				t.Errorf("%d of 4 were refused, %d good: %v", sum.Refused, sum.Good, err)
			}
		})
	}
}

// A large request to a service that reads slowly is sent in order, although the kernel
// accepts only parts of records.
func TestRecordsThatTheKernelAcceptsInParts(t *testing.T) {
	var body strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&body, "%06d,", i)
	}
	var wrong atomic.Int64
	s, _ := tlsService(t, nil, func(http.ResponseWriter, *http.Request) {})
	l, target := listening(t)
	go http.Serve(tls.NewListener(slowListener{l}, s.TLS), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b, err := io.ReadAll(r.Body); err != nil || string(b) != body.String() {
			wrong.Add(1)
		}
	}))
	sum, err := ran(t, planOf(t, target, insecure, 8, wire.Request{Method: "POST", Body: body.String()}))
	if err != nil || sum.Good != 8 || wrong.Load() != 0 {
		t.Errorf("%d good of 8, %d with another body: %v", sum.Good, wrong.Load(), err)
	}
}

// slowListener accepts connections with a small receive buffer. The smallest one would take
// minutes, because the sender asks only from time to time whether a window has opened.
type slowListener struct{ *net.TCPListener }

func (l slowListener) Accept() (net.Conn, error) {
	conn, err := l.AcceptTCP()
	if err == nil {
		err = conn.SetReadBuffer(32 << 10)
	}
	return conn, err
}

// With tickets, all connections after the first resume its session; without, none does.
func TestSessionsAreResumed(t *testing.T) {
	for name, version := range map[string]uint16{"TLS 1.2": tls.VersionTLS12, "TLS 1.3": tls.VersionTLS13} {
		for _, tickets := range []bool{false, true} {
			t.Run(fmt.Sprint(name, tickets), func(t *testing.T) {
				var resumed, whole atomic.Int64
				_, target := tlsService(t, &tls.Config{MaxVersion: version}, func(_ http.ResponseWriter, r *http.Request) {
					if r.TLS.DidResume {
						resumed.Add(1)
					} else {
						whole.Add(1)
					}
				})
				p := planOf(t, target, Transport{TLS: true, Insecure: true, Tickets: tickets}, 20, wire.Request{Headers: map[string]string{"Connection": "close"}})
				p.Load.Curve = steady(t, 1, schedule.Endless)
				sum, err := ran(t, p)
				want := [2]int64{0, 20}
				if tickets {
					want = [2]int64{19, 1}
				}
				if got := [2]int64{resumed.Load(), whole.Load()}; err != nil || sum.Good != 20 || got != want {
					t.Errorf("%d good; resumed and not: %d, want %d: %v", sum.Good, got, want, err)
				}
			})
		}
	}
}

// keyPair is a server's certificate and key in PEM.
func keyPair(t *testing.T, s *httptest.Server) (cert, key string) {
	t.Helper()
	one := s.TLS.Certificates[0]
	der, err := x509.MarshalPKCS8PrivateKey(one.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one.Certificate[0]})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// A service that requires a client certificate gets the one that is named, and the error
// of a trial without one says so.
func TestClientCertificates(t *testing.T) {
	for name, version := range map[string]uint16{"TLS 1.2": tls.VersionTLS12, "TLS 1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			s, target := tlsService(t, &tls.Config{MaxVersion: version, ClientAuth: tls.RequireAnyClientCert}, func(http.ResponseWriter, *http.Request) {})
			cert, key := keyPair(t, s)
			sum, err := ran(t, planOf(t, target, Transport{TLS: true, Insecure: true, Identity: cert + key}, 8, wire.Request{}))
			if err != nil || sum.Good != 8 {
				t.Errorf("%d good of 8: %v", sum.Good, err)
			}
			var unfit *Unfit
			if _, err = ran(t, planOf(t, target, insecure, 8, wire.Request{})); !errors.As(err, &unfit) || !strings.Contains(err.Error(), "requires a client certificate") {
				t.Errorf("without one: %v", err)
			}
			if _, err = ran(t, planOf(t, target, Transport{TLS: true, Identity: cert}, 8, wire.Request{})); err == nil || !strings.Contains(err.Error(), "the client certificate") {
				t.Errorf("a key that is none: %v", err)
			}
		})
	}
}

// The error of an untrusted certificate names the chain that the service sent.
func TestTheChainOfAnUntrustedCertificate(t *testing.T) {
	_, target := tlsService(t, nil, func(http.ResponseWriter, *http.Request) {})
	_, err := ran(t, planOf(t, target, Transport{TLS: true}, 8, wire.Request{}))
	want := `its authority is unknown; it sent "example.com" issued by itself; name a file`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %s", err, want)
	}
}

// secured is a poller with one connection, and the service's end of it.
func secured(t *testing.T) (*securePoller, *tls.Conn, *inHalves) {
	t.Helper()
	s, _ := tlsService(t, nil, func(http.ResponseWriter, *http.Request) {})
	l, target := listening(t)
	made, err := newSecurePoller(time.Now(), []Target{target}, insecure, poll.Place{})
	if err != nil {
		t.Fatal(err)
	}
	p := made.(*securePoller)
	t.Cleanup(p.Release)
	p.Dial(0, 1, 0)
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	halves := &inHalves{Conn: conn}
	secure := tls.Server(halves, s.TLS)
	t.Cleanup(func() { secure.Close() })
	shaken := make(chan error, 1)
	go func() { shaken <- secure.Handshake() }()
	events := make([]event, 4)
	for out := wouldBlock; out != succeeded; {
		if p.Wait(events, p.Now()+time.Second, port.Roughly) > 0 {
			if out = p.Dialed(0); out != succeeded && out != wouldBlock {
				t.Fatalf("outcome %d", out)
			}
		}
	}
	if err := <-shaken; err != nil {
		t.Fatal(err)
	}
	return p, secure, halves
}

// inHalves writes records in two parts, of which the second waits.
type inHalves struct {
	net.Conn
	wait func() // nil: records are written whole
}

func (h *inHalves) Write(b []byte) (int, error) {
	if h.wait == nil {
		return h.Conn.Write(b)
	}
	n, err := h.Conn.Write(b[:len(b)/2])
	if err != nil {
		return n, err
	}
	h.wait()
	m, err := h.Conn.Write(b[len(b)/2:])
	return n + m, err
}

// A poller rests with TLS, whose first records are tickets of sessions, until a record comes
// in parts: the service may wait for the acknowledgement of the first one.
func TestRecordsInPartsEndTheRests(t *testing.T) {
	p, secure, halves := secured(t)
	read := func() (n int) {
		for events := make([]event, 4); n == 0; {
			if p.Wait(events, p.Now()+time.Second, port.Roughly) > 0 {
				n, _, _ = p.Read(0, make([]byte, 10))
			}
		}
		return n
	}
	for range 3 {
		if _, err := secure.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if read(); p.watches {
			t.Fatal("no rest is allowed after whole records")
		}
	}
	// The rest of the record comes once the first part was read.
	looked := make(chan struct{})
	halves.wait = func() { <-looked }
	go secure.Write([]byte("x"))
	for events := make([]event, 4); p.Wait(events, p.Now()+time.Second, port.Roughly) == 0; {
	}
	if n, _, out := p.Read(0, make([]byte, 10)); n != 0 || out != wouldBlock {
		t.Fatalf("%d bytes of half a record, outcome %d", n, out)
	}
	close(looked)
	if n := read(); n != 1 || !p.watches {
		t.Errorf("%d bytes; rests are not allowed: %v; want 1, true", n, p.watches)
	}
}

// The kernel's stamps hold for TLS: an answer that is read late came before it was read.
func TestStampsOfRecords(t *testing.T) {
	p, secure, _ := secured(t)
	events := make([]event, 4)
	stamped := false
	for deadline := p.Now() + 30*time.Second; !stamped && p.Now() < deadline; {
		begun := p.Now()
		if _, err := secure.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		for p.Wait(events, p.Now()+time.Second, port.Roughly) == 0 {
		}
		looked := p.Now()
		n, came, out := p.Read(0, make([]byte, 10))
		if out == wouldBlock { // the session tickets
			continue
		}
		if n == 0 || out != succeeded || came < begun {
			t.Fatalf("%d bytes, outcome %d, came %v, written after %v", n, out, came, begun)
		}
		stamped = came < looked
	}
	if !stamped {
		t.Error("no record came before it was looked for")
	}
}

// OpenSSL's server updates its keys, and asks the client to do so, before each answer.
func TestKeyUpdates(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed: it is the server that can update keys")
	}
	s, _ := tlsService(t, nil, func(http.ResponseWriter, *http.Request) {})
	cert, key := keyPair(t, s)
	file := t.TempDir() + "/both.pem"
	if err := os.WriteFile(file, []byte(cert+key), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(openssl, "s_server", "-accept", "127.0.0.1:0", "-cert", file, "-key", file, "-tls1_3", "-crlf")
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	addr := make(chan string, 1)
	var updates atomic.Int64
	go func() {
		defer close(addr)
		for lines, known := bufio.NewScanner(out), false; lines.Scan(); {
			switch text := lines.Text(); {
			case strings.HasPrefix(text, "ACCEPT ") && !known:
				known = true
				addr <- strings.TrimPrefix(text, "ACCEPT ")
			case strings.HasPrefix(text, "Host:"): // of a request: K updates the keys of both sides
				io.WriteString(in, "K\n")
			case text == "SSL_do_handshake -> 1":
				updates.Add(1)
				io.WriteString(in, "HTTP/1.1 200 OK\nContent-Length: 4\n\nhi\n")
			}
		}
	}()
	at, err := netip.ParseAddrPort(<-addr)
	if err != nil {
		t.Fatal(err)
	}
	p := planOf(t, Target{Addr: at, Name: "example.com"}, insecure, 20, wire.Request{})
	p.Load.Curve = steady(t, 1, schedule.Endless)
	sum, err := ran(t, p)
	if err != nil || sum.Good != 20 || sum.Connects != 1 || updates.Load() != 20 {
		t.Errorf("%d good of 20 after %d updates on %d connections: %v", sum.Good, updates.Load(), sum.Connects, err)
	}
}
