package engine

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
)

func always(p ...piece) func(time.Duration, int) []piece {
	return func(time.Duration, int) []piece { return p }
}

func deadDial(time.Duration, int) (time.Duration, outcome) { return 0, broken }

// The outcomes of requests to a bad service, in a closed loop of 100 requests by 4
// users. The histograms include only the timeouts.
func TestEndingsAreCountedSeparately(t *testing.T) {
	ok := "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	for name, c := range map[string]struct {
		service  service
		count    func(*tally) int64
		recorded int64
		connects int64
	}{
		"good":                    {lasts(ms), func(s *tally) int64 { return s.Good }, 100, 4},
		"nobody listens":          {service{dial: deadDial}, func(s *tally) int64 { return s.Refused }, 0, 0},
		"refused after a while":   {service{dial: func(time.Duration, int) (time.Duration, outcome) { return ms, broken }}, func(s *tally) int64 { return s.Refused }, 0, 0},
		"silence":                 {service{answer: always()}, func(s *tally) int64 { return s.Timeouts }, 100, 100},
		"half an answer, silence": {service{answer: always(piece{bytes: ok[:20]})}, func(s *tally) int64 { return s.Timeouts }, 100, 100},
		"an end":                  {service{answer: always(piece{end: ended})}, func(s *tally) int64 { return s.Cut }, 0, 100},
		"a reset":                 {service{answer: always(piece{end: broken})}, func(s *tally) int64 { return s.Cut }, 0, 100},
		"half an answer, an end":  {service{answer: always(piece{bytes: ok[:20]}, piece{after: ms, end: ended})}, func(s *tally) int64 { return s.Cut }, 0, 100},
		"not HTTP":                {service{answer: always(piece{bytes: "SSH-2.0\r\n"})}, func(s *tally) int64 { return s.Malformed }, 0, 100},
		"more than an answer":     {service{answer: always(piece{bytes: ok + "x"})}, func(s *tally) int64 { return min(s.Good, s.Stray) }, 100, 100},
		"an answer and a close": {service{answer: always(piece{after: ms, bytes: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", end: ended})},
			func(s *tally) int64 { return s.Good }, 100, 100},
		"an answer until the end": {service{answer: always(piece{bytes: "HTTP/1.1 200 OK\r\n\r\nhello"}, piece{after: ms, end: ended})},
			func(s *tally) int64 { return s.Good }, 100, 100},
		"an answer until a reset": {service{answer: always(piece{bytes: "HTTP/1.1 200 OK\r\n\r\nhello"}, piece{after: ms, end: broken})},
			func(s *tally) int64 { return s.Cut }, 0, 100},
		"not found": {service{answer: always(piece{bytes: "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"})},
			func(s *tally) int64 { return s.status[404] }, 0, 4},
		"a redirect": {service{answer: always(piece{bytes: "HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n"})},
			func(s *tally) int64 { return s.status[302] }, 0, 4},
		"byte by byte": {service{answer: func(time.Duration, int) (all []piece) {
			for i := range ok {
				all = append(all, piece{after: time.Microsecond, bytes: ok[i : i+1]})
			}
			return all
		}}, func(s *tally) int64 { return s.Good }, 100, 4},
		"an interim answer": {service{answer: always(piece{bytes: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"}, piece{after: ms, bytes: ok})},
			func(s *tally) int64 { return s.Good }, 100, 4},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(Load{Curve: steady(t, 4, schedule.Endless), Requests: 100})
			sum := total(simulate(t, p, c.service).run(t))
			if got := c.count(sum); got != 100 || sum.Ended() < 100 && sum.status[404]+sum.status[302] == 0 {
				t.Errorf("%d; want 100 of %+v", got, sum.Client)
			}
			if sum.Latency.Count() != c.recorded || sum.Service.Count() != c.recorded {
				t.Errorf("%d latencies, %d service times; want %d", sum.Latency.Count(), sum.Service.Count(), c.recorded)
			}
			// Up to one more for each user: the trial may end before or
			// after the last connections are replaced.
			if sum.Connects < c.connects || sum.Connects > c.connects+4 {
				t.Errorf("%d connections; want %d", sum.Connects, c.connects)
			}
		})
	}
}

// A refused user pauses for 10, 20, 40, … ms, up to a second: in 10 s it tries at 0,
// 10, 30, 70, 150, 310, 630, 1270, 2270, …, 9270 ms.
func TestUsersPauseBeforeADeadService(t *testing.T) {
	for name, service := range map[string]service{
		"refused":         {dial: deadDial},
		"closed at once":  {answer: always(piece{end: ended})},
		"reset at once":   {answer: always(piece{end: broken})},
		"closed unserved": {dial: nil, answer: always(piece{end: ended})},
	} {
		t.Run(name, func(t *testing.T) {
			sum := total(simulate(t, plan(Load{Curve: steady(t, 1, 10*time.Second)}), service).run(t))
			if want := int64(16); sum.Ended() != want || sum.Intended != want {
				t.Errorf("intended %d, ended %d; want %d", sum.Intended, sum.Ended(), want)
			}
		})
	}
}

// When the service recovers, the users return, and the next refusal starts with a short
// pause again.
func TestUsersReturn(t *testing.T) {
	up := func(at time.Duration) bool { at -= startAt; return at < 0 || at > time.Second }
	s := service{
		dial: func(at time.Duration, _ int) (time.Duration, outcome) {
			if up(at) || at == startAt {
				return 0, succeeded
			}
			return 0, broken
		},
		answer: func(at time.Duration, _ int) []piece {
			if up(at) {
				return good(100 * ms)
			}
			return []piece{{end: broken}}
		},
	}
	all := simulate(t, plan(Load{Curve: steady(t, 1, 3*time.Second)}), s).run(t)
	// Sent at 0 and cut off; then refused at 10, 30, …, 630; accepted at 1270.
	if all[0].Cut != 1 || all[0].Refused != 6 || all[0].Good != 0 {
		t.Errorf("in the first second %d cut, %d refused, %d good; want 1, 6, 0", all[0].Cut, all[0].Refused, all[0].Good)
	}
	if all[2].Good != 10 {
		t.Errorf("in the third second %d good; want 10", all[2].Good)
	}
}

// An open loop does not depend on the service: each arrival is refused.
func TestOpenLoopBeforeADeadService(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 1000, 2*time.Second)})
	sum := total(simulate(t, p, service{dial: deadDial}).run(t))
	if sum.Refused != 2000 || sum.Latency.Count() != 0 {
		t.Errorf("%d refused, %d latencies; want 2000, 0", sum.Refused, sum.Latency.Count())
	}
}

