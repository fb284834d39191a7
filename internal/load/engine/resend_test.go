package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
)

// endsSecond is a service that answers the first request of each connection and ends the
// connection instead of the second answer.
func endsSecond(after time.Duration, how outcome) service {
	n := 0
	return service{answer: func(time.Duration, int) []piece {
		if n++; n%2 == 0 {
			return []piece{{after: after, end: how}}
		}
		return good(ms)
	}}
}

// A request whose connection was used before and ends without a byte of an answer is sent
// once more, if it may be processed twice.
func TestARequestOnAConnectionThatTheServiceClosedIsSentAgain(t *testing.T) {
	const n = 100
	half := endsSecond(ms, ended)
	half.answer = func(always func(time.Duration, int) []piece) func(time.Duration, int) []piece {
		return func(at time.Duration, target int) []piece {
			all := always(at, target)
			if all[0].end == ended {
				all[0].bytes = "HTTP/1.1 200"
			}
			return all
		}
	}(half.answer)
	first := true
	never := service{answer: func(time.Duration, int) []piece {
		if first {
			first = false
			return good(ms)
		}
		return []piece{{after: ms, end: ended}}
	}}
	for name, c := range map[string]struct {
		service           service
		method            string
		http2             bool
		good, cut, resent int64
	}{
		"GET, closed":            {service: endsSecond(ms, ended), good: n, resent: n - 1},
		"GET, reset":             {service: endsSecond(ms, broken), method: "GET", good: n, resent: n - 1},
		"PUT":                    {service: endsSecond(ms, ended), method: "PUT", good: n, resent: n - 1},
		"DELETE, at once":        {service: endsSecond(0, ended), method: "DELETE", good: n, resent: n - 1},
		"POST":                   {service: endsSecond(ms, ended), method: "POST", good: n / 2, cut: n / 2},
		"PATCH":                  {service: endsSecond(ms, ended), method: "PATCH", good: n / 2, cut: n / 2},
		"a stream of HTTP/2":     {service: endsSecond(ms, ended), http2: true, good: n / 2, cut: n / 2},
		"a part of an answer":    {service: half, good: n / 2, cut: n / 2},
		"no answer the next one": {service: never, good: 1, cut: n - 1, resent: 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(Load{Curve: steady(t, 1, schedule.Endless), Requests: n})
			p.Transport.HTTP2 = c.http2
			p.Targets[0].Requests[0] = compiled(wire.Request{Host: "x", Method: c.method})
			sim := simulate(t, p, c.service)
			sim.worlds[0].size = len(p.Targets[0].Requests[0].Fixed())
			sum := total(sim.run(t))
			if sum.Good != c.good || sum.Cut != c.cut || sum.Resent != c.resent || sum.Sent != n || sum.Bad() != c.cut {
				t.Errorf("sent %d, good %d, cut %d, resent %d; want %d, %d, %d, %d", sum.Sent, sum.Good, sum.Cut, sum.Resent, n, c.good, c.cut, c.resent)
			}
		})
	}
}

