package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
)

// An open loop opens only the connections that its concurrent requests need, even if
// more are allowed.
func TestAnOpenLoopHasTheConnectionsThatItNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		rate float64
		dial time.Duration
		work time.Duration
		want int64
	}{
		"one at a time":       {100, 0, 5 * ms, 1},
		"three at a time":     {100, 0, 25 * ms, 3},
		"a slow connection":   {100, 25 * ms, 5 * ms, 3},
		"10,000/s at once":    {10_000, ms, ms, 20},
		"more than there may": {10_000, 0, 500 * ms, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			s := lasts(c.work)
			s.dial = func(time.Duration, int) (time.Duration, outcome) { return c.dial, succeeded }
			all := simulate(t, plan(*even(t, c.rate, 3*time.Second)), s).run(t)
			for _, i := range all[:3] {
				if i.OpenConnections < min(c.want, 2) || i.OpenConnections > c.want {
					t.Errorf("second %d: %d connections at once; want at most %d", i.seq, i.OpenConnections, c.want)
				}
			}
			if sum := total(all); sum.Connects > c.want || sum.Bad() != 0 {
				t.Errorf("%d connections, %d bad; want at most %d, 0", sum.Connects, sum.Bad(), c.want)
			}
		})
	}
}

// After a stall 500 requests are due at once. Connections are started a few at a time,
// and the first ones serve further requests.
func TestABurstMakesFewConnections(t *testing.T) {
	s := lasts(200 * time.Microsecond)
	s.cost = 5 * time.Microsecond
	s.dial = func(time.Duration, int) (time.Duration, outcome) { return 50 * time.Microsecond, succeeded }
	sim := simulate(t, plan(*even(t, 10_000, time.Second)), s)
	sim.stands(500*ms, 50*ms)
	sum := total(sim.run(t))
	if sum.Good != 10_000 || sum.Connects > 150 {
		t.Errorf("%d good, %d connections; want 10000 by at most 150", sum.Good, sum.Connects)
	}
}

// A request goes to the connection that is ready first: the one that is being made for
// it, or one whose answer arrives before.
func TestARequestGoesToTheConnectionThatIsReadyFirst(t *testing.T) {
	s := lasts(40 * ms)
	s.dial = func(time.Duration, int) (time.Duration, outcome) { return 70 * ms, succeeded }
	all := simulate(t, plan(*even(t, 20, 150*ms)), s).run(t)
	// Due at 25, 75 and 125. Connections are started at 25 and 75, made at 95 and
	// 145; the second request is sent on the second one, the third on the first,
	// which is free at 135.
	want := []slowOne{
		{intended: 25 * ms, sent: 95 * ms, done: 135 * ms},
		{intended: 75 * ms, sent: 135 * ms, done: 175 * ms},
		{intended: 125 * ms, sent: 145 * ms, done: 185 * ms},
	}
	if got := slices.Concat(slows(all[0]), slows(all[1])); !slices.Equal(got, want) {
		t.Errorf("%+v; want %+v", got, want)
	}
	if sum := total(all); sum.Connects != 2 {
		t.Errorf("%d connections; want 2: the third request needs none of its own", sum.Connects)
	}
}

// After a burst the most recently used connection gets all requests. The others stay
// idle, and the service closes them, which is not an error.
func TestIdleConnectionsStayIdle(t *testing.T) {
	s := service{answer: func(at time.Duration, _ int) []piece {
		if at < startAt+time.Second {
			return good(190 * ms)
		}
		return good(ms)
	}}
	sim := simulate(t, plan(*even(t, 20, 10*time.Second)), s)
	w := sim.worlds[0]
	w.at(startAt+5*time.Second, func() {
		open := 0
		for i := range w.conns {
			if c := &w.conns[i]; c.open && c.received < startAt+2*time.Second {
				open++
				w.expect(happening{at: startAt + 5*time.Second, slot: int32(i), generation: c.generation, piece: piece{end: ended}})
			}
		}
		if open != 3 {
			t.Errorf("%d connections were idle for 3 s; want 3 of 4", open)
		}
	})
	all := sim.run(t)
	if sum := total(all); sum.Good != 200 || sum.Bad() != 0 || sum.Connects != 4 {
		t.Errorf("%d good, %d bad, %d connections; want 200, 0, 4", sum.Good, sum.Bad(), sum.Connects)
	}
	if before, after := all[4].OpenConnections, all[6].OpenConnections; before != 4 || after != 1 {
		t.Errorf("%d connections open at once, later %d; want 4, 1", before, after)
	}
}

// Each replica gets its share, at a rate for which one connection would suffice, and
// also if the connections of one replica are busy for longer.
func TestReplicasGetTheirSharesByFewConnections(t *testing.T) {
	for name, work := range map[string][]time.Duration{
		"all alike":       {ms, ms, ms},
		"one much slower": {ms, 900 * ms, ms},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(*even(t, 60, 5*time.Second))
			p.Targets = replicas(3)
			seen := perSecond{}
			s := seen.service(0)
			count := s.answer
			s.answer = func(at time.Duration, target int) []piece {
				count(at, target)
				return good(work[target])
			}
			sum := total(simulate(t, p, s).run(t))
			if sum.Bad() != 0 {
				t.Errorf("%d bad", sum.Bad())
			}
			want := map[time.Duration]string{}
			for second := range 5 {
				want[time.Duration(second)*time.Second] = "[20 20 20]"
			}
			seen.check(t, want)
		})
	}
}

