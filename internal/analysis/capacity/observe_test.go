package capacity

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/cost"
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/wording"
	"github.com/millicore/millicore/test/testkit/fixture"
)

func TestAWindowShowsRequestsLateAndBad(t *testing.T) {
	e := fixture.Search()
	late := fixture.Client(1, signals.Measure, 10, 200*time.Millisecond)
	late.Client.Timeouts = 2 // in the histogram only if the agent recorded them
	for range 2 {
		late.Client.Latency.Record(2 * time.Second)
	}
	errors := fixture.Client(2, signals.Measure, 90, time.Millisecond)
	errors.Client.Status["500"] = 5
	for _, c := range []struct {
		name         string
		availability float64
		frames       []*signals.Frame
		want         []search.Block
	}{
		{"timeouts are late and bad", 99.9, []*signals.Frame{late}, []search.Block{{Requests: 12, Late: 12, Bad: 2}}},
		{"errors are bad and late", 99.9, []*signals.Frame{errors}, []search.Block{{Requests: 95, Late: 5, Bad: 5}}},
		{"whether an availability is asked or not", 0, []*signals.Frame{errors}, []search.Block{{Requests: 95, Late: 5, Bad: 5}}},
		{"one block an interval, server halves are none", 99.9, []*signals.Frame{late, fixture.Server(1, signals.Measure, 1, 10, 0), errors},
			[]search.Block{{Requests: 12, Late: 12, Bad: 2}, {Requests: 95, Late: 5, Bad: 5}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e.Objective.Availability = c.availability
			o := Observe(e, &e.Cells[0], 50)
			for _, f := range c.frames {
				o.Add(f)
			}
			if d := cmp.Diff(c.want, o.Blocks()); d != "" {
				t.Error(d)
			}
		})
	}
}

// The CPU time of all replicas counts, in the block whose requests it served, if that of each is
// known.
func TestTheCostsOfAWindow(t *testing.T) {
	e := fixture.Search()
	o := Observe(e, &e.Cells[0], 50)
	second := fixture.Server(1, signals.Measure, 0.5, 10, 0)
	second.Index = 1
	unknown := fixture.Server(2, signals.Measure, 1, 10, 0)
	unknown.Server.CPU = nil
	first := fixture.Client(1, signals.Measure, 90, time.Millisecond)
	first.Client.Timeouts, first.Client.Carried = 3, 7
	for _, f := range []*signals.Frame{fixture.Server(1, signals.Measure, 1, 10, 0), second, first,
		fixture.Client(2, signals.Measure, 95, time.Millisecond), fixture.Server(2, signals.Measure, 1, 10, 0), unknown} {
		o.Add(f)
	}
	if d := cmp.Diff([]cost.Block{{CPU: 1.5, Ended: 100}, {Ended: 95}}, o.Observation().Costs); d != "" {
		t.Error(d)
	}
}

func TestAServiceThatAnswersNothingIsLate(t *testing.T) {
	e := fixture.Search()
	o := Observe(e, &e.Cells[0], 1000)
	f := fixture.Client(1, signals.Measure, 0, 0)
	f.Client.InFlight, f.Client.Waiting = 50, 950
	o.Add(f)
	// In time, 1000/s x 0.1 s = 100 would be pending, and by chance 3 x 10 + 1 more.
	if d := cmp.Diff([]search.Block{{Requests: 869, Late: 869, Overdue: 869}}, o.Blocks()); d != "" {
		t.Error(d)
	}
	f = fixture.Client(2, signals.Measure, 1000, time.Millisecond)
	f.Client.InFlight = 120
	o.Add(f)
	if got := o.Blocks(); got[1].Late != 0 || got[0].Late != 0 {
		t.Errorf("%+v: what is under way at the end of the window counts, not in its middle", got)
	}
}