// A request that is sent again is the same one and keeps its intended time, and it is sent
// as of the second time.
func TestTheTimesOfARequestThatIsSentAgain(t *testing.T) {
	p := plan(*even(t, 10, 500*ms))
	p.Connections = 1
	p.Targets[0].Requests[0] = compiled(wire.Request{Host: "x", Path: "/{{seq}}"})
	s := endsSecond(5*ms, ended)
	dials := 0
	s.dial = func(time.Duration, int) (time.Duration, outcome) {
		if dials++; dials == 1 {
			return 0, succeeded
		}
		return 10 * ms, succeeded
	}
	sim := simulate(t, p, s)
	sim.worlds[0].size = len("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
	all := sim.run(t)
	for i, one := range slows(all[0]) {
		want := slowOne{intended: 50*ms + time.Duration(i)*100*ms, sent: 50*ms + time.Duration(i)*100*ms}
		if i > 0 {
			want.sent += 15 * ms
		}
		if want.done = want.sent + ms; one != want {
			t.Errorf("%+v; want %+v", one, want)
		}
	}
	if sum := total(all); sum.Good != 5 || sum.Resent != 4 || sum.SendLag.Max() > time.Microsecond {
		t.Errorf("%d good, %d resent, send lag %v; want 5, 4, none", sum.Good, sum.Resent, sum.SendLag.Max())
	}
	var got []string
	for _, text := range sim.worlds[0].last {
		got = append(got, text[5:6])
	}
	if want := "[1 2 2 3 3 4 4 5 5]"; fmt.Sprint(got) != want {
		t.Errorf("the requests %v were sent; want %s", got, want)
	}
}

// A request for which there is no second connection was cut off the first time: refused
// are only requests that were never sent.
func TestARequestThatCannotBeSentAgain(t *testing.T) {
	for name, dial := range map[string]func(time.Duration, int) (time.Duration, outcome){
		"refused at once": func(time.Duration, int) (time.Duration, outcome) { return 0, broken },
		"refused later":   func(time.Duration, int) (time.Duration, outcome) { return 5 * ms, broken },
		"no port":         func(time.Duration, int) (time.Duration, outcome) { return 0, portless },
		"never":           func(time.Duration, int) (time.Duration, outcome) { return time.Hour, succeeded },
	} {
		t.Run(name, func(t *testing.T) {
			s := endsSecond(ms, broken)
			dials := 0
			s.dial = func(at time.Duration, target int) (time.Duration, outcome) {
				if dials++; dials == 1 {
					return 0, succeeded
				}
				return dial(at, target)
			}
			p := plan(*even(t, 10, 200*ms))
			p.Timeout = 50 * ms
			sum := total(simulate(t, p, s).run(t))
			if sum.Good != 1 || sum.Cut != 1 || sum.Sent != 2 || sum.Ended() != 2 {
				t.Errorf("%d good, %d cut, %d sent, %d refused; want 1, 1, 2, 0", sum.Good, sum.Cut, sum.Sent, sum.Refused)
			}
		})
	}
}

// A stop drops what was never sent, and awaits a request that is being sent again.
func TestAStopAwaitsARequestThatIsSentAgain(t *testing.T) {
	s := endsSecond(ms, ended)
	dials := 0
	s.dial = func(time.Duration, int) (time.Duration, outcome) {
		if dials++; dials == 1 {
			return 0, succeeded
		}
		return 200 * ms, succeeded
	}
	p := plan(*even(t, 10, time.Minute))
	p.Connections = 1
	sim := simulate(t, p, s)
	sim.at(260*ms, order{stop: true}) // due at 50, 150 and 250 ms
	sum := total(sim.run(t))
	if sum.Intended != 3 || sum.Good != 2 || sum.Resent != 1 || sum.Dropped != 1 {
		t.Errorf("%d intended, %d good, %d resent, %d dropped; want 3, 2, 1, 1", sum.Intended, sum.Good, sum.Resent, sum.Dropped)
	}
}

// A request that is being sent again to a target that goes was cut off, and its user goes
// on with another target.
func TestATargetGoesWhileARequestIsSentAgain(t *testing.T) {
	s := endsSecond(ms, ended)
	dials := 0
	s.dial = func(time.Duration, int) (time.Duration, outcome) {
		if dials++; dials == 2 {
			return 200 * ms, succeeded
		}
		return 0, succeeded
	}
	p := plan(Load{Curve: steady(t, 1, time.Second)})
	p.Targets = replicas(2, 1)
	sim := simulate(t, p, s)
	sim.at(100*ms, order{targets: replicas(2, 0)})
	sum := total(sim.run(t))
	if sum.Cut != 1 || sum.Good < 100 || sum.Bad() != 1 || sum.Sent != sum.Ended() {
		t.Errorf("%d good, %d cut, %d bad, %d sent; want one cut", sum.Good, sum.Cut, sum.Bad(), sum.Sent)
	}
}

// This machine has no free port from 1 s to 2 s: requests wait for one, which is send lag,
// and nothing counts as refused.
func TestRequestsWaitForAPort(t *testing.T) {
	closes := "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	for name, load := range map[string]Load{
		"open":   *even(t, 100, 4*time.Second),
		"closed": {Curve: steady(t, 2, 4*time.Second)},
	} {
		for _, after := range []time.Duration{0, ms} {
			t.Run(fmt.Sprint(name, after), func(t *testing.T) {
				s := service{
					dial: func(at time.Duration, _ int) (time.Duration, outcome) {
						if at -= startAt; at >= time.Second && at < 2*time.Second {
							return after, portless
						}
						return after, succeeded
					},
					answer: always(piece{after: 5 * ms, bytes: closes, end: ended}),
				}
				all := simulate(t, plan(load), s).run(t)
				sum := total(all)
				if sum.Bad() != 0 || sum.Dropped != 0 || sum.Good != sum.Intended {
					t.Errorf("%d of %d good, %d bad, %d dropped", sum.Good, sum.Intended, sum.Bad(), sum.Dropped)
				}
				if sum.NoPorts < 10 || sum.NoPorts > 100 {
					t.Errorf("%d times without a port; want one or a few every 100 ms", sum.NoPorts)
				}
				if lag := sum.SendLag.Max(); lag < 900*ms {
					t.Errorf("send lag up to %v; want about 1s", lag)
				}
			})
		}
	}
}
