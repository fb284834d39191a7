package engine

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/schedule"
)

// even is an open load of one rate.
func even(tb testing.TB, rate float64, length time.Duration) *Load {
	tb.Helper()
	return &Load{Open: true, Even: true, Curve: steady(tb, rate, length)}
}

// One connection, answers in 100 ms, 100/s: of 150 requests due by 1500 ms, 15 were
// sent. The others are dropped, the one in flight is awaited, there is no load for a
// while, and then the new load starts.
func TestDropThenContinue(t *testing.T) {
	p := plan(*even(t, 100, time.Minute))
	p.Connections = 1
	sim := simulate(t, p, lasts(100*ms))
	sim.at(1500*ms, order{load: even(t, 0, time.Minute), drop: true})
	sim.at(3000*ms, order{load: even(t, 10, time.Second)})
	all := sim.run(t)
	checkRows(t, all, []row{
		{0, 1000 * ms, signals.Measure, 100, 10, 9, 0, 1, 90},
		{1000 * ms, 2000 * ms, signals.Measure, 50, 5, 6, 0, 0, 0},
		{2000 * ms, 3000 * ms, signals.Measure, 0, 0, 0, 0, 0, 0},
		{3000 * ms, 4000 * ms, signals.Measure, 10, 10, 9, 0, 1, 0},
		{4000 * ms, 4050 * ms, signals.Drain, 0, 0, 1, 0, 0, 0},
	})
	for i, want := range []int64{0, 135, 0, 0, 0} {
		if all[i].Dropped != want {
			t.Errorf("interval %d: %d dropped; want %d", i, all[i].Dropped, want)
		}
	}
	if all[1].Rate != 0 || all[3].Rate != 10 {
		t.Errorf("rates %v and %v; want 0 and 10", all[1].Rate, all[3].Rate)
	}
}

// Without drop, requests that wait when the rate is set to zero are still sent.
func TestWithoutDropTheBacklogIsServed(t *testing.T) {
	p := plan(*even(t, 100, time.Minute))
	p.Connections = 1
	sim := simulate(t, p, lasts(100*ms))
	sim.at(1000*ms, order{load: even(t, 0, 20*time.Second)})
	all := sim.run(t)
	if sum := total(all); sum.Intended != 100 || sum.Good != 100 || sum.Dropped != 0 {
		t.Errorf("intended %d, good %d, dropped %d; want 100, 100, 0", sum.Intended, sum.Good, sum.Dropped)
	}
	if all[1].Waiting != 80 || all[1].InFlight != 1 {
		t.Errorf("%d wait and %d are in flight a second later; want 80, 1", all[1].Waiting, all[1].InFlight)
	}
}

// Requests that wait for a new connection are dropped too; the connections serve the
// next load.
func TestDropIncludesRequestsThatWaitForADial(t *testing.T) {
	s := lasts(150 * ms)
	s.dial = func(time.Duration, int) (time.Duration, outcome) { return 400 * ms, succeeded }
	sim := simulate(t, plan(*even(t, 10, time.Minute)), s)
	sim.at(300*ms, order{load: even(t, 0, time.Minute), drop: true})
	sim.at(1000*ms, order{load: even(t, 10, time.Second)})
	all := sim.run(t)
	checkRows(t, all, []row{
		{0, 1000 * ms, signals.Measure, 3, 0, 0, 0, 0, 0},
		{1000 * ms, 2000 * ms, signals.Measure, 10, 10, 8, 0, 2, 0},
		{2000 * ms, 2100 * ms, signals.Drain, 0, 0, 2, 0, 0, 0},
	})
	if sum := total(all); sum.Dropped != 3 || sum.Connects != 3 {
		t.Errorf("%d dropped, %d connections; want 3, 3", sum.Dropped, sum.Connects)
	}
}

