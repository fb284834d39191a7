package engine

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/schedule"
)

const ms = time.Millisecond

// row are the expected figures of an interval.
type row struct {
	start, end time.Duration
	phase      signals.Phase
	intended   int64
	sent       int64
	ended      int64
	carried    int64
	inFlight   int64
	waiting    int64
}

func rows(all []interval) []row {
	var table []row
	for _, i := range all {
		table = append(table, row{i.start, i.end, i.phase, i.Intended, i.Sent, i.Ended(), i.Carried, i.InFlight, i.Waiting})
	}
	return table
}

func checkRows(t *testing.T, all []interval, want []row) {
	t.Helper()
	got := rows(all)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("interval %d: %+v; want no more than %d", i, got[i], len(want))
		case i >= len(got):
			t.Errorf("interval %d is missing; want %+v", i, want[i])
		case got[i] != want[i]:
			t.Errorf("interval %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
	for i, interval := range all {
		if interval.seq != i {
			t.Errorf("interval %d has number %d", i, interval.seq)
		}
	}
}

// Evenly spaced, 10/s, answers in 150 ms: request k is due at 50 + 100 k ms and
// ends at 200 + 100 k ms, which for k = 8 is the first interval's end and so the
// next one's.
func TestOpenLoopFillsIntervalsAsDue(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, 2500*ms)})
	p.Warmup = time.Second
	all := simulate(t, p, lasts(150*ms)).run(t)
	checkRows(t, all, []row{
		{0, 1000 * ms, signals.Warmup, 10, 10, 8, 0, 2, 0},
		{1000 * ms, 2000 * ms, signals.Measure, 10, 10, 8, 2, 2, 0},
		{2000 * ms, 3000 * ms, signals.Measure, 10, 10, 10, 0, 2, 0},
		{3000 * ms, 3500 * ms, signals.Measure, 5, 5, 5, 0, 2, 0},
		{3500 * ms, 3600 * ms, signals.Drain, 0, 0, 2, 0, 0, 0},
	})
	for _, i := range all {
		want := 10.0
		if i.phase == signals.Drain {
			want = 0
		}
		if i.Rate != want {
			t.Errorf("interval %d: rate %v; want %v", i.seq, i.Rate, want)
		}
		if i.Ended() > 0 && (i.Latency.Quantile(0.5) < 150*ms || i.Latency.Max() > 151*ms) {
			t.Errorf("interval %d: latency %v to %v; want 150ms", i.seq, i.Latency.Quantile(0.5), i.Latency.Max())
		}
	}
}

// Nothing is in flight at the end: there is no drain.
func TestNoDrainWhereNothingIsInFlight(t *testing.T) {
	all := simulate(t, plan(Load{Open: true, Even: true, Curve: steady(t, 10, time.Second)}), lasts(20*ms)).run(t)
	checkRows(t, all, []row{{0, 1000 * ms, signals.Measure, 10, 10, 10, 0, 0, 0}})
}

// Intervals without requests are reported too.
func TestIntervalsWithoutTraffic(t *testing.T) {
	curve := curve(t, schedule.Stage{Length: 3 * time.Second}, schedule.Stage{Length: time.Second, From: 1, To: 1})
	all := simulate(t, plan(Load{Open: true, Even: true, Curve: curve}), lasts(ms)).run(t)
	checkRows(t, all, []row{
		{0, 1000 * ms, signals.Measure, 0, 0, 0, 0, 0, 0},
		{1000 * ms, 2000 * ms, signals.Measure, 0, 0, 0, 0, 0, 0},
		{2000 * ms, 3000 * ms, signals.Measure, 0, 0, 0, 0, 0, 0},
		{3000 * ms, 4000 * ms, signals.Measure, 1, 1, 1, 0, 0, 0},
	})
}

// Three users, answers in 100 ms: each sends at 0, 100, 200, … ms.
func TestClosedLoopUsersWaitForTheirAnswers(t *testing.T) {
	all := simulate(t, plan(Load{Curve: steady(t, 3, 2*time.Second)}), lasts(100*ms)).run(t)
	checkRows(t, all, []row{
		{0, 1000 * ms, signals.Measure, 30, 30, 27, 0, 3, 0},
		{1000 * ms, 2000 * ms, signals.Measure, 30, 30, 30, 0, 3, 0},
		{2000 * ms, 2000*ms + 1, signals.Drain, 0, 0, 3, 0, 0, 0},
	})
	for _, i := range all[:2] {
		if i.Users != 3 {
			t.Errorf("interval %d: %v users; want 3", i.seq, i.Users)
		}
	}
}

