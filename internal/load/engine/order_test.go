package engine

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/schedule"
)

func TestStopEndsTheLoadAndAwaitsAnswers(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, time.Minute)})
	sim := simulate(t, p, lasts(150*ms))
	sim.at(1500*ms, order{stop: true})
	all := sim.run(t)
	checkRows(t, all, []row{
		{0, 1000 * ms, signals.Measure, 10, 10, 8, 0, 2, 0},
		{1000 * ms, 1500 * ms, signals.Measure, 5, 5, 5, 0, 2, 0},
		{1500 * ms, 1600 * ms, signals.Drain, 0, 0, 2, 0, 0, 0},
	})
}

// Requests that wait when the trial is stopped are dropped and counted.
func TestStopDropsWhatWaits(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 100, time.Minute)})
	p.Connections = 1
	sim := simulate(t, p, lasts(100*ms))
	sim.at(time.Second, order{stop: true})
	sum := total(sim.run(t))
	if sum.Intended != 100 || sum.Good != 10 || sum.Dropped != 90 {
		t.Errorf("intended %d, good %d, dropped %d; want 100, 10, 90", sum.Intended, sum.Good, sum.Dropped)
	}
}

// A stop arrives while 30 requests, late because of a stall, are being sent one after
// another: the rest is dropped, and nothing is sent twice.
func TestStopInTheMiddleOfSending(t *testing.T) {
	s := lasts(ms)
	s.cost = 100 * time.Microsecond
	sim := simulate(t, plan(*even(t, 1000, time.Minute)), s)
	w := sim.worlds[0]
	w.at(startAt+400*ms, func() { sim.engine.orders.add(order{stop: true, at: startAt + 530*ms + 500*time.Microsecond}) })
	w.at(startAt+500*ms, func() { w.clock += 30 * ms })
	sum := total(sim.run(t))
	if sum.Dropped < 20 || sum.Dropped > 28 || sum.Intended != sum.Good+sum.Dropped {
		t.Errorf("intended %d, good %d, dropped %d; want some 25 dropped", sum.Intended, sum.Good, sum.Dropped)
	}
}

func TestStopInTheWarmup(t *testing.T) {
	p := plan(Load{Curve: steady(t, 2, time.Minute)})
	p.Warmup = 10 * time.Second
	sim := simulate(t, p, lasts(150*ms))
	sim.at(1100*ms, order{stop: true})
	checkRows(t, sim.run(t), []row{
		{0, 1000 * ms, signals.Warmup, 14, 14, 12, 0, 2, 0},
		{1000 * ms, 1100 * ms, signals.Warmup, 2, 2, 2, 0, 2, 0},
		{1100 * ms, 1200 * ms, signals.Drain, 0, 0, 0, 2, 0, 0},
	})
}

// A stop before the start ends the trial at its start.
func TestStopBeforeTheStart(t *testing.T) {
	sim := simulate(t, plan(Load{Curve: steady(t, 2, time.Minute)}), lasts(ms))
	sim.engine.orders.add(order{stop: true, at: 0})
	all := sim.run(t)
	if sum := total(all); sum.Intended != 0 || len(all) != 1 || all[0].phase != signals.Drain {
		t.Errorf("%+v; want one interval of drain without a request", rows(all))
	}
}

// The load changes within an interval: the intervals continue unchanged, and the end
// moves.
func TestChangeOfRate(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, 2*time.Second)})
	sim := simulate(t, p, lasts(10*ms))
	next := Load{Open: true, Even: true, Curve: steady(t, 100, 1200*ms)}
	sim.at(1500*ms, order{load: &next})
	all := sim.run(t)
	checkRows(t, all, []row{
		{0, 1000 * ms, signals.Measure, 10, 10, 10, 0, 0, 0},
		{1000 * ms, 2000 * ms, signals.Measure, 5 + 50, 55, 54, 0, 1, 0},
		{2000 * ms, 2700 * ms, signals.Measure, 70, 70, 70, 0, 1, 0},
		{2700 * ms, 2705 * ms, signals.Drain, 0, 0, 1, 0, 0, 0},
	})
	if all[1].Rate != 100 {
		t.Errorf("rate %v at the end of the interval with the change; want 100", all[1].Rate)
	}
}