// Ten users share two connections. Of the eight who wait, seven leave and one waits
// again; the two requests in flight are awaited.
func TestDropInAClosedLoop(t *testing.T) {
	p := plan(Load{Curve: steady(t, 10, time.Minute)})
	p.Connections = 2
	sim := simulate(t, p, lasts(100*ms))
	sim.at(1050*ms, order{load: &Load{Curve: steady(t, 3, 1950*ms)}, drop: true})
	all := sim.run(t)
	checkRows(t, all, []row{
		{0, 1000 * ms, signals.Measure, 10 + 18, 20, 18, 0, 2, 8},
		{1000 * ms, 2000 * ms, signals.Measure, 2 + 1 + 18, 20, 20, 0, 2, 1},
		{2000 * ms, 3000 * ms, signals.Measure, 20, 20, 20, 0, 2, 1},
		{3000 * ms, 3100 * ms, signals.Drain, 0, 1, 3, 0, 0, 0},
	})
	if all[1].Dropped != 8 || all[1].Users != 3 {
		t.Errorf("%d dropped, %v users; want 8, 3", all[1].Dropped, all[1].Users)
	}
}

// Five users, none, two: users who leave finish their requests.
func TestAllUsersLeaveAndSomeReturn(t *testing.T) {
	sim := simulate(t, plan(Load{Curve: steady(t, 5, time.Minute)}), lasts(100*ms))
	sim.at(1050*ms, order{load: &Load{Curve: steady(t, 0, time.Minute)}, drop: true})
	sim.at(3000*ms, order{load: &Load{Curve: steady(t, 2, time.Second)}})
	checkRows(t, sim.run(t), []row{
		{0, 1000 * ms, signals.Measure, 50, 50, 45, 0, 5, 0},
		{1000 * ms, 2000 * ms, signals.Measure, 5, 5, 10, 0, 0, 0},
		{2000 * ms, 3000 * ms, signals.Measure, 0, 0, 0, 0, 0, 0},
		{3000 * ms, 4000 * ms, signals.Measure, 20, 20, 18, 0, 2, 0},
		{4000 * ms, 4000*ms + 1, signals.Drain, 0, 0, 2, 0, 0, 0},
	})
}

// A user who pauses because of a dead service when the number of users decreases
// returns at most once.
func TestPausingUsersLeave(t *testing.T) {
	sim := simulate(t, plan(Load{Curve: steady(t, 5, time.Minute)}), service{dial: deadDial})
	sim.at(900*ms, order{load: &Load{Curve: steady(t, 0, time.Minute)}, drop: true})
	sim.at(5000*ms, order{load: &Load{Curve: steady(t, 1, time.Second)}})
	all := sim.run(t)
	// Pauses of 10, 20, 40, … ms; those begun at 630 end at 1270.
	for i, want := range []int64{5 * 7, 0, 0, 0, 0} {
		if all[i].Intended != want || all[i].Waiting != 0 || all[i].InFlight != 0 {
			t.Errorf("interval %d: intended %d, %d wait, %d in flight; want %d, 0, 0", i, all[i].Intended, all[i].Waiting, all[i].InFlight, want)
		}
	}
	if l := sim.loops[0]; all[5].Intended < 1 || all[5].Users != 1 || l.active > 1 {
		t.Errorf("%d requests of %v users at last, %d active; want one user", all[5].Intended, all[5].Users, l.active)
	}
}

// A trial that starts without load gets one by a change.
func TestALoadMayBeginAtZero(t *testing.T) {
	sim := simulate(t, plan(Load{Curve: steady(t, 0, time.Minute)}), lasts(100*ms))
	sim.at(1000*ms, order{load: &Load{Curve: steady(t, 2, time.Second)}})
	checkRows(t, sim.run(t), []row{
		{0, 1000 * ms, signals.Measure, 0, 0, 0, 0, 0, 0},
		{1000 * ms, 2000 * ms, signals.Measure, 20, 20, 18, 0, 2, 0},
		{2000 * ms, 2000*ms + 1, signals.Drain, 0, 0, 2, 0, 0, 0},
	})
}

