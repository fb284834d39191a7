package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/schedule"
	"pgregory.net/rapid"
)

// whim is a service with random behaviour: it answers well or badly, early or late,
// closes connections, does not answer, or refuses.
func whim(seed uint64) service {
	r := rand.New(rand.NewPCG(seed, 0))
	upTo := func(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }
	kindness := r.IntN(20) + 1 // how seldom it misbehaves
	pieces := [][]piece{
		nil,
		{{end: ended}},
		{{end: broken}},
		{{bytes: "HTTP/1.1 200 OK\r\nContent-Le", end: ended}},
		{{bytes: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"}},
		{{bytes: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy"}},
		{{bytes: "HTTP/1.1 200 OK\r\n\r\nxy"}, {after: ms, end: ended}},
		{{bytes: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", end: ended}},
		{{bytes: "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"}},
		{{bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"}, {after: ms, bytes: "0\r\n\r\n"}},
		{{bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n"}},
		{{bytes: "HTTP/1.1 204 None\r\n\r\n"}, {after: ms, bytes: "stray"}},
		{{bytes: "HTTP/1.1 204 None\r\n\r\n"}, {after: ms, end: broken}},
		{{bytes: "HTTP/1.1 204 None\r\n\r\n"}, {after: 2 * ms, end: ended}},
	}
	return service{
		dial: func(time.Duration, int) (time.Duration, outcome) {
			if r.IntN(kindness) > 0 {
				return 0, succeeded
			}
			return []time.Duration{0, upTo(50 * ms), time.Hour}[r.IntN(3)], []outcome{succeeded, broken}[r.IntN(2)]
		},
		answer: func(time.Duration, int) []piece {
			if r.IntN(kindness) > 0 {
				return good(upTo(20*ms) + 1)
			}
			all := append([]piece(nil), pieces[r.IntN(len(pieces))]...)
			if len(all) > 0 {
				all[0].after = upTo(300 * ms)
			}
			return all
		},
	}
}

// whatever draws a plan.
func whatever(t *rapid.T) Plan {
	figure := func(name string, high int) float64 { return float64(rapid.IntRange(0, high).Draw(t, name)) }
	millis := func(name string, low, high int) time.Duration {
		return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * ms
	}
	open := rapid.Bool().Draw(t, "open")
	high := 8
	if open {
		high = 400
	}
	var stages []schedule.Stage
	for range rapid.IntRange(1, 3).Draw(t, "stages") {
		stages = append(stages, schedule.Stage{Length: millis("length", 1, 2000), From: figure("from", high), To: figure("to", high)})
		if last := &stages[len(stages)-1]; rapid.IntRange(0, 4).Draw(t, "rest") == 0 {
			last.From, last.To = 0, 0
		}
	}
	load := Load{Open: open, Even: rapid.Bool().Draw(t, "even")}
	if !open && rapid.Bool().Draw(t, "by number") {
		load.Requests = int64(rapid.IntRange(1, 60).Draw(t, "requests"))
		stages = []schedule.Stage{{Length: schedule.Endless, From: 3, To: 3}}
	}
	var err error
	if load.Curve, err = schedule.NewCurve(stages); err != nil {
		t.Fatal(err)
	}
	p := plan(load)
	p.Targets = append(p.Targets, p.Targets[0])
	p.Threads = rapid.IntRange(1, 3).Draw(t, "threads")
	p.Connections = rapid.IntRange(0, 12).Draw(t, "connections")
	p.Timeout = millis("timeout", 1, 500)
	p.Interval = millis("interval", 20, 1000)
	if load.Requests == 0 {
		p.Warmup = millis("warmup", 0, 700)
	}
	return p
}

// For any behaviour of the service and any orders of the lab, the counts are
// consistent: every request that was due has exactly one outcome, and the intervals
// have no gaps.
func TestAccountsBalance(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := whatever(rt)
		p.Kinds[0].Name = "all"
		s := whim(rapid.Uint64().Draw(rt, "service"))
		s.cost = rapid.SampledFrom([]time.Duration{0, 0, 3 * time.Microsecond, 400 * time.Microsecond}).Draw(rt, "cost")
		sim := simulate(t, p, s)
		p = sim.plan
		if p.Load.Requests == 0 {
			for _, at := range rapid.SliceOfN(rapid.IntRange(2, 3000), 0, 4).Draw(rt, "changes") {
				if next := whatever(rt).Load; next.Open == p.Load.Open && next.Requests == 0 {
					sim.at(time.Duration(at)*ms, order{load: &next, drop: rapid.Bool().Draw(rt, "drop")})
				}
			}
		}
		moves := rapid.SliceOfN(rapid.IntRange(0, 3000), 0, 4).Draw(rt, "moves")
		slices.Sort(moves)
		for i, at := range moves {
			gone := rapid.IntRange(0, i+2).Draw(rt, "gone") // one behind the last: none
			sim.at(time.Duration(at)*ms, order{targets: replicas(i+2, gone)})
			p.Targets = replicas(i + 2)
		}
		stopped := rapid.Bool().Draw(rt, "stops")
		if stopped {
			sim.at(time.Duration(rapid.IntRange(2, 3000).Draw(rt, "stop"))*ms, order{stop: true})
		}
		all := sim.run(t)
		checkTiling(rt, all)
		checkBooks(rt, p, s.cost, total(all, signals.Measure, signals.Drain))
		for _, i := range all {
			checkSlow(rt, p, s.cost, i)
		}
		if sum := total(all); p.Load.Requests > 0 && !stopped && sum.Ended() != p.Load.Requests {
			rt.Errorf("%d requests ended; want %d", sum.Ended(), p.Load.Requests)
		}
	})
}

func checkTiling(t *rapid.T, all []interval) {
	rank := map[signals.Phase]int{signals.Warmup: 0, signals.Measure: 1, signals.Drain: 2}
	end, phase := time.Duration(0), signals.Warmup
	for i, interval := range all {
		if interval.seq != i || interval.start != end || interval.end <= interval.start || rank[interval.phase] < rank[phase] {
			t.Errorf("interval %d: number %d, %v to %v, %s, after %v, %s",
				i, interval.seq, interval.start, interval.end, interval.phase, end, phase)
		}
		end, phase = interval.end, interval.phase
		timed := interval.Good + interval.Timeouts
		if interval.Latency.Count() != timed || interval.Service.Count() != timed || interval.SendLag.Count() != interval.Sent {
			t.Errorf("interval %d: %d latencies, %d service times of %d; %d lags of %d sent", i,
				interval.Latency.Count(), interval.Service.Count(), timed, interval.SendLag.Count(), interval.Sent)
		}
	}
}

func checkBooks(t *rapid.T, p Plan, cost time.Duration, sum *tally) {
	if sum.Intended != sum.Ended()+sum.Dropped {
		t.Errorf("%d requests were intended; %d ended and %d were dropped: %+v", sum.Intended, sum.Ended(), sum.Dropped, sum.Client)
	}
	if sum.Sent != sum.Ended()-sum.Refused {
		t.Errorf("%d requests were sent; %d ended, of which %d were refused", sum.Sent, sum.Ended(), sum.Refused)
	}
	if k := sum.Kinds["all"]; k != nil && (k.Sent != sum.Sent || k.Ended != sum.Ended() || k.Good != sum.Good) {
		t.Errorf("of the kind %d were sent, %d ended and %d were good, of all requests %d, %d and %d",
			k.Sent, k.Ended, k.Good, sum.Sent, sum.Ended(), sum.Good)
	}
	if lag := sum.SendLag.Max(); cost == 0 && lag > time.Microsecond {
		t.Errorf("send lag %v, on a clock that stands while the loop works", lag)
	}
	// Histograms hold three digits, and nothing below a microsecond.
	limit := p.Timeout + p.Timeout/1000 + 2*time.Microsecond
	if longest := sum.Service.Max(); cost == 0 && longest > limit {
		t.Errorf("service up to %v with a timeout of %v", longest, p.Timeout)
	}
	for _, q := range []float64{0.01, 0.5, 0.99} {
		if sum.Latency.Quantile(q) < sum.Service.Quantile(q) {
			t.Errorf("latency %v is below service %v at quantile %v", sum.Latency.Quantile(q), sum.Service.Quantile(q), q)
		}
	}
}
