package engine

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
)

// stands stops the loop for a time, from a time of the trial on.
func (s *simulation) stands(from, length time.Duration) {
	for _, w := range s.worlds {
		w.at(startAt+from, func() { w.clock += length })
	}
}

// A loop that was stopped while an answer arrived reports the true service time, and
// its own delay as the send lag of the user's next request.
func TestAnAnswerThatIsReadLate(t *testing.T) {
	sim := simulate(t, plan(Load{Curve: steady(t, 1, 110*ms)}), lasts(10*ms))
	sim.stands(5*ms, 90*ms)
	all := sim.run(t)
	// Sent at 0, 95 and 105; done at 10, 105 and 115; intended at 0, 10 and 105.
	checkRows(t, all, []row{
		{0, 110 * ms, signals.Measure, 3, 3, 2, 0, 1, 0},
		{110 * ms, 115 * ms, signals.Drain, 0, 0, 1, 0, 0, 0},
	})
	near(t, "longest service", all[0].Service.Max(), 10*ms)
	near(t, "longest lag", all[0].SendLag.Max(), 85*ms)
	near(t, "longest latency", all[0].Latency.Max(), 95*ms)
}

// The gap before the last part of an answer counts, whether it is that of a delayed
// acknowledgement or another long one.
func TestAnswersThatComeInParts(t *testing.T) {
	gaps := []time.Duration{0, 10 * ms, 20 * ms, 37 * ms, 39 * ms, 40 * ms, 47 * ms, 49 * ms}
	n := 0
	s := service{answer: func(time.Duration, int) []piece {
		gap := gaps[n%len(gaps)]
		if n++; gap == 0 {
			return good(40 * ms)
		}
		return []piece{{after: ms, bytes: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"}, {after: gap, bytes: "ok"}}
	}}
	all := total(simulate(t, plan(Load{Open: true, Even: true, Curve: steady(t, 10, 8*100*ms)}), s).run(t))
	if all.Good != 8 || all.AckDelayed != 3 || all.Apart != 3 {
		t.Errorf("%d good, %d as a delayed acknowledgement, %d other gaps", all.Good, all.AckDelayed, all.Apart)
	}
}

// The time to make a connection is counted apart from its TLS handshake, also of connections that
// slots share.
func TestTheTimesOfNewConnections(t *testing.T) {
	s := lasts(10 * ms)
	s.dial = func(time.Duration, int) (time.Duration, outcome) { return 30 * ms, succeeded }
	p := plan(Load{Requests: 4, Curve: steady(t, 2, schedule.Endless)})
	dials := total(simulate(t, p, s).run(t)).Dials
	if dials == nil || dials.Handshake != nil || dials.Connect.Count() != 2 {
		t.Fatalf("without TLS: %+v; want the times of two connections", dials)
	}
	near(t, "connect", dials.Connect.Min(), 30*ms)
	near(t, "connect", dials.Connect.Max(), 30*ms)
	s.shakes = 20 * ms
	p.Transport.TLS = true
	dials = total(simulate(t, p, s).run(t)).Dials
	if dials == nil || dials.Handshake == nil || dials.Connect.Count() != 2 || dials.Handshake.Count() != 2 {
		t.Fatalf("with TLS: %+v; want the times of two connections", dials)
	}
	near(t, "connect", dials.Connect.Max(), 10*ms)
	near(t, "handshake", dials.Handshake.Max(), 20*ms)
}

// A loop that is always busy sends everything late and reports that: a hundred users
// each wait for the others' requests to be handled.
func TestALoopThatIsTheLimitIsLate(t *testing.T) {
	s := lasts(ms)
	s.cost = 100 * time.Microsecond
	all := total(simulate(t, plan(Load{Curve: steady(t, 100, time.Second)}), s).run(t))
	turn := 100 * time.Second / time.Duration(all.Good)
	if mean := all.Latency.Mean(); mean < turn*9/10 || mean > turn*11/10 {
		t.Errorf("a mean latency of %v, where a user's turn takes %v", mean, turn)
	}
	if lag := all.SendLag.Quantile(0.5); lag < turn/2 {
		t.Errorf("half of the requests were sent up to %v late, where a user's turn takes %v", lag, turn)
	}
}

// A request that was delayed by a stall has a send lag from its due time on, even if a
// connection became free only during the stall.
func TestAConnectionThatBecameFreeInAStall(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 100, 120*ms)})
	p.Connections = 2
	n := 0
	sim := simulate(t, p, service{answer: func(time.Duration, int) []piece {
		if n++; n == 2 {
			return good(90 * ms) // of what was sent at 15: at 105
		}
		return good(2 * ms)
	}})
	sim.stands(18*ms, 100*ms)
	var lags []time.Duration
	for _, i := range sim.run(t) {
		for _, s := range i.Slow {
			if lag := time.Duration(s.Lag); lag > 0 {
				lags = append(lags, lag)
			}
		}
	}
	// Due at 25, 35, … 115, and delayed until at least 118.
	slices.SortFunc(lags, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	for i, lag := range lags[:min(9, len(lags))] {
		if want := time.Duration(93-10*i) * ms; lag < want || lag > want+ms {
			t.Errorf("lag %d is %v; want %v", i, lag, want)
		}
	}
	if len(lags) < 9 {
		t.Errorf("%d requests were late: %v", len(lags), lags)
	}
}

