package engine

import (
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
)

// A service that answers while a part of the body still waits for its window has
// answered: the rest is not sent.
func TestAnAnswerBeforeTheEndOfALargeBody(t *testing.T) {
	target, _ := startFramed(t, []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 10}}, func(f *framed, stream uint32) bool {
		return f.head(stream, true)
	})
	p := planOf(t, target, Transport{HTTP2: true}, 24, wire.Request{Method: "POST", Body: "a body of more than ten bytes"})
	p.Timeout = 5 * time.Second
	sum, err := ran(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Good != 24 {
		t.Errorf("%d good, %d cut, %d timeouts, %d malformed; want 24 good", sum.Good, sum.Cut, sum.Timeouts, sum.Malformed)
	}
}

func muxTo(t *testing.T, target Target) *mux {
	t.Helper()
	p := planOf(t, target, Transport{HTTP2: true, Streams: 10}, 1, wire.Request{})
	below, err := newEpollPoller(time.Now(), p.Targets)
	if err != nil {
		t.Fatal(err)
	}
	m := newMux(below, &p)
	t.Cleanup(m.release)
	return m
}

// What a connection that has ended did not write is not written to its successor.
func TestAnEndedConnectionWritesNothing(t *testing.T) {
	target, server := startFramed(t, nil, (*framed).answer)
	m := muxTo(t, target)
	events := make([]event, 16)
	until := func(slot int32) {
		t.Helper()
		for range 1000 {
			if m.dialed(slot) == succeeded {
				return
			}
			m.wait(events, m.now()+time.Second, false)
		}
		t.Fatal("no connection")
	}
	m.dial(0, 1, 0)
	until(0)
	old := m.places[0].conn
	_, block := m.translate([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	m.places[0].stream = old.Request(0, block, false, true)
	old.wrote()      // and it does not leave before the end of the turn
	old.over(broken) // as when reading finds the end in the same turn
	m.close(0, true)
	m.dial(0, 2, 0)
	if fresh := m.places[0].conn; fresh.slot != old.slot {
		t.Fatal("the place below was not reused")
	}
	until(0)
	if _, out := m.write(0, []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); out != succeeded {
		t.Fatal(out)
	}
	var b [100]byte
	for range 1000 {
		m.wait(events, m.now()+time.Second, false)
		switch n, _, out := m.read(0, b[:]); {
		case out == wouldBlock:
			continue
		case out != succeeded || n == 0:
			t.Fatalf("outcome %d: the new connection got bytes of the old one (%d requests came)", out, server.requests.Load())
		}
		return
	}
	t.Fatal("no answer")
}

// Streams that timeouts free serve the requests that wait for one.
func TestAFreedStreamServesWhoWaits(t *testing.T) {
	target, server := startFramed(t, nil, func(f *framed, stream uint32) bool {
		if f.requests == 1 { // three wait once two have come
			return f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1}) == nil
		}
		return f.answer(stream)
	})
	m := muxTo(t, target)
	events := make([]event, 16)
	request := []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	for slot := range int32(2) {
		m.dial(slot, 1, 0)
	}
	for m.dialed(1) != succeeded {
		m.wait(events, m.now()+time.Second, false)
	}
	m.write(0, request)
	for m.places[0].conn.Most() != 1 {
		m.wait(events, m.now()+time.Second, false)
	}
	if _, out := m.write(1, request); out != wouldBlock {
		t.Fatal("a second stream, where one is allowed")
	}
	m.wait(events, 0, false) // earlier events
	m.close(0, true)         // its timeout
	for range 10 {
		n := m.wait(events, m.now()+20*time.Millisecond, false)
		for _, ev := range events[:n] {
			if ev.slot == 1 && ev.writable {
				if _, out := m.write(1, request); out == succeeded {
					return
				}
			}
		}
	}
	t.Errorf("nobody told the request that waits (%d came)", server.requests.Load())
}

// REFUSED_STREAM is obeyed at a pace: a service that sheds load is not flooded with connections.
func TestRefusedStreamsOpenNoConnections(t *testing.T) {
	target, server := startFramed(t, nil, func(f *framed, stream uint32) bool {
		return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream) == nil
	})
	p := planOf(t, target, Transport{HTTP2: true}, 24, wire.Request{})
	p.Timeout = time.Second
	sum, err := ran(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if n := server.conns.Load(); n > 2*24 {
		t.Errorf("24 requests made %d connections and were sent %d times (%d cut)", n, server.requests.Load(), sum.Cut)
	}
}

// Requests that the loop gave to a connection which GOAWAY ends before they are written are sent on
// another one: no request fails, and each connection serves all that it may.
func TestNoRequestFailsWhereConnectionsEnd(t *testing.T) {
	const each = 20
	target, _ := startFramed(t, nil, func(f *framed, stream uint32) bool {
		if f.requests > each { // after GOAWAY
			return true
		}
		if f.requests == each && f.WriteGoAway(stream, http2.ErrCodeNo, nil) != nil {
			return false
		}
		return f.answer(stream)
	})
	p := planOf(t, target, Transport{HTTP2: true, Streams: 64}, 2000, wire.Request{})
	p.Load.Curve = steady(t, 64, schedule.Endless)
	p.Timeout = 20 * time.Second
	sum, err := ran(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Good != 2000 || sum.Connects != 2000/each {
		t.Errorf("%d good, %d cut on %d connections; want 2000 on %d", sum.Good, sum.Cut, sum.Connects, 2000/each)
	}
}