// One of two replicas is dead: it refuses its half of the requests.
func TestADeadReplicaGetsItsShare(t *testing.T) {
	s := service{
		dial: func(_ time.Duration, target int) (time.Duration, outcome) {
			if target == 1 {
				return 0, broken
			}
			return 0, succeeded
		},
		answer: always(good(ms)...),
	}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 100, 10*time.Second)})
	p.Targets = append(p.Targets, p.Targets[0])
	p.Targets[1].Addr = netip.MustParseAddrPort("192.0.2.1:80")
	sum := total(simulate(t, p, s).run(t))
	if sum.Good != 500 || sum.Refused != 500 || sum.RefusedBy["192.0.2.1:80"] != 500 {
		t.Errorf("%d good, %d refused, by %v; want 500 each, by the second one", sum.Good, sum.Refused, sum.RefusedBy)
	}
}

// All replicas get the same number of requests.
func TestReplicasTakeTurns(t *testing.T) {
	got := make([]int, 3)
	s := service{answer: func(_ time.Duration, target int) []piece {
		got[target]++
		return good(2 * ms)
	}}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 300, 10*time.Second)})
	p.Targets = []Target{p.Targets[0], p.Targets[0], p.Targets[0]}
	simulate(t, p, s).run(t)
	for target, n := range got {
		if n != 1000 {
			t.Errorf("replica %d got %d requests; want 1000", target, n)
		}
	}
}

// A service that closes each connection after its answer, 50 ms for a new one: each
// request waits for its own connection, which is latency but not send lag.
func TestAReconnectIsLatency(t *testing.T) {
	s := service{
		dial:   func(time.Duration, int) (time.Duration, outcome) { return 50 * ms, succeeded },
		answer: always(piece{after: ms, bytes: "HTTP/1.0 200 OK\r\n\r\nbye", end: ended}),
	}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 100, 10*time.Second)})
	sum := total(simulate(t, p, s).run(t))
	if sum.Good != 1000 {
		t.Fatalf("%d good; want 1000", sum.Good)
	}
	within(t, "latency", 0, sum.Latency.Quantile(0), 51*ms, 0.001)
	within(t, "latency", 1, sum.Latency.Max(), 51*ms, 0.001)
	if sum.Connects != 1000 {
		t.Errorf("%d connections; want one for each of 1000 requests", sum.Connects)
	}
	if got := sum.Service.Max(); got > 2*ms {
		t.Errorf("service up to %v; want 1ms: it runs from sent", got)
	}
	if got := sum.SendLag.Max(); got > time.Microsecond {
		t.Errorf("send lag %v; want none: a connection that is being made is not free", got)
	}
}

// A request that announces the end of its connection is the last one on it, regardless
// of the answer and of when the service closes it: a close after a complete answer is
// not an error.
func TestARequestThatEndsItsConnection(t *testing.T) {
	for name, ends := range map[string][]piece{
		"closed with the answer":   {{end: ended}},
		"closed 2 ms later":        {{after: 2 * ms, end: ended}},
		"reset":                    {{end: broken}},
		"closed much later":        {{after: 40 * ms, end: ended}},
		"not closed by the server": nil,
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(Load{Curve: steady(t, 4, schedule.Endless), Requests: 100})
			r := wire.Request{Host: "x", Headers: map[string]string{"Connection": "close"}}
			p.Targets[0].Requests[0] = compiled(r)
			sim := simulate(t, p, service{answer: always(append(good(ms), ends...)...)})
			sim.worlds[0].size = len(p.Targets[0].Requests[0].Fixed())
			sum := total(sim.run(t))
			if sum.Good != 100 || sum.Bad() != 0 || sum.Connects < 100 || sum.Connects > 104 {
				t.Errorf("%d good, %d bad, %d connections; want 100, 0, one for each", sum.Good, sum.Bad(), sum.Connects)
			}
		})
	}
}

