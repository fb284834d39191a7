package agent

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/protocol"
)

// byNumber is a trial of n requests by some users.
func byNumber(addr string, n, users int) protocol.Prepare {
	return protocol.Prepare{
		Trial: 1, Agents: 1, Targets: []string{addr}, Requests: []protocol.Request{{}},
		Load: protocol.Load{
			Kind: protocol.Closed, Requests: int64(n),
			Stages: []protocol.Stage{{From: float64(users), To: float64(users)}},
		},
		Timeout: seconds(30), Interval: seconds(0.1),
	}
}

// The outcomes of all requests to each service, over both pollers.
func TestEndings(t *testing.T) {
	for name, c := range map[string]struct {
		serve    func(*exchange)
		n, users int
		want     signals.Client // counts; Status by hand below
		status   string         // of all whole answers
		bytes    int64          // received at least
		connects int64          // at least; each user's at most one more
		deaf     bool           // it reads nothing
	}{
		"fine":                  {serve: answering(fine), n: 500, users: 10, want: signals.Client{Good: 500}, status: "200", bytes: 500 * int64(len(fine)), connects: 10},
		"5 MB":                  {serve: answering(big), n: 8, users: 2, want: signals.Client{Good: 8}, status: "200", bytes: 40_000_000, connects: 2},
		"5 MB in chunks":        {serve: answering(chunky), n: 8, users: 2, want: signals.Client{Good: 8}, status: "200", bytes: 40_000_000, connects: 2},
		"byte by byte":          {serve: byByte(fine), n: 40, users: 4, want: signals.Client{Good: 40}, status: "200", connects: 4},
		"chunks, byte by byte":  {serve: byByte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: u\r\n\r\n"), n: 40, users: 4, want: signals.Client{Good: 40}, status: "200", connects: 4},
		"a length too short":    {serve: answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhello"), n: 40, users: 4, want: signals.Client{Good: 40, Stray: 40}, status: "200", connects: 40},
		"a length too long":     {serve: onceThenClose("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"), n: 40, users: 4, want: signals.Client{Cut: 40}, connects: 40},
		"a length of words":     {serve: answering("HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello"), n: 40, users: 4, want: signals.Client{Malformed: 40}, connects: 40},
		"a broken chunk":        {serve: answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n"), n: 40, users: 4, want: signals.Client{Malformed: 40}, connects: 40},
		"garbage":               {serve: answering("\x00\x01\x02\n\n"), n: 40, users: 4, want: signals.Client{Malformed: 40}, connects: 40},
		"endless headers":       {serve: endless("HTTP/1.1 200 OK\r\n", "X: y\r\n"), n: 8, users: 4, want: signals.Client{Malformed: 8}, connects: 8},
		"one endless header":    {serve: endless("HTTP/1.1 200 OK\r\n", "xxxxxxxx"), n: 8, users: 4, want: signals.Client{Malformed: 8}, connects: 8},
		"closes at once":        {serve: func(x *exchange) {}, n: 12, users: 4, want: signals.Client{Cut: 12}, deaf: true},
		"resets at once":        {serve: func(x *exchange) { x.reset() }, n: 12, users: 4, want: signals.Client{Cut: 12}, deaf: true},
		"resets for an answer":  {serve: func(x *exchange) { x.request(); x.reset() }, n: 12, users: 4, want: signals.Client{Cut: 12}},
		"endless trailers":      {serve: endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n"), n: 8, users: 4, want: signals.Client{Malformed: 8}, connects: 8},
		"an endless chunk size": {serve: endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "xxxxxxxx"), n: 8, users: 4, want: signals.Client{Malformed: 8}, connects: 8},
		"resets in the head":    {serve: thenReset(fine[:10]), n: 40, users: 4, want: signals.Client{Cut: 40}, connects: 40},
		"resets in the body":    {serve: thenReset(fine[:len(fine)-2]), n: 40, users: 4, want: signals.Client{Cut: 40}, connects: 40},
		"closes half way":       {serve: onceThenClose(fine[:30]), n: 40, users: 4, want: signals.Client{Cut: 40}, connects: 40},
		"closes each":           {serve: onceThenClose(strings.Replace(fine, "\r\n", "\r\nConnection: close\r\n", 1)), n: 200, users: 4, want: signals.Client{Good: 200}, status: "200", connects: 200},
		"HTTP/1.0":              {serve: onceThenClose("HTTP/1.0 200 OK\r\n\r\nhello"), n: 200, users: 4, want: signals.Client{Good: 200}, status: "200", connects: 200},
		"HTTP/1.0, kept alive":  {serve: answering("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi"), n: 200, users: 4, want: signals.Client{Good: 200}, status: "200", connects: 4},
		"interim answers":       {serve: answering("HTTP/1.1 100 Continue\r\n\r\n" + fine), n: 200, users: 4, want: signals.Client{Good: 200}, status: "200", connects: 4},
		"failures":              {serve: answering("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"), n: 200, users: 4, status: "500", connects: 4},
		"redirects":             {serve: answering("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"), n: 200, users: 4, status: "302", connects: 4},
		"nothing to say":        {serve: answering("HTTP/1.1 204 No Content\r\n\r\n"), n: 200, users: 4, want: signals.Client{Good: 200}, status: "204", connects: 4},
	} {
		check := func(t *testing.T, addr string, transport protocol.Transport, counts signals.Client) {
			t.Parallel()
			p := byNumber(addr, c.n, c.users)
			p.Transport = transport
			all := sum(trial(t, serve(t), p))
			want := counts
			if c.status != "" {
				want.Status = map[string]int64{c.status: int64(c.n)}
			}
			checkCounts(t, all, want)
			if all.Stray != want.Stray {
				t.Errorf("stray bytes on %d connections; want %d", all.Stray, want.Stray)
			}
			sent := int64(c.n) - want.Refused
			if all.Intended != int64(c.n) || all.Sent != sent || all.Ended() != int64(c.n) {
				t.Errorf("intended %d, sent %d, ended %d; want %d, %[4]d less %d refused", all.Intended, all.Sent, all.Ended(), c.n, want.Refused)
			}
			if all.Latency.Count() != want.Good || all.SendLag.Count() != sent {
				t.Errorf("%d latencies, %d lags; want %d, %d", all.Latency.Count(), all.SendLag.Count(), want.Good, sent)
			}
			if all.Bytes < c.bytes {
				t.Errorf("%d bytes; want at least %d", all.Bytes, c.bytes)
			}
			if c.connects > 0 && (all.Connects < c.connects || all.Connects > c.connects+int64(c.users)) {
				t.Errorf("%d connections; want %d to %d", all.Connects, c.connects, c.connects+int64(c.users))
			}
		}
		t.Run(name, func(t *testing.T) { check(t, startHostile(t, c.serve).addr(), protocol.Transport{}, c.want) })
		t.Run(name+", TLS", func(t *testing.T) {
			want := c.want
			if c.deaf { // there is no connection without a handshake
				want.Refused, want.Cut = want.Cut, 0
			}
			check(t, startHostileTLS(t, c.serve).addr(), protocol.Transport{TLS: true, Insecure: true}, want)
		})
	}
}

// A service that closes each connection, over TLS and by time: late events of its
// connections are still handled while the load ends.
func TestClosingEachOverTLSUntilTheEnd(t *testing.T) {
	t.Parallel()
	server := startHostileTLS(t, onceThenClose(strings.Replace(fine, "\r\n", "\r\nConnection: close\r\n", 1)))
	p := byNumber(server.addr(), 0, 20)
	p.Transport = protocol.Transport{TLS: true, Insecure: true}
	p.Load.Stages[0].Duration = seconds(0.5)
	all := sum(trial(t, serve(t), p))
	if all.Good == 0 || all.Ended() != all.Good || all.Intended != all.Good {
		t.Errorf("%d of %d good, %d ended", all.Good, all.Intended, all.Ended())
	}
}

func onceThenClose(text string) func(*exchange) {
	return func(x *exchange) {
		if x.request() {
			x.say(text)
		}
	}
}

// endless sends a beginning, and then repeats something without an end.
func endless(begin, text string) func(*exchange) {
	return func(x *exchange) {
		x.request()
		for x.say(begin); x.say(text); {
		}
	}
}

// thenReset resets the connection after its answer.
func thenReset(text string) func(*exchange) {
	return func(x *exchange) {
		x.request()
		x.say(text)
		x.reset()
	}
}

func checkCounts(t *testing.T, got *signals.Client, want signals.Client) {
	t.Helper()
	counts := func(c *signals.Client) string {
		return fmt.Sprintf("good %d, timeouts %d, refused %d, cut %d, malformed %d, dropped %d, status %v",
			c.Good, c.Timeouts, c.Refused, c.Cut, c.Malformed, c.Dropped, c.Status)
	}
	if got, want := counts(got), counts(&want); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// fastest is the lowest duration in a histogram, rounded up as it rounds.
func fastest(h *signals.Histogram) time.Duration {
	for bar := range h.Bars() {
		return time.Duration(bar.To) * time.Microsecond
	}
	return 0
}

// A service that sleeps 20 ms: no answer is faster, and 10 rounds of 5 users
// take at least 10 times that.
func TestAServiceThatSleeps(t *testing.T) {
	t.Parallel()
	server := startHostile(t, sleeping(20*time.Millisecond))
	frames := trial(t, serve(t), byNumber(server.addr(), 50, 5))
	all := sum(frames)
	checkCounts(t, all, signals.Client{Good: 50, Status: map[string]int64{"200": 50}})
	if least := fastest(all.Service); least < 20*time.Millisecond {
		t.Errorf("an answer after %v from a service that sleeps 20ms", least)
	}
	last := frames[len(frames)-1]
	if took := time.Duration(last.End - frames[0].Start); took < 200*time.Millisecond {
		t.Errorf("10 rounds of 20ms took %v", took)
	}
}

// A service that never answers: every request ends after the timeout, which both
// histograms contain.
func TestAServiceThatNeverAnswers(t *testing.T) {
	t.Parallel()
	for name, serveIt := range map[string]func(*exchange){
		"silent":                func(x *exchange) { x.request(); x.silence() },
		"silent after a header": func(x *exchange) { x.request(); x.say(fine[:30]); x.silence() },
		"endless interim":       endless("", "HTTP/1.1 103 Early Hints\r\n\r\n"),
		"an endless body":       endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n"),
		"a byte now and then": func(x *exchange) {
			x.request()
			for alive := x.say("HTTP/1.1 200 OK\r\nX: "); alive; alive = x.say("a") {
				time.Sleep(20 * time.Millisecond)
			}
		},
		"a length never filled": func(x *exchange) {
			x.request()
			x.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")
			x.silence()
		},
	} {
		check := func(t *testing.T, addr string, transport protocol.Transport) {
			t.Parallel()
			p := byNumber(addr, 12, 4)
			p.Timeout, p.Transport = seconds(0.1), transport
			if transport.TLS { // shaking hands has to come to its end as well
				p.Timeout = seconds(2)
			}
			all := sum(trial(t, serve(t), p))
			checkCounts(t, all, signals.Client{Timeouts: 12})
			if all.Latency.Count() != 12 || fastest(all.Latency) < 100*time.Millisecond || fastest(all.Service) < 100*time.Millisecond {
				t.Errorf("%d latencies from %v, service from %v; want 12 of at least 100ms", all.Latency.Count(), fastest(all.Latency), fastest(all.Service))
			}
			if all.Connects < 12 {
				t.Errorf("%d connections; each timeout costs one", all.Connects)
			}
		}
		t.Run(name, func(t *testing.T) { check(t, startHostile(t, serveIt).addr(), protocol.Transport{}) })
		t.Run(name+", TLS", func(t *testing.T) {
			check(t, startHostileTLS(t, serveIt).addr(), protocol.Transport{TLS: true, Insecure: true})
		})
	}
}

// Without a listener all requests are refused, and the histograms are empty.
func TestNoListener(t *testing.T) {
	t.Parallel()
	all := sum(trial(t, serve(t), byNumber(freeAddr(t), 20, 5)))
	checkCounts(t, all, signals.Client{Refused: 20})
	if all.Sent != 0 || all.Latency.Count() != 0 || all.Connects != 0 {
		t.Errorf("sent %d, %d latencies, %d connections; want none", all.Sent, all.Latency.Count(), all.Connects)
	}
}

// A service that accepts no connections: its queue is full, and dials get no answer.
// They end after the timeout.
func TestNoAccept(t *testing.T) {
	t.Parallel()
	addr := fullListener(t)
	p := byNumber(addr, 4, 2)
	p.Timeout = seconds(0.2)
	all := sum(trial(t, serve(t), p))
	checkCounts(t, all, signals.Client{Refused: 4})
}

// One of two replicas is down: it refuses its half of an open loop, and the
// other half is fine.
func TestOneReplicaIsDown(t *testing.T) {
	t.Parallel()
	server := startHostile(t, answering(fine))
	p := openLoop(server.addr(), 200, 1)
	p.Targets = append(p.Targets, freeAddr(t))
	all := sum(trial(t, serve(t), p))
	if all.Intended != 200 || all.Ended() != 200 || all.Refused < 60 || all.Good < 60 {
		t.Errorf("intended %d, ended %d, good %d, refused %d; want 200, 200, about half and half",
			all.Intended, all.Ended(), all.Good, all.Refused)
	}
}

// A body of 3 MB goes out in pieces, to a service that reads all of it first.
func TestALargeRequest(t *testing.T) {
	t.Parallel()
	server := startHostile(t, answering(fine))
	p := byNumber(server.addr(), 10, 2)
	p.Requests = []protocol.Request{{Method: "POST", Path: "/upload", Body: strings.Repeat("x", 3_000_000)}}
	all := sum(trial(t, serve(t), p))
	checkCounts(t, all, signals.Client{Good: 10, Status: map[string]int64{"200": 10}})
	if n := server.requests.Load(); n != 10 {
		t.Errorf("the service read %d whole requests; want 10", n)
	}
}

// A service that rejects a large body before it has read it: the answer counts, and the
// connection is closed.
func TestALargeRequestIsRefusedEarly(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	server := startHostile(t, func(x *exchange) {
		x.in.ReadString('\n')
		x.say("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
		<-over // reads no more
	})
	t.Cleanup(func() { close(over) })
	p := byNumber(server.addr(), 10, 2)
	p.Requests = []protocol.Request{{Method: "POST", Path: "/upload", Body: strings.Repeat("x", 30_000_000)}}
	all := sum(trial(t, serve(t), p))
	checkCounts(t, all, signals.Client{Status: map[string]int64{"413": 10}})
	if all.Connects < 10 {
		t.Errorf("%d connections; want one for each request", all.Connects)
	}
}

// Answers to HEAD have a length and no body.
func TestHead(t *testing.T) {
	t.Parallel()
	server := startHostile(t, answering("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"))
	p := byNumber(server.addr(), 20, 2)
	p.Requests[0].Method = "HEAD"
	all := sum(trial(t, serve(t), p))
	checkCounts(t, all, signals.Client{Good: 20, Status: map[string]int64{"200": 20}})
	if all.Connects != 2 {
		t.Errorf("%d connections; want 2", all.Connects)
	}
}

// A service that closes each connection after its answer without announcing it: a
// closed loop's next request may already be on its way, and is sent again.
func TestClosingWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	server := startHostile(t, onceThenClose(fine))
	all := sum(trial(t, serve(t), byNumber(server.addr(), 100, 2)))
	if all.Good != 100 || all.Ended() != 100 || all.Sent != 100 {
		t.Errorf("%d good, %d cut, %d ended, %d sent; want 100 good", all.Good, all.Cut, all.Ended(), all.Sent)
	}
}

// A service that closes idle connections: rare requests open new ones. A request that
// is sent at the time of the close is sent again.
func TestIdleConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	server := startHostile(t, func(x *exchange) {
		// Idle is what follows an answer: a client that is held between its connect and
		// its request has not been idle.
		for x.request() && x.say(fine) {
			x.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		}
	})
	p := openLoop(server.addr(), 10, 1.5)
	p.Connections = 1
	all := sum(trial(t, serve(t), p))
	if all.Good != 15 || all.Ended() != 15 {
		t.Errorf("%d good, %d cut, %d ended; want 15 good", all.Good, all.Cut, all.Ended())
	}
}

// openLoop is an open loop with even spacing.
func openLoop(addr string, rate, length float64) protocol.Prepare {
	return protocol.Prepare{
		Trial: 1, Agents: 1, Targets: []string{addr}, Requests: []protocol.Request{{}},
		Load: protocol.Load{
			Kind: protocol.Open, Even: true,
			Stages: []protocol.Stage{{Duration: seconds(length), From: rate, To: rate}},
		},
		Timeout: seconds(30), Interval: seconds(0.1),
	}
}

// fullListener returns an address whose queue of connections is full.
func fullListener(t *testing.T) string {
	t.Helper()
	addr, fill := listenWithoutQueue(t)
	for range 8 {
		go func() {
			if conn, err := net.DialTimeout("tcp", addr, 100*time.Millisecond); err == nil {
				t.Cleanup(func() { conn.Close() })
			}
			fill.Done()
		}()
	}
	fill.Wait()
	return addr
}
