package engine

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/millicore/millicore/internal/data/signals"
)

// A step contains its lower bound, and is narrower than 1%.
func TestStepsOfLatencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "latency"))
		i := step(d)
		low, high := least(i), least(i+1)
		if d < low || d >= high || step(low) != i || high-low > max(low/100, time.Microsecond) {
			t.Errorf("%v lies in step %d, from %v to %v", d, i, low, high)
		}
	})
	for _, d := range []time.Duration{time.Hour, -1} {
		if i := step(d); i < 0 || i >= len((&counts{}).of) {
			t.Errorf("%v lies in step %d of %d", d, i, len((&counts{}).of))
		}
	}
}

func TestP95OfCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Minute)), enough, 300).Draw(t, "latencies")
		c := &counts{}
		for _, d := range all {
			c.add(time.Duration(d))
		}
		slices.Sort(all)
		want := time.Duration(all[int(math.Ceil(0.95*float64(len(all))))-1])
		if got := c.p95(); got > want || got < want-want/100-time.Microsecond {
			t.Errorf("p95 of %d is %v; want %v, rounded down", len(all), got, want)
		}
	})
}

// seen is an interval of a bar's input: a number of requests of the same latency.
type seen struct {
	n       int
	latency time.Duration
}

func TestTheRunningP95(t *testing.T) {
	times := func(n int, s ...seen) []seen { return slices.Repeat(s, n) }
	for name, c := range map[string]struct {
		seen []seen
		want time.Duration
	}{
		"nothing is known":                  {nil, 0},
		"too little is known":               {times(2, seen{9, 100 * ms}), 0},
		"enough in three intervals":         {times(3, seen{9, 100 * ms}), 100 * ms},
		"one interval":                      {times(1, seen{1000, 100 * ms}), 100 * ms},
		"one bad second in half a minute":   {append(times(29, seen{100, 10 * ms}), seen{100, 500 * ms}), 10 * ms},
		"two bad seconds in four":           {append(times(2, seen{100, 10 * ms}), times(2, seen{100, 500 * ms})...), 10 * ms},
		"permanently slow":                  {append(times(1, seen{100, 10 * ms}), times(4, seen{100, 500 * ms})...), 500 * ms},
		"a bad second at first":             {append(times(1, seen{100, 500 * ms}), seen{100, 10 * ms}), 10 * ms},
		"a good second after many bad ones": {append(times(29, seen{100, 500 * ms}), seen{100, 10 * ms}), 10 * ms},
		"a good second of few requests":     {append(times(29, seen{100, 500 * ms}), seen{9, 10 * ms}), 500 * ms},
		"an interval without requests":      {append(times(3, seen{100, 500 * ms}), seen{}), 500 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bar{}
			for _, s := range c.seen {
				for range s.n {
					b.present.add(s.latency)
				}
				b.turn()
			}
			if b.height > c.want || b.height < c.want-c.want/100 {
				t.Errorf("the bar is at %v; want %v", b.height, c.want)
			}
			if b.reset(); b.height != 0 {
				t.Errorf("the bar is at %v for a new load; want 0", b.height)
			}
		})
	}
}

// Orders in which 1,000 requests of 0 to 999 ms may end.
var orderings = map[string]func(r *rand.Rand) []int{
	"by chance":             func(r *rand.Rand) []int { return r.Perm(1000) },
	"the fastest first":     func(*rand.Rand) []int { return count(1000, func(i int) int { return i }) },
	"the slowest first":     func(*rand.Rand) []int { return count(1000, func(i int) int { return 999 - i }) },
	"slow and fast in turn": func(*rand.Rand) []int { return count(1000, func(i int) int { return i * 7 % 1000 }) },
}

func count(n int, f func(int) int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = f(i)
	}
	return all
}

// The slowest are always kept, and each of the others equally often, in any order. The
// seeds are fixed, so the test is deterministic.
func TestASampleIsFair(t *testing.T) {
	const runs, n = 1000, 1000
	for name, order := range orderings {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var kept [n]int
			for range runs {
				s := &sample{}
				for _, latency := range order(r) {
					s.add(span{done: time.Duration(latency) * ms}, r)
				}
				sum := 0.0
				for _, one := range s.appendTo(nil, epoch) {
					latency := (one.Done - one.Intended) / int64(ms)
					kept[latency]++
					sum += one.For
					if want := 1.0; latency >= n-keptSlowest && one.For != want {
						t.Fatalf("one of the slowest stands for %v; want itself", one.For)
					}
				}
				if math.Abs(sum-n) > 1e-9*n {
					t.Fatalf("the kept stand for %v; want %d", sum, n)
				}
			}
			chance := float64(keptOthers) / (n - keptSlowest)
			want, deviation := runs*chance, math.Sqrt(runs*chance*(1-chance))
			for latency, times := range kept {
				switch {
				case latency >= n-keptSlowest:
					if times != runs {
						t.Errorf("%d ms was kept %d times of %d; it is one of the slowest", latency, times, runs)
					}
				case math.Abs(float64(times)-want) > 5*deviation:
					t.Errorf("%d ms was kept %d times; want %.0f, within 5 times %.0f", latency, times, want, deviation)
				}
			}
		})
	}
}

func TestASampleDoesNotAllocate(t *testing.T) {
	s, r := &sample{}, rand.New(rand.NewPCG(1, 2))
	b := &bar{}
	if n := testing.AllocsPerRun(2000, func() {
		one := span{done: time.Duration(r.Int64N(int64(time.Second)))}
		b.present.add(one.latency())
		s.add(one, r)
	}); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
	if n := testing.AllocsPerRun(20, b.turn); n != 0 {
		t.Errorf("%v allocations an interval", n)
	}
}

// slow is a slow request with times relative to the trial's start.
type slow struct {
	replica                   int
	intended, sent, done, lag time.Duration
	timedOut                  bool
}

// slows returns the slow requests of an interval by when they were intended.
func slows(i interval) (all []slow) {
	since := func(at int64) time.Duration { return time.Unix(0, at).Sub(epoch) }
	for _, s := range i.Slow {
		all = append(all, slow{s.Replica, since(s.Intended), since(s.Sent), since(s.Done), time.Duration(s.Lag), s.TimedOut})
	}
	slices.SortFunc(all, func(a, b slow) int { return cmp.Compare(a.intended, b.intended) })
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
			if want := (slow{intended: at, sent: at, done: at + 150*ms}); s != want {
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
			late = slices.DeleteFunc(late, func(s slow) bool { return s.sent == s.intended })
			late = slices.DeleteFunc(late, func(s slow) bool { return s.intended > 1800*ms && s.lag == 0 })
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
	if first.SlowSeen != first.Good || len(first.Slow) != 2*(keptSlowest+keptOthers) {
		t.Errorf("%d kept of %d slow requests of %d; want %d of all", len(first.Slow), first.SlowSeen, first.Good, 2*(keptSlowest+keptOthers))
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
	case i.SlowSeen > timed || timeouts > i.Timeouts || len(i.Slow) > p.Threads*(keptSlowest+keptOthers):
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
		l.bar.present.add(latencies[i])
	}
	l.bar.turn()
	for i := 0; b.Loop(); i++ {
		s.sent = l.now - latencies[i%len(latencies)]
		s.intended = s.sent
		l.now += time.Microsecond
		l.count(s, answered, l.now)
	}
	b.ReportMetric(float64(l.tally.SlowSeen)/float64(b.N), "slow/op")
}
