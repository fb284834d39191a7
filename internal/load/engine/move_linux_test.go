package engine

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
	"github.com/millicore/millicore/test/testkit"
)

// Connections move to new replicas and away from those that have gone, without failed
// or additional requests.
func TestMove(t *testing.T) {
	for name, load := range map[string]Load{
		"open":   *even(t, 120, 5*time.Second),
		"closed": {Curve: steady(t, 12, 5*time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(load)
			p.Targets, p.Connections = replicas(2), 12
			seen := perSecond{}
			sim := simulate(t, p, seen.service(100*ms))
			sim.at(1000*ms, order{targets: replicas(3)})
			sim.at(3000*ms, order{targets: replicas(4, 0, 2)})
			all := sim.run(t)
			sum := total(all)
			if sum.Bad() != 0 || sum.Dropped != 0 || sum.Good != sum.Intended || sum.Good < 590 {
				t.Errorf("good %d of %d, bad %d, dropped %d", sum.Good, sum.Intended, sum.Bad(), sum.Dropped)
			}
			seen.check(t, map[time.Duration]string{0: "[60 60]", 2 * time.Second: "[40 40 40]", 4 * time.Second: "[0 60 0 60]"})
			// Twelve at first; of 0 1 0 1 0 1 … those eight that become 0 1 2 0 1 2 …
			// otherwise; and of these those nine that become 1 3 1 3 1 3 ….
			if sum.Connects < 12+8+6 || sum.Connects > 12+8+12 {
				t.Errorf("%d connections were made", sum.Connects)
			}
		})
	}
}

// The connections of a replica that has gone are closed: their requests are cut off,
// and it gets no more requests.
func TestMoveFromReplicasThatEnd(t *testing.T) {
	p := plan(*even(t, 100, 3*time.Second))
	p.Targets, p.Connections = replicas(2), 4
	seen := perSecond{}
	s := seen.service(5 * ms)
	whole := s.answer
	s.answer = func(at time.Duration, target int) []piece {
		if target == 1 && at > startAt+980*ms {
			return []piece{{after: ms, end: broken}}
		}
		return whole(at, target)
	}
	s.dial = func(at time.Duration, target int) (time.Duration, outcome) {
		if target == 1 && at > startAt+time.Second {
			t.Errorf("the target that has gone is dialed at %v", at-startAt)
		}
		return 0, succeeded
	}
	sim := simulate(t, p, s)
	sim.at(1000*ms, order{targets: replicas(2, 1)})
	sum := total(sim.run(t))
	if sum.Good+sum.Cut != 300 || sum.Cut == 0 || sum.Cut > 3 {
		t.Errorf("good %d, cut %d; want all of 300, and hardly one cut", sum.Good, sum.Cut)
	}
	seen.check(t, map[time.Duration]string{2 * time.Second: "[100]"})
}

// A new connection to a replica that goes meanwhile is replaced by one to another
// replica.
func TestMoveDuringARedial(t *testing.T) {
	p := plan(*even(t, 100, 3*time.Second))
	p.Targets, p.Connections = replicas(2), 40 // so that most have nothing to do
	seen := perSecond{}
	s := seen.service(5 * ms)
	whole := s.answer
	s.answer = func(at time.Duration, target int) []piece {
		if target == 1 && at > startAt+900*ms {
			return append(whole(at, target), piece{after: 10 * ms, end: ended}) // while no request is in flight
		}
		return whole(at, target)
	}
	s.dial = func(at time.Duration, target int) (time.Duration, outcome) {
		if target == 1 && at > startAt+900*ms {
			return 500 * ms, succeeded // it still listens, but accepts slowly
		}
		return 0, succeeded
	}
	sim := simulate(t, p, s)
	sim.at(1000*ms, order{targets: replicas(2, 1)})
	sum := total(sim.run(t))
	if sum.Good+sum.Cut != 300 || sum.Cut > 3 {
		t.Errorf("good %d, cut %d; want all of 300, and hardly one cut", sum.Good, sum.Cut)
	}
	seen.check(t, map[time.Duration]string{2 * time.Second: "[100]"})
}

// A move may precede the start of the trial, and each agent's connections keep their
// indices among all connections.
func TestMoveBeforeTheStart(t *testing.T) {
	p := plan(*even(t, 60, time.Second))
	p.Targets, p.Connections, p.Agents, p.Agent = replicas(1), 12, 2, 1
	seen := perSecond{}
	sim := simulate(t, p, seen.service(10*ms))
	sim.engine.orders = newOrders()
	sim.first = sim.engine.orders.newest()
	sim.engine.orders.add(order{targets: replicas(3), at: startAt - time.Second})
	sim.engine.orders.add(order{start: true, at: startAt})
	sim.run(t)
	total := 0
	for _, n := range seen[0] {
		total += n
	}
	if total != 30 || len(seen[0]) != 3 {
		t.Errorf("the targets got %v", seen[0])
	}
}

func TestInvalidMoves(t *testing.T) {
	p := plan(*even(t, 1, time.Second))
	p.Targets = replicas(2)
	sim := simulate(t, p, lasts(ms))
	sim.engine.targets = 2
	two := Target{Requests: make([]*wire.Template, 2)}
	for want, targets := range map[string][]Target{
		"no targets":          replicas(2, 0, 1),
		"keep their indices":  replicas(1),
		"2 requests of 1 kin": {two, two},
	} {
		if err := sim.engine.Move(targets); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if err := sim.engine.Move(replicas(3, 0)); err != nil {
		t.Error(err)
	}
}

// Over each transport a second service gets its share when it is added, and all
// requests after the first has gone.
func TestMoveOnTransports(t *testing.T) {
	plain := way{"HTTP/1.1", Transport{}, func(t *testing.T, h http.Handler) Target { return plainServer(t, h) }}
	for _, w := range append([]way{plain}, ways...) {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			var counts [2]atomic.Int64
			count := func(i int) http.Handler {
				return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { counts[i].Add(1) })
			}
			first, second := w.start(t, count(0)), w.start(t, count(1))
			p := planOf(t, first, w.transport, 0, wire.Request{})
			p.Load = Load{Curve: curve(t, schedule.Stage{Length: time.Minute, From: 4, To: 4})}
			first, second.Requests = p.Targets[0], p.Targets[0].Requests
			e, err := Open(p)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			ended := make(chan error, 1)
			go func() { ended <- e.Run(time.Now(), func(*Interval) error { return nil }) }()
			more := func(i int) {
				t.Helper()
				from := counts[i].Load()
				testkit.Until(t, fmt.Sprintf("service %d gets 20 more requests", i), func() bool { return counts[i].Load() >= from+20 })
			}
			more(0)
			if err := e.Move([]Target{first, second}); err != nil {
				t.Fatal(err)
			}
			more(1)
			more(0)
			if err := e.Move([]Target{{Gone: true}, second}); err != nil {
				t.Fatal(err)
			}
			more(1)
			testkit.Until(t, "the service that has gone gets no requests", func() bool {
				before := counts[0].Load()
				more(1)
				return counts[0].Load() == before
			})
			e.Stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

func plainServer(t *testing.T, h http.Handler) Target {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return Target{Addr: netip.MustParseAddrPort(s.Listener.Addr().String()), Name: "example.com"}
}