// A day at half a request a second, in intervals of ten minutes: each has its 300
// requests, until a stop ends the load.
func TestALoadOfADay(t *testing.T) {
	const day = 24 * time.Hour
	p := plan(*even(t, 0.5, day))
	p.Interval, p.Connections = 10*time.Minute, 1
	sim := simulate(t, p, lasts(150*ms))
	sim.at(day-5*time.Minute, order{stop: true})
	all := sim.run(t)
	if len(all) != 24*6 {
		t.Fatalf("%d intervals; want %d", len(all), 24*6)
	}
	for i, interval := range all {
		want := int64(300)
		if i == len(all)-1 {
			want = 150
		}
		if interval.phase != signals.Measure || interval.Intended != want || interval.Good != want || interval.start != time.Duration(i)*p.Interval {
			t.Fatalf("interval %d from %v: %s, intended %d, good %d; want %d measured", i, interval.start, interval.phase, interval.Intended, interval.Good, want)
		}
	}
}

// 200,000 requests/s without an end, until a stop, with requests in flight.
func TestAnOpenEndedLoadIsStopped(t *testing.T) {
	p := plan(*even(t, 200_000, 24*time.Hour))
	sim := simulate(t, p, lasts(150*time.Microsecond))
	sim.at(1200*ms, order{stop: true})
	checkRows(t, sim.run(t), []row{
		{0, 1000 * ms, signals.Measure, 200_000, 200_000, 199_970, 0, 30, 0},
		{1000 * ms, 1200 * ms, signals.Measure, 40_000, 40_000, 40_000, 0, 30, 0},
		{1200 * ms, 1200*ms + 147500, signals.Drain, 0, 0, 30, 0, 0, 0},
	})
}

// A load that changes every 2 s for ten minutes: each interval has its requests,
// and the loop is no larger in the end than its largest load needs.
func TestManyChanges(t *testing.T) {
	rates := []float64{10, 200, 0, 40, 1280, 100, 400}
	p := plan(*even(t, rates[0], time.Hour))
	sim := simulate(t, p, lasts(ms))
	const changes = 300
	for i := 1; i <= changes; i++ {
		next := order{load: even(t, rates[i%len(rates)], 24*time.Hour), drop: i%2 == 0}
		sim.at(time.Duration(i)*2*time.Second+500*ms, next)
	}
	sim.at((changes+1)*2*time.Second, order{stop: true})
	all := sim.run(t)
	rate := func(change int) int64 { return int64(rates[change%len(rates)]) }
	for i, interval := range all[3 : 2*changes] {
		change := (i + 3) / 2
		want := rate(change)
		if i%2 == 1 { // the first half of it is the load before
			want = (rate(change-1) + rate(change)) / 2
		}
		ended := interval.Good + interval.Dropped + interval.InFlight - all[i+2].InFlight
		if interval.Intended != want || ended != want || interval.Waiting != 0 {
			t.Errorf("second %d: %d intended, %d ended, %d wait; want %d", i+3, interval.Intended, ended, interval.Waiting, want)
		}
	}
	l := sim.loops[0]
	if n := l.plan.connections(*even(t, 1280, time.Hour)); len(l.slots) != n || l.free != n || len(l.wait.items) > 1024 {
		t.Errorf("%d slots, %d free, a ring of %d to wait in; want %d slots", len(l.slots), l.free, len(l.wait.items), n)
	}
}

// Orders that every reader has read are garbage.
func TestOldOrdersAreDropped(t *testing.T) {
	o := newOrders()
	reader := o.newest()
	var loads []weak.Pointer[Load]
	for i := range 100 {
		load := &Load{Requests: int64(i)}
		loads = append(loads, weak.Make(load))
		o.add(order{load: load, at: time.Duration(100 - i)})
	}
	for i := range 90 {
		reader = reader.next.Load()
		if reader.load.Requests != int64(i) || reader.number != i+1 || reader.at != 100 {
			t.Fatalf("order %d is %d, at %v", i+1, reader.number, reader.at)
		}
	}
	runtime.GC()
	for i, load := range loads {
		if held := load.Value() != nil; held != (i >= 89) {
			t.Errorf("the load of order %d of 100, of which 90 are obeyed: held %v", i+1, held)
		}
	}
	runtime.KeepAlive(o)
	runtime.KeepAlive(reader)
}

