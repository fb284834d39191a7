package engine

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/slow"
)

// slowOne is a slow request with times relative to the trial's start.
type slowOne struct {
	replica                   int
	intended, sent, done, lag time.Duration
	timedOut                  bool
}

// slows returns the slow requests of an interval by when they were intended.
func slows(i interval) (all []slowOne) {
	since := func(at int64) time.Duration { return time.Unix(0, at).Sub(epoch) }
	for _, s := range i.Slow {
		all = append(all, slowOne{s.Replica, since(s.Intended), since(s.Sent), since(s.Done), time.Duration(s.Lag), s.TimedOut})
	}
	slices.SortFunc(all, func(a, b slowOne) int { return cmp.Compare(a.intended, b.intended) })
	return all
}

// 10/s, answers in 150 ms: until there are enough requests, every request is kept,
// except those of the warm-up.
func TestSlowRequestsHaveTheirTimes(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, 3*time.Second)})
	p.Warmup = time.Second
	all := simulate(t, p, lasts(150*ms)).run(t)
	if len(all[0].Slow) != 0 || all[0].SlowSeen != 0 {
		t.Errorf("%d slow requests in the warm-up; want none", all[0].SlowSeen)
	}
	for i, first := range map[int]time.Duration{1: 1050 * ms, 2: 1850 * ms} {
		got := slows(all[i])
		if int64(len(got)) != all[i].Good || all[i].SlowSeen != all[i].Good {
			t.Fatalf("interval %d: %d kept of %d; want all %d", i, len(got), all[i].SlowSeen, all[i].Good)
		}
		for k, s := range got {
			at := first + time.Duration(k)*100*ms
			if want := (slowOne{intended: at, sent: at, done: at + 150*ms}); s != want {
				t.Errorf("interval %d: %+v; want %+v", i, s, want)
			}
		}
	}
}

// One of two replicas needs 100 ms instead of one: once that is known, its
// requests are the slow ones.
func TestSlowRequestsHaveTheirReplica(t *testing.T) {
	s := service{answer: func(_ time.Duration, target int) []piece {
		return good([]time.Duration{ms, 100 * ms}[target])
	}}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 100, 10*time.Second)})
	p.Targets = append(p.Targets, p.Targets[0])
	p.Targets[1].Replica = 1
	for _, i := range simulate(t, p, s).run(t)[1:10] {
		if i.SlowSeen < 40 {
			t.Errorf("interval %d: %d slow requests; want about 50", i.seq, i.SlowSeen)
		}
		for _, s := range slows(i) {
			if s.replica != 1 || s.done-s.sent != 100*ms {
				t.Errorf("interval %d: %+v is slow; want those of replica 1 only", i.seq, s)
			}
		}
	}
}

// Half of the requests time out, all after the same time: none is omitted for being
// exactly as slow as the p95.
func TestTimeoutsAreSlowRequests(t *testing.T) {
	n := 0
	s := service{answer: func(time.Duration, int) []piece {
		if n++; n%2 == 0 {
			return nil
		}
		return good(ms)
	}}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 100, 10*time.Second)})
	p.Connections = 200
	for _, i := range simulate(t, p, s).run(t)[5:10] { // the first second sees no timeout
		late := 0
		for _, s := range slows(i) {
			if s.timedOut {
				late++
				if s.done-s.sent != p.Timeout {
					t.Errorf("%+v timed out", s)
				}
			}
		}
		if i.Timeouts != 50 || late != 50 || i.SlowSeen != 50 {
			t.Errorf("interval %d: %d timeouts, %d kept, %d slow requests; want 50", i.seq, i.Timeouts, late, i.SlowSeen)
		}
	}
}

// The agent is stopped from 1505 ms, when a request is due, to 1800 ms. The lag of
// requests that become due in this time includes the stall, even if they then queue for
// connections, but not the queueing.
func TestLagIsTheDelayOfTheAgent(t *testing.T) {
	for name, c := range map[string]struct {
		connections int
		last        time.Duration // when the last late request was sent
	}{
		"connections enough": {64, 1800 * ms},
		"four connections":   {4, 1807 * ms},
		"one connection":     {1, 1829 * ms}, // 30 requests of a millisecond each
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(Load{Open: true, Even: true, Curve: steady(t, 100, 3*time.Second)})
			p.Connections = c.connections
			sim := simulate(t, p, lasts(ms))
			w := sim.worlds[0]
			w.at(startAt+1500*ms, func() { w.clock += 300 * ms })
			late := slows(sim.run(t)[1])
			late = slices.DeleteFunc(late, func(s slowOne) bool { return s.sent == s.intended })
			late = slices.DeleteFunc(late, func(s slowOne) bool { return s.intended > 1800*ms && s.lag == 0 })
			if len(late) != 30 || late[0].intended != 1505*ms || late[29].sent != c.last {
				t.Fatalf("%d late requests; want 30 from 1505ms on, the last sent at %v: %+v", len(late), c.last, late)
			}
			for _, s := range late {
				if want := 1800*ms - s.intended; s.lag != want {
					t.Errorf("%+v; want a lag of %v", s, want)
				}
			}
		})
	}
}