// A ramp from 0 to 10 users in 10 s: user k comes at k+1 s. Then 5 s at 2.
func TestUsersStartAndEnd(t *testing.T) {
	curve := curve(t,
		schedule.Stage{Length: 10 * time.Second, From: 0, To: 10},
		schedule.Stage{Length: 5 * time.Second, From: 2, To: 2})
	all := simulate(t, plan(Load{Curve: curve}), lasts(150*ms)).run(t)
	for i, interval := range all[:15] {
		users := float64(i + 1)
		if i >= 10 {
			users = 2
		}
		if interval.Users != users {
			t.Errorf("interval %d: %v users; want %v", i, interval.Users, users)
		}
		inFlight := int64(i) // the one who comes at the end belongs to the next
		if i >= 10 {
			inFlight = 2
		}
		if interval.InFlight != inFlight {
			t.Errorf("interval %d: %d in flight; want %d", i, interval.InFlight, inFlight)
		}
	}
}

// Ten users share two connections and wait for them in turn: an answer takes
// 100 ms, a request 500.
func TestUsersShareConnections(t *testing.T) {
	p := plan(Load{Curve: steady(t, 10, 5*time.Second)})
	p.Connections = 2
	all := total(simulate(t, p, lasts(100*ms)).run(t))
	if all.Good != 2*50+8 || all.Dropped != 0 {
		t.Errorf("%d good, %d dropped; want 100 by the end and the 8 that waited", all.Good, all.Dropped)
	}
	if got := all.Latency.Quantile(0.5); got < 500*ms || got > 501*ms {
		t.Errorf("latency %v; want 500ms", got)
	}
	if got := all.Service.Quantile(0.5); got < 100*ms || got > 101*ms {
		t.Errorf("service %v; want 100ms", got)
	}
	if lag := all.SendLag.Max(); lag > time.Microsecond {
		t.Errorf("send lag %v; waiting for a connection is none", lag)
	}
}

// One connection, answers in 10 ms, 200/s for a second: 100 requests are sent in that
// second, and 100 more in the second of the drain. None is lost uncounted.
func TestUnsentRequestsAreDroppedAtTheEnd(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 200, time.Second)})
	p.Connections, p.Timeout = 1, 300*ms
	all := simulate(t, p, lasts(10*ms)).run(t)
	sum := total(all)
	// Sent at 2.5 ms and every 10 ms after, until 300 ms after the end.
	sent := int64(130)
	if sum.Intended != 200 || sum.Sent != sent || sum.Good != sent || sum.Dropped != 200-sent {
		t.Errorf("intended %d, sent %d, good %d, dropped %d; want 200, %d, %d, %d",
			sum.Intended, sum.Sent, sum.Good, sum.Dropped, sent, sent, 200-sent)
	}
	if last := all[len(all)-1]; last.Waiting != 0 || last.InFlight != 0 {
		t.Errorf("at the end %d wait and %d are in flight", last.Waiting, last.InFlight)
	}
}

// A service that accepts requests and does not answer: each request ends a timeout
// after it was sent, and the histogram contains the timeout.
func TestTimeoutsEnterWhenGivenUp(t *testing.T) {
	silent := service{answer: func(time.Duration, int) []piece { return nil }}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, time.Second)})
	p.Timeout = 2 * time.Second
	sum := total(simulate(t, p, silent).run(t))
	if sum.Timeouts != 10 || sum.Ended() != 10 || sum.Latency.Count() != 10 {
		t.Errorf("%d timeouts, %d ended, %d latencies; want 10", sum.Timeouts, sum.Ended(), sum.Latency.Count())
	}
	within(t, "latency", 0, sum.Latency.Quantile(0), 2*time.Second, 0.001)
	within(t, "latency", 1, sum.Latency.Max(), 2*time.Second, 0.001)
	if sum.Connects != 10 {
		t.Errorf("%d connections; want one for each of the 10 requests", sum.Connects)
	}
}