// Each user has a connection, opened for the first request and kept, even if the users
// think and one connection could serve all of them.
func TestEachUserHasAConnection(t *testing.T) {
	p := plan(Load{Even: true, Curve: curve(t,
		schedule.Stage{Length: 2 * time.Second, From: 0, To: 10},
		schedule.Stage{Length: 2 * time.Second, From: 10, To: 10})})
	p.Think = 100 * ms
	all := simulate(t, p, lasts(ms)).run(t)
	for i, want := range []int64{4, 9, 10, 10} { // who comes at the end of a second belongs to the next
		if got := all[i].OpenConnections; got != want {
			t.Errorf("second %d: %d connections at once; want %d", i, got, want)
		}
	}
	if sum := total(all); sum.Connects != 10 {
		t.Errorf("%d connections; want 10", sum.Connects)
	}
}

// The delay before the loop starts a connection is its own send lag, even if every
// request has its own connection: here for requests that are due during a stall, from
// 505 to 595 ms.
func TestALateConnectionIsLag(t *testing.T) {
	p := plan(*even(t, 100, time.Second))
	s := service{
		dial:   func(time.Duration, int) (time.Duration, outcome) { return 5 * ms, succeeded },
		answer: always(piece{after: ms, bytes: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", end: ended}),
	}
	sim := simulate(t, p, s)
	sim.stands(501*ms, 99*ms)
	var lags []time.Duration
	for _, one := range slows(sim.run(t)[0]) {
		if want := 5*ms + one.lag; one.sent-one.intended != want {
			t.Errorf("%+v: want it sent after %v", one, want)
		}
		if one.lag > 0 {
			lags = append(lags, one.lag)
		}
	}
	want := []time.Duration{}
	for lag := 95 * ms; lag > 0; lag -= 10 * ms {
		want = append(want, lag)
	}
	if !slices.Equal(lags, want) {
		t.Errorf("lags of %v; want %v", lags, want)
	}
}

// A connection that broke while it was idle is detected by the write: the request goes
// to another ready connection, and is sent once.
func TestARequestMovesFromABrokenConnectionToAnother(t *testing.T) {
	p := plan(*even(t, 20, 2*time.Second))
	p.Targets[0].Requests[0] = compiled(wire.Request{Host: "x", Path: "/{{seq}}"})
	n := 0
	sim := simulate(t, p, service{answer: func(time.Duration, int) []piece {
		if n++; n < 3 {
			return good(120 * ms)
		}
		return good(ms)
	}})
	w := sim.worlds[0]
	w.size = len("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
	w.at(startAt+500*ms, func() {
		last := slices.IndexFunc(w.conns, func(c conn) bool { return c.received == startAt+475*ms })
		w.conns[last].end = broken
	})
	sum := total(sim.run(t))
	if sum.Good != 40 || sum.Bad() != 0 || sum.Sent != 40 || sum.Connects != 3 {
		t.Errorf("sent %d, good %d, bad %d, connections %d; want 40, 40, 0, 3", sum.Sent, sum.Good, sum.Bad(), sum.Connects)
	}
	for i, text := range w.last {
		if want := fmt.Sprintf("GET /%d ", i+1); text[:len(want)] != want {
			t.Fatalf("request %d is %q; want %q", i, text, want)
		}
	}
}

// A service with one worker that keeps idle connections open answers on the first
// connection only: a request on a second one gets no answer. Most timeouts are of this kind;
// those at the end of the load are not, when no other request is answered meanwhile. A service
// that answers nobody, or answers slowly on its other connections, is not known to leave
// connections unaccepted.
func TestTimeoutsBehindAConnectionThatIsKept(t *testing.T) {
	held := func() service {
		busy := time.Duration(0)
		return service{answer: func(at time.Duration, _ int) []piece {
			if at < busy {
				return nil // it came on another connection
			}
			busy = at + 5*ms
			return good(5 * ms)
		}}
	}
	overloaded := func(took time.Duration) service {
		n := 0
		return service{answer: func(time.Duration, int) []piece {
			if n++; n%10 == 0 {
				return nil
			}
			return good(took)
		}}
	}
	for name, c := range map[string]struct {
		service service
		want    float64 // at least this share of the timeouts; 0: none
	}{
		"one connection at a time":           {held(), 0.5},
		"nobody gets an answer":              {service{answer: always()}, 0},
		"some get none, and others wait":     {overloaded(200 * ms), 0},
		"some get none, and others a prompt": {overloaded(20 * ms), 0.01},
	} {
		t.Run(name, func(t *testing.T) {
			sum := total(simulate(t, plan(Load{Open: true, Curve: steady(t, 100, 10*time.Second)}), c.service).run(t))
			share := float64(sum.Unaccepted) / float64(sum.Timeouts)
			if sum.Timeouts < 50 || share < c.want || c.want == 0 && sum.Unaccepted > 0 {
				t.Errorf("%d of %d timeouts, want a share of %v", sum.Unaccepted, sum.Timeouts, c.want)
			}
		})
	}
}