func TestTheGeneratorOrTheHostIsTheLimitOnlyWhereTheServiceIsNot(t *testing.T) {
	e := fixture.Search()
	lagging := fixture.Client(1, signals.Measure, 100, 50*time.Millisecond)
	for range 10 {
		lagging.Client.SendLag.Record(30 * time.Millisecond)
	}
	late := fixture.Client(1, signals.Measure, 100, 150*time.Millisecond)
	for range 10 {
		late.Client.SendLag.Record(30 * time.Millisecond)
	}
	once := func(lag time.Duration) *signals.Frame {
		f := fixture.Client(1, signals.Measure, 50, 5*time.Millisecond)
		f.Client.Latency.Record(lag + 5*time.Millisecond)
		f.Client.SendLag.Record(lag)
		return f
	}
	host := func(idle float64) *signals.Frame {
		return &signals.Frame{Trial: 1, Seq: 1, Phase: signals.Measure, Start: 1e9, End: 2e9, Host: &signals.Host{CPUs: 2, Idle: idle}}
	}
	prompt := fixture.Client(1, signals.Measure, 100, 50*time.Millisecond)
	for _, c := range []struct {
		name   string
		frames []*signals.Frame
		want   string
	}{
		{"all is well", []*signals.Frame{prompt, fixture.Server(1, signals.Measure, 0.5, 10, 0), host(1)}, ""},
		{"one request was sent so late that this alone makes it late", []*signals.Frame{once(98 * time.Millisecond), fixture.Server(1, signals.Measure, 0.5, 10, 0), host(1)}, summary.ByGenerator},
		{"one was sent late, by chance", []*signals.Frame{once(20 * time.Millisecond), fixture.Server(1, signals.Measure, 0.5, 10, 0), host(1)}, ""},
		{"the agent lags", []*signals.Frame{lagging, fixture.Server(1, signals.Measure, 0.5, 10, 0), host(1)}, summary.ByGenerator},
		{"the host is full", []*signals.Frame{prompt, fixture.Server(1, signals.Measure, 0.5, 10, 0), host(0.02)}, summary.ByHost},
		{"the host is full, but the service is at its limit", []*signals.Frame{prompt, fixture.Server(1, signals.Measure, 0.95, 10, 0), host(0.02)}, ""},
		{"the agent lags, and the service is throttled but in time", []*signals.Frame{lagging, fixture.Server(1, signals.Measure, 0.5, 10, 4), host(1)}, summary.ByGenerator},
		{"the agent lags, but the service is throttled and late by itself", []*signals.Frame{late, fixture.Server(1, signals.Measure, 0.5, 10, 4), host(1)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Observe(e, &e.Cells[0], 100)
			for _, f := range c.frames {
				o.Add(f)
			}
			if got := o.outside(); got != c.want {
				t.Errorf("limited by %q, want %q", got, c.want)
			}
			if got := o.Observation().Limited; got != (c.want != "") {
				t.Errorf("the observation says limited: %v", got)
			}
		})
	}
}

// In a closed loop little is sent late, however weak the generator is.
func TestTheGeneratorOfUsersIsTheLimitWhereItWaitedForACPU(t *testing.T) {
	users := func() *experiment.Experiment {
		e := fixture.Search()
		e.Cells[0].Load.Rate, e.Cells[0].Load.Users = nil, &experiment.Target{Value: 4}
		return e
	}
	waited := func(seconds float64) *signals.Frame {
		f := fixture.Client(1, signals.Measure, 100, 150*time.Millisecond)
		f.Client.RunWait = &seconds
		return f
	}
	host := func(h signals.Host) *signals.Frame {
		h.CPUs = 2
		return &signals.Frame{Trial: 1, Seq: 1, Phase: signals.Measure, Start: 1e9, End: 2e9, Host: &h}
	}
	idle, half := host(signals.Host{Idle: 1}), fixture.Server(1, signals.Measure, 0.5, 10, 0)
	failing := waited(1.9)
	failing.Client.Status["500"] = 50
	for _, c := range []struct {
		name     string
		e        *experiment.Experiment
		frames   []*signals.Frame
		want     string
		evidence string
	}{
		{"it did not wait", users(), []*signals.Frame{waited(0.05), half, idle}, "", ""},
		{"it is not known", users(), []*signals.Frame{fixture.Client(1, signals.Measure, 100, 150*time.Millisecond), half, idle}, "", ""},
		{"it waited most of the time", users(), []*signals.Frame{waited(1.9), half, idle}, summary.ByGenerator, "waited 1.9 s in each second"},
		{"the service is at its limit", users(), []*signals.Frame{waited(1.9), fixture.Server(1, signals.Measure, 0.95, 10, 0), idle}, "", ""},
		{"the service is throttled", users(), []*signals.Frame{waited(1.9), fixture.Server(1, signals.Measure, 0.5, 10, 4), idle}, "", ""},
		{"it waited for what the service used of a host with little left", users(), []*signals.Frame{waited(0.5), half, host(signals.Host{Idle: 0.15})}, summary.ByHost, "0.15 of 2 CPUs"},
		{"it waited on a full host", users(), []*signals.Frame{waited(0.5), half, host(signals.Host{Idle: 0.02})}, summary.ByHost, "0.02 of 2 CPUs"},
		{"it waited for a neighbour", users(), []*signals.Frame{waited(1.9), half, host(signals.Host{Idle: 0.3, Foreign: 1})}, "", ""},
		{"it waited for the hypervisor", users(), []*signals.Frame{waited(1.9), half, host(signals.Host{Idle: 0.3, Steal: 1})}, "", ""},
		{"the service fails beside it", users(), []*signals.Frame{failing, half, idle}, "", ""},
		{"in an open loop the lag decides", fixture.Search(), []*signals.Frame{waited(1.9), half, idle}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Observe(c.e, &c.e.Cells[0], 4)
			for _, f := range c.frames {
				o.Add(f)
			}
			got := o.outside()
			if got != c.want || o.Observation().Limited != (c.want != "") {
				t.Errorf("limited by %q, and the observation says %v, want %q", got, o.Observation().Limited, c.want)
			}
			if got != "" && !strings.Contains(wording.Of(o.shownOutside(got)), c.evidence) {
				t.Errorf("evidence %q, want %q in it", wording.Of(o.shownOutside(got)), c.evidence)
			}
		})
	}
}