// The timeout counts from sent: with one connection the second request waits for the
// first one's timeout, and its latency includes both.
func TestTimeoutRunsFromSent(t *testing.T) {
	silent := service{answer: func(time.Duration, int) []piece { return nil }}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 2, time.Second)})
	p.Connections, p.Timeout = 1, 2*time.Second
	sum := total(simulate(t, p, silent).run(t))
	// Due at 250 and 750 ms, sent at 250 and 2250, timed out at 2250 and 4250.
	if sum.Timeouts != 2 {
		t.Fatalf("%d timeouts; want 2", sum.Timeouts)
	}
	within(t, "latency", 0, sum.Latency.Quantile(0), 2000*ms, 0.001)
	within(t, "latency", 1, sum.Latency.Max(), 3500*ms, 0.001)
	within(t, "service", 1, sum.Service.Max(), 2000*ms, 0.001)
}

// A backlog of more than a minute is measured completely: request k is due at 250 + 500
// k ms and done at 2250 + 2000 k ms, and the last one is sent at 98250 ms.
func TestABacklogOfMoreThanAMinute(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 2, 40*time.Second)})
	p.Connections, p.Timeout = 1, time.Minute
	sum := total(simulate(t, p, lasts(2*time.Second)).run(t))
	if sum.Good != 50 || sum.Dropped != 30 || sum.Latency.Beyond() != 0 {
		t.Errorf("%d good, %d dropped, %d beyond the histogram's range; want 50, 30, 0", sum.Good, sum.Dropped, sum.Latency.Beyond())
	}
	within(t, "latency", 0.9, sum.Latency.Quantile(0.9), 68*time.Second, 0.001)
	within(t, "latency", 1, sum.Latency.Max(), 75500*ms, 0.001)
	within(t, "mean latency", 0.5, sum.Latency.Mean(), 38750*ms, 0.001)
}

// A number of requests: 10 users, 100 requests, answers in 30 ms, 3 threads.
func TestANumberOfRequests(t *testing.T) {
	p := plan(Load{Curve: steady(t, 10, schedule.Endless), Requests: 100})
	p.Threads, p.Interval = 3, 200*ms
	all := simulate(t, p, lasts(30*ms)).run(t)
	// Shares of 34, 33, 33 requests for 4, 3, 3 users: 9, 11, 11 rounds.
	if last := all[len(all)-1]; last.end != 330*ms || last.phase != signals.Measure || len(all) != 2 {
		t.Errorf("%d intervals, the last a %s one until %v; want 2, measure, 330ms", len(all), last.phase, last.end)
	}
	if sum := total(all); sum.Good != 100 || sum.Sent != 100 || sum.Intended != 100 {
		t.Errorf("intended %d, sent %d, good %d; want 100", sum.Intended, sum.Sent, sum.Good)
	}
}

// Fewer requests than threads: some threads have none.
func TestFewerRequestsThanThreads(t *testing.T) {
	p := plan(Load{Curve: steady(t, 4, schedule.Endless), Requests: 2})
	p.Threads = 4
	all := simulate(t, p, lasts(30*ms)).run(t)
	checkRows(t, all, []row{{0, 30 * ms, signals.Measure, 2, 2, 2, 0, 0, 0}})
}

// Several agents and threads make the load of one, request by request.
func TestSharesMakeTheWholeLoad(t *testing.T) {
	for _, even := range []bool{true, false} {
		var sum *tally
		for agent := range 3 {
			p := plan(Load{Open: true, Even: even, Curve: steady(t, 1000, 10*time.Second)})
			p.Agent, p.Agents, p.Threads = agent, 3, 2
			all := simulate(t, p, lasts(ms)).run(t)
			if rate := all[0].Rate; rate < 333.3 || rate > 333.4 {
				t.Errorf("agent %d: rate %v; want a third of 1000", agent, rate)
			}
			if part := total(all); sum == nil {
				sum = part
			} else {
				sum.add(part)
			}
		}
		low, high := int64(10000), int64(10000)
		if !even { // 4 standard deviations of a Poisson figure
			low, high = 9600, 10400
		}
		if sum.Good < low || sum.Good > high {
			t.Errorf("even %v: %d requests; want %d to %d", even, sum.Good, low, high)
		}
	}
}