// A request that was due before the loop noticed a free connection was delayed by the
// loop, not by the service.
func TestAConnectionThatIsFoundFreeLate(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, 200*ms)})
	p.Connections = 1
	sim := simulate(t, p, lasts(60*ms))
	sim.stands(60*ms, 105*ms)
	all := sim.run(t)
	// Due at 50 and 150, sent at 50 and 165; the connection was free at 110.
	checkRows(t, all, []row{
		{0, 200 * ms, signals.Measure, 2, 2, 1, 0, 1, 0},
		{200 * ms, 225 * ms, signals.Drain, 0, 0, 1, 0, 0, 0},
	})
	near(t, "lag", all[0].SendLag.Max(), 15*ms)
	near(t, "first service", all[0].Service.Max(), 60*ms)
	near(t, "second latency", all[1].Latency.Max(), 75*ms)
}

// An answer that arrived before an interval's end but was noticed after it belongs to that
// interval, with its own time.
func TestAnAnswerThatIsReadInTheNextInterval(t *testing.T) {
	p := plan(Load{Curve: steady(t, 1, 200*ms)})
	p.Interval = 100 * ms
	sim := simulate(t, p, lasts(90*ms))
	sim.stands(85*ms, 40*ms)
	all := sim.run(t)
	// Sent at 0 and 125; done at 90 and 215. The user goes on at 100.
	checkRows(t, all, []row{
		{0, 100 * ms, signals.Measure, 1, 1, 1, 0, 0, 0},
		{100 * ms, 200 * ms, signals.Measure, 1, 1, 0, 0, 1, 0},
		{200 * ms, 215 * ms, signals.Drain, 0, 0, 1, 0, 0, 0},
	})
	near(t, "service", all[0].Service.Max(), 90*ms)
	near(t, "lag", all[1].SendLag.Max(), 25*ms)
}

// The same where several intervals end while the loop does not run, and where it rests.
func TestAnswersThatAreReadSeveralIntervalsLater(t *testing.T) {
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 100, 500*ms)})
	p.Interval, p.Connections = 100*ms, 64
	// Those of the requests at 65, 75, 85 and 95 come at 165, 175, 185 and 195.
	n := 0
	sim := simulate(t, p, service{answer: func(time.Duration, int) []piece {
		if n++; n >= 7 && n <= 10 {
			return good(100 * ms)
		}
		return good(2 * ms)
	}})
	sim.stands(96*ms, 250*ms)
	all := sim.run(t)
	// The stop is from 96 to 346: 25 requests are due in it, and are sent at its end.
	checkRows(t, all, []row{
		{0, 100 * ms, signals.Measure, 10, 10, 6, 0, 4, 0},
		{100 * ms, 200 * ms, signals.Measure, 10, 0, 4, 0, 0, 10},
		{200 * ms, 300 * ms, signals.Measure, 10, 0, 0, 0, 0, 20},
		{300 * ms, 400 * ms, signals.Measure, 10, 30, 30, 0, 0, 0},
		{400 * ms, 500 * ms, signals.Measure, 10, 10, 10, 0, 0, 0},
	})
	near(t, "latency of the answers during the stop", all[1].Latency.Max(), 100*ms)
	near(t, "service after it", all[3].Service.Max(), 2*ms)
}