// Errors beside others may be theirs: a service that has less CPU refuses more. Only a
// death, or that no request has a good answer, is the service's own.
func TestErrorsBesideOthers(t *testing.T) {
	e := fixture.Search()
	for _, c := range []struct {
		name      string
		status    int64
		server    signals.Server
		host      signals.Host
		disturbed finding.Source
	}{
		{"nobody else took CPU", 0, signals.Server{}, signals.Host{CPUs: 2, Idle: 1}, 0},
		{"a neighbour did", 0, signals.Server{}, signals.Host{CPUs: 2, Idle: 0.1, Foreign: 1}, finding.Neighbour},
		{"the hypervisor did", 0, signals.Server{}, signals.Host{CPUs: 2, Idle: 0.1, Steal: 1}, finding.Hypervisor},
		{"both did", 0, signals.Server{}, signals.Host{CPUs: 2, Idle: 0.1, Foreign: 0.5, Steal: 0.5}, finding.Neighbour | finding.Hypervisor},
		{"nobody else did, and half of the answers are errors", 100, signals.Server{}, signals.Host{CPUs: 2, Idle: 1}, 0},
		{"a neighbour did, and half of the answers are errors", 100, signals.Server{}, signals.Host{CPUs: 2, Idle: 0.1, Foreign: 1}, finding.Neighbour},
		{"a neighbour did, and the service was killed", 100, signals.Server{OOMKills: new(int64(1))}, signals.Host{CPUs: 2, Idle: 0.1, Foreign: 1}, 0},
		{"a neighbour did, and the service ended", 100, signals.Server{Restarts: 1}, signals.Host{CPUs: 2, Idle: 0.1, Foreign: 1}, 0},
		{"a neighbour did, and all answers are errors", -100, signals.Server{}, signals.Host{CPUs: 2, Idle: 0.1, Foreign: 1}, 0},
	} {
		o := Observe(e, &e.Cells[0], 100)
		f := fixture.Client(1, signals.Measure, 100, 10*time.Millisecond)
		if c.status < 0 {
			f.Client.Good, c.status = 0, -c.status
			f.Client.Latency.Reset()
		}
		if c.status > 0 {
			f.Client.Status["500"] = c.status
		}
		o.Add(f)
		o.Add(&signals.Frame{Trial: 1, Seq: 1, Phase: signals.Measure, Start: 1e9, End: 2e9, Of: e.Cells[0].Service.Name, Server: &c.server})
		o.Add(&signals.Frame{Trial: 1, Seq: 1, Phase: signals.Measure, Start: 1e9, End: 2e9, Host: &c.host})
		if got := o.Observation().Disturbed; got != c.disturbed {
			t.Errorf("%s: disturbed is %v, want %v", c.name, got, c.disturbed)
		}
	}
}

func TestSearchConfig(t *testing.T) {
	e := fixture.Search()
	got := SearchConfig(e, &e.Cells[0], nil)
	want := search.Config{First: 50, Most: mostRate, AllowedLate: got.AllowedLate, AllowedBad: got.AllowedBad, Late: 100 * time.Millisecond, Block: time.Second, Budget: 59 * time.Second, After: 59 * time.Second}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for quantile, late := range map[string]float64{"p50": 0.5, "p90": 0.1, "p95": 0.05, "p99": 0.01, "p999": 0.001} {
		e.Objective.Quantile = quantile
		if got := SearchConfig(e, &e.Cells[0], nil).AllowedLate; got < late*0.999999 || got > late*1.000001 {
			t.Errorf("%s allows %v late, want %v", quantile, got, late)
		}
	}
	e.Objective.Quantile, e.Objective.Availability = "", 0
	if got := SearchConfig(e, &e.Cells[0], nil); got.AllowedLate >= 0 || got.AllowedBad >= 0 {
		t.Errorf("%+v: what was not asked must be negative", got)
	}
}
