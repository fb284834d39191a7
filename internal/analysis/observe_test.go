package analysis

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// Cells under a constant load are judged by the rule of the search.
func TestAGeneratorOfUsersThatWaitedLimitsItsCell(t *testing.T) {
	cellOf := func(load experiment.Load, frames ...*signals.Frame) summary.Cell {
		e := fixture.Experiment(load)
		e.Objective = &experiment.Objective{Availability: 99.9}
		c, _ := build(e, frames...)
		return c
	}
	users, rate := experiment.Load{Users: &experiment.Target{Value: 4}}, experiment.Load{Rate: &experiment.Target{Value: 100}}
	waited := func(seconds float64) *signals.Frame {
		f := fixture.Client(1, signals.Measure, 100, 150*time.Millisecond)
		f.Client.RunWait = &seconds
		return f
	}
	host := func(h signals.Host) *signals.Frame {
		h.CPUs = 2
		return &signals.Frame{Trial: 1, Seq: 1, Phase: signals.Measure, Start: 1e9, End: 2e9, Host: &h}
	}
	failing := waited(0.3)
	failing.Client.Status["500"] = 50
	late := fixture.Client(1, signals.Measure, 100, time.Millisecond)
	for range 5 {
		late.Client.SendLag.Record(10 * time.Millisecond)
	}
	hardly := fixture.Client(1, signals.Measure, 100, 150*time.Millisecond)
	for range 5 {
		hardly.Client.SendLag.Record(10 * time.Millisecond)
	}
	delayed := fixture.Client(1, signals.Measure, 100, time.Millisecond)
	for range 100 {
		delayed.Client.SendLag.Record(10 * time.Millisecond)
	}
	slowly := fixture.Client(1, signals.Measure, 100, time.Millisecond)
	slowly.Client.Intended = 103
	for range 5 {
		slowly.Client.SendLag.Record(10 * time.Millisecond)
	}
	held := fixture.Client(1, signals.Measure, 100, time.Millisecond)
	held.Client.Intended, held.Client.Waiting, held.Client.InFlight, held.Client.OpenConnections = 200, 100, 64, 64
	for range 5 {
		held.Client.SendLag.Record(10 * time.Millisecond)
	}
	stuck := fixture.Client(1, signals.Measure, 100, time.Millisecond)
	stuck.Client.Intended = 200
	portless := fixture.Client(1, signals.Measure, 100, time.Millisecond)
	portless.Client.Intended, portless.Client.NoPorts = 200, 3
	idle, half, full := host(signals.Host{Idle: 1}), fixture.Server(1, signals.Measure, 0.5, 10, 0), fixture.Server(1, signals.Measure, 0.95, 10, 0)
	for _, c := range []struct {
		name   string
		load   experiment.Load
		frames []*signals.Frame
		want   bool
	}{
		{"it did not wait", users, []*signals.Frame{waited(0.09), half, idle}, false},
		{"it waited a tenth of the time", users, []*signals.Frame{waited(0.1), half, idle}, true},
		{"how long it waited is not known", users, []*signals.Frame{fixture.Client(1, signals.Measure, 100, 150*time.Millisecond), half, idle}, false},
		{"the service was at its own limit", users, []*signals.Frame{waited(0.3), full, idle}, false},
		{"it waited for a neighbour", users, []*signals.Frame{waited(0.3), half, host(signals.Host{Idle: 0.5, Foreign: 1})}, false},
		{"it waited for the hypervisor", users, []*signals.Frame{waited(0.3), half, host(signals.Host{Idle: 0.5, Steal: 1})}, false},
		{"it waited for the service, on a full host", users, []*signals.Frame{waited(0.3), half, host(signals.Host{Idle: 0.1})}, false},
		{"the service failed beside it", users, []*signals.Frame{failing, half, idle}, false},
		{"in an open loop it was in time nevertheless", rate, []*signals.Frame{waited(0.3), half, idle}, false},
		{"in an open loop it was late, and sent all", rate, []*signals.Frame{late, full, idle}, false},
		{"in an open loop it was late, and sent fewer than were due", rate, []*signals.Frame{slowly, full, idle}, true},
		{"in an open loop fewer were sent, as no connection was free", rate, []*signals.Frame{stuck, full, idle}, false},
		{"in an open loop it was late, and fewer were sent, as no connection was free", rate, []*signals.Frame{held, full, idle}, false},
		{"in an open loop fewer were sent, as no port was free", rate, []*signals.Frame{portless, full, idle}, true},
		{"a few users were late, and hardly fewer requests were sent", users, []*signals.Frame{hardly, half, idle}, false},
		{"all users were late", users, []*signals.Frame{delayed, half, idle}, true},
		{"users had no port", users, []*signals.Frame{portless, full, idle}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := cellOf(c.load, c.frames...)
			if sent := c.frames[0] == late || c.frames[0] == held || c.frames[0] == hardly; got.Generator.Limited != c.want || got.Has(summary.FlagGeneratorLimited) != c.want || got.Has(summary.FlagSentLate) != sent {
				t.Errorf("limited: %v, flags %q; want %v", got.Generator.Limited, got.Flags, c.want)
			}
		})
	}
}

// A request of the warm-up that ends only after the load holds a user all the time.
func TestRequestsWithoutAnEndAreSeen(t *testing.T) {
	frames := func(measure, drain int64) []*signals.Frame {
		during, after := fixture.Client(1, signals.Measure, 1000, time.Millisecond), fixture.Client(2, signals.Drain, 0, 0)
		during.Client.Carried, after.Client.Carried = measure, drain
		return []*signals.Frame{during, after}
	}
	for _, c := range []struct {
		name           string
		users          float64 // 0: 1,000 requests/s
		measure, drain int64
		want           int64
	}{
		{"three of fifty users", 50, 0, 3, 3},
		{"two of fifty users", 50, 0, 2, 0},
		{"nine of a thousand users", 1000, 0, 9, 0},
		{"eleven of a thousand users", 1000, 0, 11, 11},
		{"they ended during the measurement", 50, 20, 0, 0},
		{"nine of a thousand requests", 0, 0, 9, 0},
		{"eleven of a thousand requests", 0, 0, 11, 11},
	} {
		load := experiment.Load{Rate: &experiment.Target{Value: 1000}}
		if c.users > 0 {
			load = experiment.Load{Users: &experiment.Target{Value: c.users}}
		}
		if got, _ := build(fixture.Experiment(load), frames(c.measure, c.drain)...); got.Has(summary.FlagStuck) != (c.want > 0) || got.Stuck != c.drain {
			t.Errorf("%s: flags %q, %d, want %d", c.name, got.Flags, got.Stuck, c.want)
		}
	}
}