// More users than before get connections of their own; fewer leave as their
// requests end.
func TestChangeOfUsers(t *testing.T) {
	p := plan(Load{Curve: steady(t, 2, time.Minute)})
	sim := simulate(t, p, lasts(100*ms))
	more := Load{Curve: steady(t, 5, time.Minute)}
	fewer := Load{Curve: steady(t, 1, 1050*ms)}
	sim.at(1050*ms, order{load: &more})
	sim.at(2000*ms, order{load: &fewer})
	all := sim.run(t)
	checkRows(t, all, []row{
		{0, 1000 * ms, signals.Measure, 20, 20, 18, 0, 2, 0},
		{1000 * ms, 2000 * ms, signals.Measure, 20 + 30, 50, 20 + 27, 0, 5, 0},
		{2000 * ms, 3000 * ms, signals.Measure, 10, 10, 5 + 9, 0, 1, 0},
		{3000 * ms, 3050 * ms, signals.Measure, 0, 0, 0, 0, 1, 0},
		{3050 * ms, 3050*ms + 1, signals.Drain, 0, 0, 1, 0, 0, 0},
	})
	if sum := total(all); sum.Connects != 5 {
		t.Errorf("%d connections; want 5", sum.Connects)
	}
}

// A change during the warm-up neither ends nor restarts it.
func TestChangeInTheWarmup(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, time.Minute)})
	p.Warmup = 2 * time.Second
	sim := simulate(t, p, lasts(10*ms))
	next := Load{Open: true, Even: true, Curve: steady(t, 20, 2*time.Second)}
	sim.at(time.Second, order{load: &next})
	checkRows(t, sim.run(t), []row{
		{0, 1000 * ms, signals.Warmup, 10, 10, 10, 0, 0, 0},
		{1000 * ms, 2000 * ms, signals.Warmup, 20, 20, 20, 0, 0, 0},
		{2000 * ms, 3000 * ms, signals.Measure, 20, 20, 20, 0, 0, 0},
	})
}

// After a stop a change comes too late.
func TestChangeAfterStop(t *testing.T) {
	sim := simulate(t, plan(Load{Curve: steady(t, 1, time.Minute)}), lasts(150*ms))
	sim.at(time.Second, order{stop: true})
	sim.at(time.Second, order{load: &Load{Curve: steady(t, 9, time.Minute)}})
	sim.at(1100*ms, order{load: &Load{Curve: steady(t, 9, time.Minute)}})
	all := sim.run(t)
	if last := all[len(all)-1]; last.phase != signals.Drain || last.end != 1050*ms {
		t.Errorf("the last interval is a %s one until %v; want drain until 1.05s", last.phase, last.end)
	}
}

func TestQuitEndsAtOnce(t *testing.T) {
	sim := simulate(t, plan(Load{Curve: steady(t, 3, time.Minute)}), lasts(100*ms))
	w := sim.worlds[0]
	w.at(startAt+1050*ms, func() { sim.engine.orders.add(order{quit: true, at: startAt + 1050*ms}) })
	full := make(chan handover, 100)
	spare := make(chan *tally, 1)
	spare <- newTally()
	l := newLoop(w, &sim.plan, 0, sim.first, spare, full)
	l.run()
	if w.clock != startAt+1050*ms {
		t.Errorf("the loop ended at %v; want 1.05s after the start", w.clock-startAt)
	}
	sim.engine.full, sim.engine.spare = []chan handover{full}, []chan *tally{spare}
	if err := sim.engine.collect(epoch, func(*Interval) error { return nil }); err != errQuit {
		t.Errorf("collect says %v; want %v", err, errQuit)
	}
}