// With one connection the requests wait for it, which is latency.
func TestWaitingForAConnectionIsLatency(t *testing.T) {
	s := service{
		dial:   func(time.Duration, int) (time.Duration, outcome) { return 50 * ms, succeeded },
		answer: always(piece{after: 50 * ms, bytes: "HTTP/1.0 200 OK\r\n\r\nbye", end: ended}),
	}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 20, time.Second)})
	p.Connections, p.Timeout = 1, 10*time.Second
	sum := total(simulate(t, p, s).run(t))
	// Due every 50 ms and served every 100: the last of 20 waits 19 x 50 ms.
	within(t, "latency", 1, sum.Latency.Max(), 19*50*ms+100*ms, 0.001)
	if sum.Good != 20 {
		t.Errorf("%d good; want 20", sum.Good)
	}
}

// A close of an idle connection by the service is not an error, even if the agent
// notices it only when it writes.
func TestIdleConnectionsMayEnd(t *testing.T) {
	for name, how := range map[string]outcome{"closed": ended, "reset": broken} {
		t.Run(name, func(t *testing.T) {
			s := service{answer: always(append(good(ms), piece{after: 20 * ms, end: how})...)}
			p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, 10*time.Second)})
			p.Connections = 1
			sum := total(simulate(t, p, s).run(t))
			if sum.Good != 100 || sum.Bad() != 0 {
				t.Errorf("%d good, %d bad; want 100, 0", sum.Good, sum.Bad())
			}
		})
	}
}

func TestAWriteToAClosedConnection(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, time.Second)})
	p.Connections = 1
	sim := simulate(t, p, lasts(ms))
	// The connection breaks without an event before the write.
	sim.worlds[0].at(startAt+500*ms, func() { sim.worlds[0].conns[0].end = broken })
	sum := total(sim.run(t))
	if sum.Good != 10 || sum.Bad() != 0 || sum.Sent != 10 || sum.Connects != 2 {
		t.Errorf("sent %d, good %d, bad %d, connections %d; want 10, 10, 0, 2", sum.Sent, sum.Good, sum.Bad(), sum.Connects)
	}
}

// Unrequested bytes end an idle connection, and do not count as a request.
func TestUnexpectedBytesOnAnIdleConnection(t *testing.T) {
	s := service{answer: always(append(good(ms), piece{after: 20 * ms, bytes: "HTTP/1.1 408 Request Timeout\r\n\r\n"})...)}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, 10*time.Second)})
	p.Connections = 1
	sum := total(simulate(t, p, s).run(t))
	if sum.Good != 100 || sum.Bad() != 0 || sum.Connects < 100 || sum.Stray < 99 || sum.Stray > 100 {
		t.Errorf("%d good, %d bad, %d connections, %d of them with stray bytes; want 100, 0, at least 100, all", sum.Good, sum.Bad(), sum.Connects, sum.Stray)
	}
}

// A service hangs up on an idle connection: the next one is made when a request
// needs it, and not before.
func TestConnectionsThatEndIdleAreNotReplacedAhead(t *testing.T) {
	sim := simulate(t, plan(Load{Open: true, Even: true, Curve: steady(t, 1, 10*time.Second)}), lasts(ms))
	w := sim.worlds[0]
	for _, after := range []time.Duration{1700 * ms, 6700 * ms} {
		open := func(c conn) bool { return c.open }
		w.at(startAt+after, func() {
			i := slices.IndexFunc(w.conns, open)
			w.expect(happening{at: startAt + after, slot: int32(i), generation: w.conns[i].generation, piece: piece{end: ended}})
		})
		w.at(startAt+after+700*ms, func() {
			if slices.ContainsFunc(w.conns, open) {
				t.Error("a connection was made ahead of the next request")
			}
		})
	}
	sum := total(sim.run(t))
	if sum.Good != 10 || sum.Bad() != 0 || sum.Connects != 3 {
		t.Errorf("%d good, %d bad, %d connections; want 10, 0, 3", sum.Good, sum.Bad(), sum.Connects)
	}
}

// A dial without a result ends after the timeout, and its request counts as refused.
func TestADialThatNeverEnds(t *testing.T) {
	s := service{dial: func(time.Duration, int) (time.Duration, outcome) { return time.Hour, succeeded }}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, time.Second)})
	p.Timeout = 3 * time.Second
	sum := total(simulate(t, p, s).run(t))
	if sum.Refused != 10 || sum.Connects != 0 {
		t.Errorf("%d refused, %d connections; want 10, 0", sum.Refused, sum.Connects)
	}
}
