package engine

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
)

// One user, answers in 100 ms and 150 ms think time: a request each 250 ms, the first
// at once.
func TestThinkTime(t *testing.T) {
	p := plan(Load{Even: true, Curve: steady(t, 1, 2*time.Second)})
	p.Think, p.Interval = 150*ms, 500*ms
	all := simulate(t, p, lasts(100*ms)).run(t)
	checkRows(t, all, []row{
		{0, 500 * ms, signals.Measure, 2, 2, 2, 0, 0, 0},
		{500 * ms, 1000 * ms, signals.Measure, 2, 2, 2, 0, 0, 0},
		{1000 * ms, 1500 * ms, signals.Measure, 2, 2, 2, 0, 0, 0},
		{1500 * ms, 2000 * ms, signals.Measure, 2, 2, 2, 0, 0, 0},
		{2000 * ms, 2001 * ms, signals.Drain, 0, 0, 0, 0, 0, 0},
	}[:len(all)])
	if sum := total(all); sum.Good != 8 || sum.Latency.Max() > 101*ms {
		t.Errorf("%d good, the slowest after %v; want 8 of 100ms: a thought is no latency", sum.Good, sum.Latency.Max())
	}
}

// Users who think 200 ms on average and get answers in 100 ms send 100/0.3
// requests a second; the law of large numbers bounds the error.
func TestMeanThinkTime(t *testing.T) {
	p := plan(Load{Curve: steady(t, 100, 60*time.Second)})
	p.Think, p.Seed = 200*ms, 3
	sum := total(simulate(t, p, lasts(100*ms)).run(t))
	if rate := float64(sum.Good) / 60; rate < 327 || rate > 340 {
		t.Errorf("%.1f requests/s; want 333", rate)
	}
}

// Users leave while they think, and a number of requests ends though some think.
func TestThinkingEnds(t *testing.T) {
	p := plan(Load{Even: true, Requests: 7, Curve: steady(t, 3, schedule.Endless)})
	p.Think = 400 * ms
	all := simulate(t, p, lasts(100*ms)).run(t)
	if sum := total(all); sum.Good != 7 || sum.Intended != 7 {
		t.Errorf("%d good of %d; want 7", sum.Good, sum.Intended)
	}
	if end := all[len(all)-1].end; end < 1100*ms || end > 1110*ms {
		t.Errorf("ended at %v; want 1.1s: 3 at once, 3 at 500ms, one at 1s", end)
	}
}

// Ten arrivals a second, one connection, answers in 980 ms, two may wait: of 20
// those of 50 ms, 150 ms, 250 ms and, when one of them has left, of 1050 ms are
// sent, and the rest is dropped and counted.
func TestRequestsThatMayNotWaitAreDropped(t *testing.T) {
	two, none := 2, 0
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, 2*time.Second)})
	p.Connections, p.Timeout, p.Waiting = 1, 5*time.Second, &two
	sum := total(simulate(t, p, lasts(980*ms)).run(t))
	if sum.Intended != 20 || sum.Sent != 4 || sum.Good != 4 || sum.Dropped != 16 {
		t.Errorf("intended %d, sent %d, good %d, dropped %d; want 20, 4, 4, 16", sum.Intended, sum.Sent, sum.Good, sum.Dropped)
	}
	p.Waiting = &none
	sum = total(simulate(t, p, lasts(980*ms)).run(t))
	if sum.Intended != 20 || sum.Sent != 2 || sum.Dropped != 18 || sum.Latency.Max() > 981*ms {
		t.Errorf("intended %d, sent %d, dropped %d, slowest %v; want 20, 2, 18 and no wait", sum.Intended, sum.Sent, sum.Dropped, sum.Latency.Max())
	}
}

// Requests without a connection are of the kinds of the mix.
func TestRefusedRequestsByKind(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 1000, time.Second)})
	p.Kinds = []Kind{{Weight: 3, Check: checked(wire.Check{}), Name: "a"}, {Weight: 1, Check: checked(wire.Check{}), Name: "b"}}
	p.Targets[0].Requests = append(p.Targets[0].Requests, compiled(wire.Request{Host: "x", Path: "/b"}))
	sum := total(simulate(t, p, service{dial: func(time.Duration, int) (time.Duration, outcome) { return 0, broken }}).run(t))
	a, b := sum.KindOf("a"), sum.KindOf("b")
	if sum.Refused != 1000 || a.Ended+b.Ended != 1000 || b.Ended < 200 || b.Ended > 300 {
		t.Errorf("%d refused, %d of a and %d of b; want 1000, and a quarter of b", sum.Refused, a.Ended, b.Ended)
	}
}

func TestInvalidThinkTimesAndWaits(t *testing.T) {
	one, negative := 1, -1
	open, closed := Load{Open: true, Curve: steady(t, 1, time.Second)}, Load{Curve: steady(t, 1, time.Second)}
	for want, p := range map[string]func() Plan{
		"open and think":     func() Plan { p := plan(open); p.Think = ms; return p },
		"negative thought":   func() Plan { p := plan(closed); p.Think = -ms; return p },
		"closed and waiting": func() Plan { p := plan(closed); p.Waiting = &one; return p },
		"negative waiting":   func() Plan { p := plan(open); p.Waiting = &negative; return p },
	} {
		if p := p(); p.settle() == nil {
			t.Errorf("%s is taken", want)
		}
	}
}
