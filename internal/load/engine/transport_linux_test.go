package engine

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/mux"
	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/transport"
	"github.com/millicore/millicore/internal/load/wire"
)

// way is a service with one transport.
type way struct {
	name      string
	transport Transport
	start     func(*testing.T, http.Handler) Target
}

func secureServer(t *testing.T, h http.Handler, http2 bool) Target {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = http2
	s.StartTLS()
	t.Cleanup(s.Close)
	return Target{Addr: netip.MustParseAddrPort(s.Listener.Addr().String()), Name: "example.com"}
}

var ways = []way{
	{"TLS", Transport{TLS: true, Insecure: true}, func(t *testing.T, h http.Handler) Target { return secureServer(t, h, false) }},
	{"HTTP/2", Transport{TLS: true, HTTP2: true, Insecure: true}, func(t *testing.T, h http.Handler) Target { return secureServer(t, h, true) }},
	{"h2c", Transport{HTTP2: true}, func(t *testing.T, h http.Handler) Target {
		s := httptest.NewUnstartedServer(h)
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
		t.Cleanup(s.Close)
		return Target{Addr: netip.MustParseAddrPort(s.Listener.Addr().String()), Name: "example.com"}
	}},
	{"unix socket", Transport{}, func(t *testing.T, h http.Handler) Target {
		socket := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: h}
		go s.Serve(l)
		t.Cleanup(func() { s.Close() })
		return Target{Socket: socket}
	}},
}

// planOf is a plan of a number of requests of each kind to a target.
func planOf(t testing.TB, target Target, transport Transport, n int64, requests ...wire.Request) Plan {
	p := plan(Load{Requests: n, Curve: steady(t, 8, schedule.Endless)})
	p.Timeout, p.Kinds, p.Transport = 10*time.Second, nil, transport
	for _, r := range requests {
		r.Host = "example.com"
		target.Requests = append(target.Requests, compiled(r))
		p.Kinds = append(p.Kinds, Kind{Weight: 1, Check: checked(wire.Check{})})
	}
	p.Targets = []Target{target}
	return p
}

// ran runs a plan to its end and returns the sum of its intervals.
func ran(t testing.TB, p Plan) (*tally, error) {
	t.Helper()
	e, err := Open(p)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	sum := newTally()
	err = e.Run(time.Now().Add(20*time.Millisecond), func(i *Interval) error {
		one := newTally()
		one.Client = *i.Client
		one.Client.Latency, one.Client.Service, one.Client.SendLag = i.Client.Latency, i.Client.Service, i.Client.SendLag
		sum.add(one)
		for code, n := range i.Client.Status {
			sum.status[number(code)] += n
		}
		return nil
	})
	sum.client()
	return sum, err
}

