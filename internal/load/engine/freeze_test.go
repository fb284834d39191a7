package engine

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/millicore/millicore/test/freeze"
)

// A service that answers in 1 ms and freezes for 1 s in every 8, loaded with 1,000
// evenly spaced requests/s over 64 connections. During the freeze, 64 requests are in
// flight and 936 wait; then they are sent as fast as 64 connections allow.
func TestFreezeIsSeenWhole(t *testing.T) {
	service := freeze.Service{Work: time.Millisecond, Period: 8 * time.Second, Still: time.Second}
	const rate, length, connections = 1000, 64 * time.Second, 64

	p := plan(Load{Open: true, Even: true, Curve: steady(t, rate, length)})
	p.Connections, p.Timeout = connections, 10*time.Second
	sim := simulate(t, p, scheduled(service))
	all := total(sim.run(t))
	want := service.Truth(0, rate, length, connections)

	if all.Good != int64(len(want)) || len(want) != 64000 {
		t.Fatalf("%d good answers, %d worked out; want 64000", all.Good, len(want))
	}
	for _, q := range []float64{0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1} {
		within(t, "latency", q, all.Latency.Quantile(q), freeze.Rank(want, q), 0.001)
	}
	// By hand, without the millisecond of work and the 16 ms that the backlog takes: an
	// eighth of the requests is due during the freeze, evenly distributed, so the
	// slowest 5% start at 1 s x (1 - 8/20) and the slowest 1% at 1 s x (1 - 8/100).
	within(t, "latency", 0.95, all.Latency.Quantile(0.95), 600*time.Millisecond, 0.02)
	within(t, "latency", 0.99, all.Latency.Quantile(0.99), 920*time.Millisecond, 0.02)
	// The engine was never late; the service was.
	if lag := all.SendLag.Max(); lag > time.Microsecond {
		t.Errorf("send lag up to %v; want none on a clock that stands while the loop works", lag)
	}
}

// The same for other freezes, rates and sufficient numbers of connections: each request
// is sent, and each quantile is the computed one.
func TestAnyFreezeIsSeenWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		between := func(name string, low, high int) time.Duration {
			return time.Duration(rapid.IntRange(low, high).Draw(rt, name)) * 10 * time.Microsecond
		}
		f := freeze.Service{Work: between("work", 1, 1000), Period: between("period", 20_000, 300_000)}
		f.Still = between("still", 0, int(f.Period/(20*time.Microsecond)))
		rate := float64(rapid.IntRange(20, 2000).Draw(rt, "rate"))
		connections := rapid.IntRange(1, 96).Draw(rt, "connections")
		running := 1 - float64(f.Still)/float64(f.Period)
		if load := rate * f.Work.Seconds() / running / float64(connections); load > 0.9 {
			rt.Skip("more than the connections carry")
		}
		length := 3 * f.Period
		p := plan(Load{Open: true, Even: true, Curve: steady(t, rate, length)})
		p.Connections, p.Timeout = connections, time.Hour
		all := total(simulate(t, p, scheduled(f)).run(t))
		want := f.Truth(0, rate, length, connections)
		if all.Good != int64(len(want)) || all.Sent != all.Good || all.Dropped != 0 {
			rt.Fatalf("%d good answers, %d sent, %d dropped; %d worked out", all.Good, all.Sent, all.Dropped, len(want))
		}
		for _, q := range []float64{0.5, 0.95, 0.99, 1} {
			if got, want := all.Latency.Quantile(q), ranked(want, q); math.Abs(float64(got-want)) > 0.001*float64(want)+float64(2*time.Microsecond) {
				rt.Errorf("quantile %v is %v; want %v", q, got, want)
			}
		}
	})
}

// ranked is a quantile by the histograms' rule: of the nearest rank.
func ranked(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(int(q*float64(len(sorted))+0.5), 1)-1]
}

// scheduled is the freezing service as a simulated service.
func scheduled(f freeze.Service) service {
	return service{answer: func(at time.Duration, _ int) []piece {
		at -= startAt
		return good(f.Done(at) - at)
	}}
}

// In a closed loop the same freezes delay only one request per user, which hides them
// (coordinated omission).
func TestFreezeInAClosedLoopHitsEachUserOnce(t *testing.T) {
	service := freeze.Service{Work: time.Millisecond, Period: 8 * time.Second, Still: time.Second}
	p := plan(Load{Curve: steady(t, 10, 16*time.Second)})
	p.Timeout = 10 * time.Second
	all := total(simulate(t, p, scheduled(service)).run(t))

	// 10 users, 14 s of service at 1 ms per answer, and the answers that the second
	// freeze delays beyond the end.
	if want := int64(10 * (14000 + 1)); all.Good != want {
		t.Errorf("%d good answers; want %d", all.Good, want)
	}
	slow := int64(0)
	for bar := range all.Latency.Bars() {
		if bar.From > 2000 {
			slow += bar.Count
		}
	}
	if slow != 2*10 {
		t.Errorf("%d answers above 2ms; want one per user and freeze, 20", slow)
	}
}

func within(t *testing.T, what string, q float64, got, want time.Duration, tolerance float64) {
	t.Helper()
	if math.Abs(float64(got-want)) > tolerance*float64(want)+float64(time.Microsecond) {
		t.Errorf("%s at quantile %v is %v; want %v within %v%%", what, q, got, want, 100*tolerance)
	}
}