// A request that waits for a stream, since the service allows fewer than there are
// connections, is sent when it leaves: the wait is no service time, and the timeout begins then.
func TestTheWaitForAStreamIsTheClients(t *testing.T) {
	p := plan(Load{Curve: steady(t, 1, 400*ms)})
	p.Timeout = 35 * ms
	var until time.Duration
	s := lasts(10 * ms)
	s.admits = func(at time.Duration) time.Duration {
		switch {
		case until > at:
		case until > 0:
			until = 0
			return at
		default:
			until = at + 30*ms
		}
		return until
	}
	all := total(simulate(t, p, s).run(t))
	if all.Good != 10 || all.Timeouts != 0 {
		t.Errorf("%d good, %d timeouts; want 10 good", all.Good, all.Timeouts)
	}
	near(t, "service", all.Service.Max(), 10*ms)
	near(t, "latency", all.Latency.Max(), 40*ms)
}

// The time to the first byte is that of an answer's first part, and that of an answer which
// came at once its latency.
func TestTheFirstByte(t *testing.T) {
	n := 0
	s := service{answer: func(time.Duration, int) []piece {
		if n++; n%2 == 0 {
			return good(20 * ms)
		}
		return []piece{{after: 5 * ms, bytes: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"}, {after: 25 * ms, bytes: "ok"}}
	}}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, 20*100*ms)})
	all := total(simulate(t, p, s).run(t))
	if all.Good != 20 || all.FirstByte == nil || all.FirstByte.Count() != 20 {
		t.Fatalf("%d good, first bytes: %+v", all.Good, all.FirstByte)
	}
	near(t, "an answer in parts", all.FirstByte.Min(), 5*ms)
	near(t, "its half", all.FirstByte.Quantile(0.4), 5*ms)
	near(t, "one at once", all.FirstByte.Max(), 20*ms)
	near(t, "the latency", all.Latency.Max(), 30*ms)

	all = total(simulate(t, p, lasts(20*ms)).run(t))
	if all.FirstByte != nil {
		t.Errorf("first bytes of answers that came at once: %v", all.FirstByte.Count())
	}
}

// near compares within the resolution of a histogram.
func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if got < want || got > want+want/100 {
		t.Errorf("%s: %v; want %v", what, got, want)
	}
}

// The messages of a stream have the times at which they came: the first from when the request
// was due, the others from the one before.
func TestMessagesOfAStream(t *testing.T) {
	const message = "5\r\n\x00\x00\x00\x00\x00\r\n"
	s := service{answer: func(time.Duration, int) []piece {
		return []piece{
			{after: 3 * ms, bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
			{after: 4 * ms, bytes: message},
			{after: 20 * ms, bytes: "5\r\n\x00\x00\x00\x00\x01\r\n"}, // not whole
			{after: ms, bytes: "1\r\nx\r\n"},
			{after: 20 * ms, bytes: message + message},
			{after: 10 * ms, bytes: "0\r\ngrpc-status: 0\r\n\r\n"},
		}
	}}
	p := plan(Load{Open: true, Even: true, Curve: steady(t, 10, 10*100*ms)})
	template, err := wire.Request{Method: "POST", Host: "h", Headers: map[string]string{"Content-Type": "application/grpc"}}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Targets {
		p.Targets[i].Requests = []*wire.Template{template}
	}
	sim := simulate(t, p, s)
	for _, w := range sim.worlds {
		w.size = len(template.Fixed())
	}
	all := total(sim.run(t))
	streams := all.Streams
	if all.Good != 10 || streams == nil || streams.First.Count() != 10 || streams.Between.Count() != 30 || all.AckDelayed+all.Apart != 0 {
		t.Fatalf("%d good, %+v", all.Good, streams)
	}
	near(t, "the first message", streams.First.Min(), 7*ms)
	near(t, "the first message at most", streams.First.Max(), 7*ms)
	near(t, "two messages at once", streams.Between.Quantile(0.2), time.Microsecond) // the shortest time
	near(t, "a message in parts", streams.Between.Quantile(0.99), 21*ms)
	near(t, "the median between", streams.Between.Quantile(0.5), 20*ms)
	near(t, "the end", all.Latency.Max(), 58*ms)
}