// Every transport supports all kinds of requests and answers.
func TestTransports(t *testing.T) {
	big := strings.Repeat("x", 200_000)
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			var protocol atomic.Value
			var wrong atomic.Int64
			target := way.start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				protocol.Store(r.Proto)
				body, err := io.ReadAll(r.Body)
				switch r.URL.Path {
				case "/echo":
					if r.Method == http.MethodPost && (err != nil || len(body) != len(big) || r.ContentLength != int64(len(big))) {
						wrong.Add(1)
					}
					w.Write(body)
				case "/chunks":
					for i := range 5 {
						fmt.Fprintf(w, "chunk %d\n", i)
						w.(http.Flusher).Flush()
					}
				case "/nothing":
					w.WriteHeader(http.StatusNoContent)
				case "/missing":
					http.Error(w, "no", http.StatusNotFound)
				}
				if r.Method == http.MethodHead {
					return
				}
				if r.Host != "example.com" || r.Header.Get("X-A") != "1" || r.UserAgent() != "" {
					wrong.Add(1)
				}
			}))
			headers := map[string]string{"X-A": "1"}
			sum, err := ran(t, planOf(t, target, way.transport, 240,
				wire.Request{Path: "/", Headers: headers},
				wire.Request{Method: "POST", Path: "/echo", Headers: headers, Body: big},
				wire.Request{Path: "/chunks", Headers: headers},
				wire.Request{Path: "/nothing", Headers: headers},
				wire.Request{Path: "/missing", Headers: headers},
				wire.Request{Method: "HEAD", Path: "/echo", Headers: headers},
			))
			if err != nil {
				t.Fatal(err)
			}
			if sum.Ended() != 240 || sum.Good+sum.status[404] != 240 || sum.status[404] < 15 {
				t.Errorf("ended %d, good %d, 404 %d, cut %d, malformed %d, refused %d, timeouts %d", sum.Ended(), sum.Good, sum.status[404], sum.Cut, sum.Malformed, sum.Refused, sum.Timeouts)
			}
			if w := wrong.Load(); w != 0 {
				t.Errorf("%d requests came otherwise than they were sent", w)
			}
			want := "HTTP/1.1"
			if way.transport.HTTP2 {
				want = "HTTP/2.0"
			}
			if protocol.Load() != want {
				t.Errorf("the service saw %v, want %s", protocol.Load(), want)
			}
			if sum.Connects == 0 || sum.Bytes == 0 {
				t.Errorf("%d connections, %d bytes", sum.Connects, sum.Bytes)
			}
			if d := sum.Dials; d.Connect.Count() != sum.Connects || d.Connect.Min() < 0 || (d.Handshake != nil) != way.transport.TLS {
				t.Errorf("times of %d connections, from %v, of %d that were made; TLS handshakes: %t", d.Connect.Count(), d.Connect.Min(), sum.Connects, d.Handshake != nil)
			} else if way.transport.TLS && (d.Handshake.Count() != sum.Connects || d.Handshake.Min() <= 0) {
				t.Errorf("times of %d TLS handshakes, from %v, of %d", d.Handshake.Count(), d.Handshake.Min(), sum.Connects)
			}
		})
	}
}

// On every transport an incomplete answer counts as cut off, a missing answer as a
// timeout, and an address without a listener as refused.
func TestTransportsThatFail(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			t.Cleanup(func() { close(release) })
			target := way.start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/cut":
					w.Header().Set("Content-Length", "100")
					io.WriteString(w, "half")
					w.(http.Flusher).Flush()
					panic(http.ErrAbortHandler)
				case "/never":
					select {
					case <-release:
					case <-r.Context().Done():
					}
				}
			}))
			sum, err := ran(t, planOf(t, target, way.transport, 20, wire.Request{Path: "/cut"}))
			if err != nil || sum.Cut != 20 {
				t.Errorf("%d of 20 were cut, %d good: %v", sum.Cut, sum.Good, err)
			}
			p := planOf(t, target, way.transport, 8, wire.Request{Path: "/never"})
			p.Timeout = time.Second // to connect, too: a machine that stands still then refuses
			if sum, err = ran(t, p); err != nil || sum.Timeouts == 0 || sum.Timeouts+sum.Refused != 8 {
				t.Errorf("%d of 8 timed out, %d were refused: %v", sum.Timeouts, sum.Refused, err)
			}
			p = planOf(t, Target{Addr: netip.MustParseAddrPort("127.0.0.1:1")}, way.transport, 8, wire.Request{})
			if target.Socket != "" {
				p.Targets[0].Socket = target.Socket + "-not-there"
			}
			if sum, err = ran(t, p); err != nil || sum.Refused != 8 {
				t.Errorf("%d of 8 were refused: %v", sum.Refused, err)
			}
		})
	}
}

// HTTP/2 has no connection-specific headers: they are removed, and the connection stays
// open (RFC 9113, 8.2.2).
func TestHTTP2LeavesOutHeadersOfTheConnection(t *testing.T) {
	for _, way := range ways[1:3] {
		t.Run(way.name, func(t *testing.T) {
			var wrong atomic.Int64
			target := way.start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if len(r.Header) != 1 || r.Header.Get("X-A") != "1" || r.Close {
					wrong.Add(1)
				}
			}))
			sum, err := ran(t, planOf(t, target, way.transport, 40, wire.Request{Headers: map[string]string{
				"X-A": "1", "Connection": "close, x-hop", "X-Hop": "1", "Keep-Alive": "timeout=5", "Proxy-Connection": "close", "Upgrade": "x",
			}}))
			if err != nil || sum.Good != 40 || wrong.Load() != 0 {
				t.Errorf("%d good of 40, %d with other headers: %v", sum.Good, wrong.Load(), err)
			}
			if sum.Connects > 8 {
				t.Errorf("8 users made %d streams; want no more than one each", sum.Connects)
			}
		})
	}
}