// A load that may have 936 more connections opens those that it needs, without delaying
// a request: opening one takes 20 us here.
func TestConnectionsAreAddedWithoutDelay(t *testing.T) {
	s := lasts(ms)
	s.cost = 20 * time.Microsecond
	sim := simulate(t, plan(*even(t, 10, time.Minute)), s)
	sim.at(1000*ms, order{load: even(t, 10_000, time.Second)})
	all := sim.run(t)
	if all[0].Connects != 1 || all[1].OpenConnections < 10 || all[1].OpenConnections > 15 || all[1].Connects != all[1].OpenConnections-1 {
		t.Errorf("%d connections made at first, then %d, %d at once; want 1 and then some 10 more", all[0].Connects, all[1].Connects, all[1].OpenConnections)
	}
	if lag := all[1].SendLag.Max(); lag > 200*time.Microsecond {
		t.Errorf("a request was sent %v late; want no more than a few calls' time", lag)
	}
}

// Each waiting request gets its own connection: 200 users who start together are all
// served immediately.
func TestAwaitedConnectionsAreAddedAtOnce(t *testing.T) {
	sim := simulate(t, plan(Load{Curve: steady(t, 2, time.Minute)}), lasts(100*ms))
	sim.at(1000*ms, order{load: &Load{Curve: steady(t, 200, time.Second)}})
	all := sim.run(t)
	if got := all[1].Latency.Max(); got > 101*ms || all[1].Good != 200*9+2 {
		t.Errorf("%d good answers within %v; want 1802 within 100ms", all[1].Good, got)
	}
}

// All replicas have the same number of connections, even after odd increases.
func TestAddedConnectionsTakeTurns(t *testing.T) {
	p := plan(Load{Curve: steady(t, 5, time.Minute)})
	p.Targets = append(p.Targets, p.Targets[0], p.Targets[0])
	sim := simulate(t, p, lasts(ms))
	for i, users := range []float64{7, 11, 19, 31} {
		sim.at(time.Duration(i+1)*time.Second, order{load: &Load{Curve: steady(t, users, 2*time.Second)}})
	}
	sim.run(t)
	got := make([]int, 3)
	for _, s := range sim.loops[0].slots {
		got[s.target]++
	}
	if got[0] != 11 || got[1] != 10 || got[2] != 10 {
		t.Errorf("%v connections; want 11, 10 and 10", got)
	}
}

func TestInvalidChanges(t *testing.T) {
	e := &Engine{plan: plan(*even(t, 1, 24*time.Hour)), orders: newOrders()}
	if err := e.plan.settle(); err != nil {
		t.Fatal(err)
	}
	for name, load := range map[string]Load{
		"no load":            {},
		"another kind":       {Curve: steady(t, 1, time.Second)},
		"without an end":     *even(t, 1, schedule.Endless),
		"a number":           {Open: true, Curve: steady(t, 1, time.Second), Requests: 1},
		"more than possible": *even(t, 1e9, time.Second),
	} {
		if err := e.Change(load, true); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	if err := e.Change(*even(t, 0, 24*time.Hour), true); err != nil {
		t.Errorf("a rate of zero: %v", err)
	}
}

// A stop at the end of an interval of the warm-up drops requests of the warm-up. They
// are not counted, as those before them are not.
func TestAStopAtTheEndOfAnIntervalOfTheWarmup(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 200, time.Second)})
	p.Warmup, p.Interval, p.Connections, p.Timeout = 140*ms, 20*ms, 1, 75*ms
	sim := simulate(t, p, service{answer: always()})
	sim.at(100*ms, order{stop: true})
	if sum := total(sim.run(t), signals.Measure, signals.Drain); sum.Intended != 0 || sum.Dropped != 0 {
		t.Errorf("%d intended, %d dropped after the warm-up; want none", sum.Intended, sum.Dropped)
	}
}

// A stop at the very end of the load comes too late.
func TestAStopAtTheEndOfTheLoad(t *testing.T) {
	p := plan(Load{Open: true, Curve: steady(t, 0, 100*ms)})
	sim := simulate(t, p, lasts(ms))
	sim.at(100*ms, order{stop: true})
	if all := sim.run(t); len(all) != 1 || all[0].end != 100*ms {
		t.Errorf("%d intervals, the last to %v; want one to 100ms", len(all), all[len(all)-1].end)
	}
}