// After a change to a lower load its own slow requests are kept from the first one on,
// even if those of the previous load were slower.
func TestAChangeResetsTheSample(t *testing.T) {
	s := service{answer: func(at time.Duration, _ int) []piece {
		if at < startAt+5*time.Second {
			return good(800 * ms)
		}
		return good(ms)
	}}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 100, time.Hour)})
	p.Connections = 200
	sim := simulate(t, p, s)
	sim.at(5100*ms, order{load: &Load{Open: true, Even: true, Curve: steady(t, 50, 3*time.Second)}})
	all := sim.run(t)
	// Until 5100 ms none is as slow as those before; those end until 5795.
	if i := all[5]; i.SlowSeen != 80+45 || i.Good != 10+80+45 {
		t.Errorf("%d slow requests of %d; want the 80 old ones and 45", i.SlowSeen, i.Good)
	}
	if i := all[6]; i.SlowSeen != 50 {
		t.Errorf("%d slow requests; want 50, all equally slow", i.SlowSeen)
	}
}

// A hundred thousand requests/s: the memory is bounded, and the sum is exact.
func TestTheSampleIsBounded(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 100_000, time.Second)})
	p.Threads, p.Interval = 2, 500*ms
	all := simulate(t, p, lasts(ms)).run(t)
	first := all[0]
	if first.SlowSeen != first.Good || len(first.Slow) != 2*slow.Kept {
		t.Errorf("%d kept of %d slow requests of %d; want %d of all", len(first.Slow), first.SlowSeen, first.Good, 2*slow.Kept)
	}
	for _, i := range all {
		checkSlow(t, p, 0, i)
	}
}

// failer is what *testing.T and *rapid.T share.
type failer interface {
	Errorf(format string, args ...any)
}

// checkSlow checks the properties of the slow requests of any interval.
func checkSlow(t failer, p Plan, cost time.Duration, i interval) {
	sum, timeouts := 0.0, int64(0)
	for _, s := range slows(i) {
		if s.timedOut {
			timeouts++
		}
		if s.intended > s.sent || s.sent > s.done || s.lag < 0 || s.lag > s.sent-s.intended {
			t.Errorf("interval %d: %+v: not in order", i.seq, s)
		}
		if s.done < i.start || s.done > i.end || s.intended < p.Warmup {
			t.Errorf("interval %d, %v to %v, has %+v", i.seq, i.start, i.end, s)
		}
		if s.replica < 0 || s.replica >= len(p.Targets) || cost == 0 && s.lag > 0 {
			t.Errorf("interval %d: %+v of %d replicas", i.seq, s, len(p.Targets))
		}
	}
	for _, s := range i.Slow {
		sum += s.For
	}
	timed := i.Good + i.Timeouts
	switch {
	case math.Abs(sum-float64(i.SlowSeen)) > 1e-9*sum:
		t.Errorf("interval %d: the kept stand for %v of %d", i.seq, sum, i.SlowSeen)
	case i.SlowSeen > timed || timeouts > i.Timeouts || len(i.Slow) > p.Threads*slow.Kept:
		t.Errorf("interval %d: %d kept of %d slow requests of %d, %d of %d timeouts", i.seq, len(i.Slow), i.SlowSeen, timed, timeouts, i.Timeouts)
	case i.phase == signals.Warmup && i.SlowSeen > 0:
		t.Errorf("interval %d: %d slow requests in the warm-up", i.seq, i.SlowSeen)
	}
}

// The cost of counting a request, which is sometimes slow.
func BenchmarkCount(b *testing.B) {
	p := plan(Load{Open: true, Curve: steady(b, 1000, time.Hour)})
	p.Threads = 1
	spare := make(chan *tally, 1)
	spare <- newTally()
	l := newLoop(&world{tb: b}, &p, 0, newOrders().newest(), spare, nil)
	l.quota, l.zero, l.phase = -1, 0, signals.Measure
	s := &slot{}
	s.answer.Begin(false, nil)
	if _, whole, err := s.answer.Read([]byte(good(0)[0].bytes)); !whole || err != nil {
		b.Fatal(whole, err)
	}
	latencies := make([]time.Duration, 4096)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range latencies {
		latencies[i] = time.Duration(r.ExpFloat64() * 1e6)
		l.bar.Add(latencies[i])
	}
	l.bar.Turn()
	for i := 0; b.Loop(); i++ {
		s.sent = l.now - latencies[i%len(latencies)]
		s.intended = s.sent
		l.now += time.Microsecond
		l.count(s, answered, l.now)
	}
	b.ReportMetric(float64(l.tally.SlowSeen)/float64(b.N), "slow/op")
}