// An untrusted certificate ends the trial with an error, before anything is sent.
func TestAnUntrustedCertificate(t *testing.T) {
	for _, way := range ways[:2] {
		var seen atomic.Int64
		target := way.start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen.Add(1) }))
		strict := way.transport
		strict.Insecure = false
		_, err := ran(t, planOf(t, target, strict, 10, wire.Request{}))
		var unfit *Unfit
		if !errors.As(err, &unfit) || !strings.Contains(err.Error(), "insecure") || seen.Load() != 0 {
			t.Errorf("%s: %v, and the service saw %d requests", way.name, err, seen.Load())
		}
	}
}

// If a service does not speak HTTP/2, HTTP/1.1 is not used instead.
func TestAServiceWithoutHTTP2(t *testing.T) {
	var seen atomic.Int64
	see := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen.Add(1) })
	plain := httptest.NewServer(see)
	t.Cleanup(plain.Close)
	_, err := ran(t, planOf(t, secureServer(t, see, false), ways[1].transport, 10, wire.Request{}))
	if !errors.Is(err, transport.ErrNoHTTP2) || seen.Load() != 0 {
		t.Errorf("%v, and the service saw %d requests", err, seen.Load())
	}
	target := Target{Addr: netip.MustParseAddrPort(plain.Listener.Addr().String())}
	if _, err = ran(t, planOf(t, target, ways[2].transport, 10, wire.Request{})); !errors.Is(err, transport.ErrNoH2C) {
		t.Errorf("without TLS: %v", err)
	}
}

// A service without TLS is not counted as one that refuses connections.
func TestAServiceWithoutTLS(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	target := Target{Addr: netip.MustParseAddrPort(s.Listener.Addr().String()), Name: "example.com"}
	for _, way := range ways[:2] {
		if _, err := ran(t, planOf(t, target, way.transport, 10, wire.Request{})); err == nil || !strings.Contains(err.Error(), "does not speak TLS") {
			t.Errorf("%s: %v", way.name, err)
		}
	}
}

// Slots share connections of HTTP/2: several, or as few as the streams allow that are asked
// for and that the service allows.
func TestStreamsShareConnections(t *testing.T) {
	for name, c := range map[string]struct {
		streams, allowed int
		slots            float64
		want             int64
	}{
		"as many as are asked for":      {streams: 3, allowed: 100, slots: 9, want: 3},
		"as many as are allowed":        {streams: 100, allowed: 4, slots: 8, want: 2},
		"several":                       {allowed: 100, slots: 40, want: mux.Several},
		"several, until they are full":  {allowed: 2, slots: 40, want: 20},
		"one slot needs one connection": {allowed: 100, slots: 1, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var conns atomic.Int64
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Millisecond) }))
			s.EnableHTTP2 = true
			s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: c.allowed}
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					conns.Add(1)
				}
			}
			s.TLS = &tls.Config{}
			s.StartTLS()
			t.Cleanup(s.Close)
			target := Target{Addr: netip.MustParseAddrPort(s.Listener.Addr().String()), Name: "example.com"}
			p := planOf(t, target, ways[1].transport, 400, wire.Request{})
			p.Load.Curve = steady(t, c.slots, schedule.Endless)
			p.Transport.Streams = c.streams
			sum, err := ran(t, p)
			if err != nil || sum.Good != 400 {
				t.Fatalf("%d good: %v", sum.Good, err)
			}
			if sum.Connects != c.want || conns.Load() != c.want+1 {
				t.Errorf("%v slots counted %d connections, and the service %d; want %d, and one before that shows what the service speaks",
					c.slots, sum.Connects, conns.Load(), c.want)
			}
		})
	}
}

// A service with TLS does not answer HTTP/2 without it in any way that says so.
func TestAServiceWithTLSOnly(t *testing.T) {
	for _, http2 := range []bool{true, false} {
		target := secureServer(t, http.NotFoundHandler(), http2)
		if _, err := ran(t, planOf(t, target, ways[2].transport, 10, wire.Request{})); !errors.Is(err, transport.ErrTLS) {
			t.Errorf("with HTTP/2 %t: %v", http2, err)
		}
	}
}
