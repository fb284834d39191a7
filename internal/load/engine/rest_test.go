package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/wire"
)

// spaced is an open loop of 1,000 evenly spaced requests/s for 2 s on 8 connections.
func spaced(t *testing.T) Plan {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 1000, 2*time.Second)})
	p.Connections = 8
	return p
}

// slowStart is a service whose first four answers take 5 ms, so that the loop makes more
// connections than it needs later.
func slowStart(answer func(n int) []piece) service {
	n := 0
	return service{answer: func(time.Duration, int) []piece {
		if n++; n <= 4 {
			return good(5 * time.Millisecond)
		}
		return answer(n)
	}}
}

// The loop wakes once for each request, and not for the answers, unless it must read these
// as they come. The latencies are the same.
func TestWakeUps(t *testing.T) {
	const after = 300 * time.Microsecond
	head := "HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n"
	short := func(int) []piece { return good(after) }
	long := func(int) []piece { return []piece{{after: after, bytes: head + strings.Repeat("x", 20_000)}} }
	parts := func(int) []piece {
		return []piece{{after: after / 2, bytes: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"}, {after: after / 2, bytes: "hi"}}
	}
	for _, c := range []struct {
		name   string
		answer func(int) []piece
		change func(*Plan)
		waits  int // for each request
	}{
		{"answers", short, func(*Plan) {}, 1},
		{"no request may wait", short, func(p *Plan) { p.Waiting = new(int) }, 2},
		{"HTTP/2", short, func(p *Plan) { p.Transport.HTTP2 = true }, 2},
		{"long answers", long, func(*Plan) {}, 2},
		{"answers in parts", parts, func(*Plan) {}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := spaced(t)
			c.change(&p)
			s := simulate(t, p, slowStart(c.answer))
			all := total(s.run(t))
			within(t, "latency", 0.99, all.Latency.Quantile(0.99), after, 0.001)
			if all.Good != 2000 || all.SendLag.Max() > time.Microsecond {
				t.Errorf("%d good answers, send lag up to %v; want 2000, none", all.Good, all.SendLag.Max())
			}
			if waits := s.worlds[0].waits; waits < 2000*c.waits-50 || waits > 2000*c.waits+50 {
				t.Errorf("%d waits for 2000 requests; want %d for each", waits, c.waits)
			}
		})
	}
}

// A request of the size of a send buffer is written as the service reads it.
func TestLongRequestsAreWrittenAsTheyAreRead(t *testing.T) {
	p := spaced(t)
	p.Targets[0].Requests[0] = compiled(wire.Request{Host: "x", Method: "POST", Body: strings.Repeat("x", longMessage)})
	s := simulate(t, p, slowStart(func(int) []piece { return good(300 * time.Microsecond) }))
	if s.run(t); s.worlds[0].waits < 2*1990 {
		t.Errorf("%d waits; want one for each answer too", s.worlds[0].waits)
	}
}

// A timeout ends a wait, also one in which answers may stay in the kernel.
func TestATimeoutEndsARest(t *testing.T) {
	p := spaced(t)
	p.Timeout, p.Connections = 20*time.Millisecond+250*time.Microsecond, 64
	s := simulate(t, p, slowStart(func(n int) []piece {
		if n%10 == 0 {
			return nil
		}
		return good(300 * time.Microsecond)
	}))
	all := total(s.run(t))
	if all.Timeouts != 200 || all.Good != 1800 {
		t.Errorf("%d timeouts, %d good; want 200, 1800", all.Timeouts, all.Good)
	}
	if most := all.Latency.Max(); most < p.Timeout*999/1000 || most > p.Timeout*1001/1000 {
		t.Errorf("a timeout after %v; want %v", most, p.Timeout)
	}
}

// A service closes the connection 200 us after each tenth answer, while the loop rests: the
// next request gets another connection, and none is lost or sent twice.
func TestAConnectionThatIsClosedDuringARest(t *testing.T) {
	s := simulate(t, spaced(t), slowStart(func(n int) []piece {
		if n%10 == 0 {
			return append(good(300*time.Microsecond), piece{after: 200 * time.Microsecond, end: ended})
		}
		return good(300 * time.Microsecond)
	}))
	all := total(s.run(t))
	if all.Good != 2000 || all.Cut != 0 || all.Resent != 0 || all.SendLag.Max() > time.Microsecond {
		t.Errorf("%d good, %d cut, %d sent again, send lag up to %v; want 2000 good only", all.Good, all.Cut, all.Resent, all.SendLag.Max())
	}
}