func TestInvalidPlans(t *testing.T) {
	fine := func() Plan { return plan(Load{Curve: steady(t, 3, time.Minute)}) }
	for name, spoil := range map[string]func(*Plan){
		"no target":                     func(p *Plan) { p.Targets = nil },
		"no load":                       func(p *Plan) { p.Load.Curve = nil },
		"no timeout":                    func(p *Plan) { p.Timeout = 0 },
		"no interval":                   func(p *Plan) { p.Interval = 0 },
		"negative warm-up":              func(p *Plan) { p.Warmup = -1 },
		"agent beyond the agents":       func(p *Plan) { p.Agent = 1 },
		"no agents":                     func(p *Plan) { p.Agents = 0 },
		"negative connections":          func(p *Plan) { p.Connections = -1 },
		"absurdly many connections":     func(p *Plan) { p.Connections = 1 << 30 },
		"fewer connections than agents": func(p *Plan) { p.Agents, p.Connections = 3, 2 },
		"requests in an open loop":      func(p *Plan) { p.Load.Open, p.Load.Requests = true, 10 },
		"requests after a warm-up":      func(p *Plan) { p.Warmup, p.Load.Requests = 1, 10 },
		"requests of nobody":            func(p *Plan) { p.Load = Load{Curve: steady(t, 0.5, 1), Requests: 10} },
		"negative requests":             func(p *Plan) { p.Load.Requests = -1 },
		"no end":                        func(p *Plan) { p.Load.Curve = steady(t, 1, schedule.Endless) },
	} {
		t.Run(name, func(t *testing.T) {
			p := fine()
			spoil(&p)
			if err := p.settle(); err == nil {
				t.Error("want an error")
			}
		})
	}
}

func TestDefaultConnections(t *testing.T) {
	closed := func(users float64) Load { return Load{Curve: steady(t, users, time.Second)} }
	open := func(rate float64) Load { return Load{Open: true, Curve: steady(t, rate, time.Second)} }
	for name, c := range map[string]struct {
		load    Load
		targets int
		asked   int
		want    int
	}{
		"as many as users":                    {closed(50), 1, 0, 50},
		"as asked":                            {closed(50), 1, 7, 7},
		"a slow open loop":                    {open(10), 1, 0, 64},
		"a tenth of the rate":                 {open(5000), 1, 0, 500},
		"a fast open loop":                    {open(1e6), 1, 0, 1024},
		"rounded to a multiple of the target": {open(10), 3, 0, 66},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(c.load)
			p.Connections = c.asked
			p.Targets = make([]Target, c.targets)
			if got := p.connections(c.load); got != c.want {
				t.Errorf("%d connections; want %d", got, c.want)
			}
		})
	}
}

// Users that a change at the end of the warm-up releases start requests that count, and
// these are due within the trial's first counted interval.
func TestAChangeAtTheEndOfTheWarmup(t *testing.T) {
	p := plan(Load{Curve: steady(t, 2, time.Second)})
	p.Connections, p.Warmup = 1, 100*ms
	sim := simulate(t, p, lasts(70*ms))
	sim.at(100*ms, order{load: &Load{Curve: steady(t, 2, time.Second)}, drop: true})
	sum := total(sim.run(t), signals.Measure, signals.Drain)
	if sum.Intended == 0 || sum.Intended != sum.Ended()+sum.Dropped {
		t.Errorf("%d requests were intended; %d ended and %d were dropped", sum.Intended, sum.Ended(), sum.Dropped)
	}
}

// The clock of the agent is behind that of the lab, or was set back: the trial would begin
// much later, and its lab would wait.
func TestAStartFarInTheFutureIsRefused(t *testing.T) {
	e := &Engine{zero: time.Now(), orders: newOrders()}
	for in, refused := range map[time.Duration]bool{time.Hour: true, 2 * time.Second: false, -time.Hour: true} {
		if err := e.Start(time.Now().Add(in).Round(0)); (err != nil) != refused {
			t.Errorf("in %v: %v", in, err)
		}
	}
}
