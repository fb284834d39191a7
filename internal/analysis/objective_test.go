package analysis

import (
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/capacity"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/wording"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// endings is how the requests of one second ended.
type endings struct {
	good, late                           int64 // answered within 20 ms, and after 500 ms
	refused, cut, malformed, failed, bad int64
	timeouts, dropped                    int64
	timeout                              time.Duration // 0: 2 s
	quantile                             string
	availability                         float64
	limit                                time.Duration // 0: 100 ms
	waiting                              bool          // the backlog is bounded
}

func (s endings) experiment(target *experiment.Target) *experiment.Experiment {
	timeout, limit := s.timeout, s.limit
	if timeout == 0 {
		timeout = 2 * time.Second
	}
	if limit == 0 {
		limit = 100 * time.Millisecond
	}
	load := experiment.Load{Rate: target, Agents: 1, Timeout: timeout}
	if s.waiting {
		load.Waiting = new(int64(1))
	}
	e := fixture.Experiment(load)
	e.Objective = &experiment.Objective{Availability: s.availability}
	if s.quantile != "" {
		e.Objective.Quantile, e.Objective.Latency = s.quantile, limit
	}
	return e
}

// frame is the client frame of the second with this number.
func (s endings) frame(seq int) *signals.Frame {
	f := fixture.Client(seq, signals.Measure, s.good, 20*time.Millisecond)
	k := f.Client
	k.Good += s.late
	k.Status = map[string]int64{"200": k.Good + s.failed, "503": s.bad}
	for range s.late {
		k.Latency.Record(500 * time.Millisecond)
		k.Service.Record(500 * time.Millisecond)
	}
	timeout := s.timeout
	if timeout == 0 {
		timeout = 2 * time.Second
	}
	for range s.timeouts {
		k.Latency.Record(timeout)
		k.Service.Record(timeout)
	}
	k.Timeouts, k.Refused, k.Cut, k.Malformed, k.Failed, k.Dropped = s.timeouts, s.refused, s.cut, s.malformed, s.failed, s.dropped
	return f
}

// verdicts are the judgements of a constant load, a level of a ramp and a window of a
// search on the same second.
func (s endings) verdicts(t *testing.T) map[string]bool {
	t.Helper()
	constant, _ := build(s.experiment(&experiment.Target{Value: 100}), s.frame(1))
	if constant.Objective.Met == nil {
		t.Fatal("a constant load has no verdict")
	}
	stages := &experiment.Target{Stages: []experiment.Stage{{Target: 100}, {Duration: time.Second, Target: 100}, {Target: 200}, {Duration: time.Second, Target: 200}}}
	b := New(s.experiment(stages), []Attempt{{Trial: 1}})
	b.cell(0).trials[0].levels[0].Add(s.frame(1), "go")
	met, missed := b.cell(0).ramps().Decisive()
	if met == nil && missed == nil {
		t.Fatal("a ramp has no verdict")
	}
	e := s.experiment(&experiment.Target{Value: 100})
	window := capacity.Observe(e, &e.Cells[0], 100)
	window.Add(s.frame(1))
	return map[string]bool{"a constant load": *constant.Objective.Met, "a ramp": met != nil,
		"a step":   *b.cell(0).steps()[0].Met,
		"a search": !capacity.SearchConfig(e, &e.Cells[0], nil).Missed(window.Blocks())}
}

func TestARequestThatFailedIsInfinitelyLate(t *testing.T) {
	for name, c := range map[string]struct {
		endings
		met bool
	}{
		"all answered in time":                     {endings{good: 100, quantile: "p99"}, true},
		"most were refused, and the rest quick":    {endings{good: 10, refused: 90, quantile: "p99"}, false},
		"all were refused":                         {endings{refused: 100, quantile: "p99"}, false},
		"1% refused":                               {endings{good: 990, refused: 10, quantile: "p99"}, true},
		"over 1% refused":                          {endings{good: 989, refused: 11, quantile: "p99"}, false},
		"over 1% cut off":                          {endings{good: 989, cut: 11, quantile: "p99"}, false},
		"over 1% not HTTP":                         {endings{good: 989, malformed: 11, quantile: "p99"}, false},
		"over 1% failed a check":                   {endings{good: 989, failed: 11, quantile: "p99"}, false},
		"over 1% of a bad status":                  {endings{good: 989, bad: 11, quantile: "p99"}, false},
		"over 1% timed out":                        {endings{good: 989, timeouts: 11, quantile: "p99"}, false},
		"over 1% never sent":                       {endings{good: 989, dropped: 11, quantile: "p99", waiting: true}, false},
		"1% refused and late together":             {endings{good: 990, late: 5, refused: 5, quantile: "p99"}, true},
		"over 1% refused and late together":        {endings{good: 989, late: 6, refused: 5, quantile: "p99"}, false},
		"a timeout shorter than the latency":       {endings{good: 10, timeouts: 90, quantile: "p99", timeout: 50 * time.Millisecond}, false},
		"a timeout as long as the latency":         {endings{good: 10, timeouts: 90, quantile: "p99", timeout: 100 * time.Millisecond}, false},
		"errors that the availability allows":      {endings{good: 95, refused: 5, quantile: "p99", availability: 90}, false},
		"errors that the quantile allows":          {endings{good: 95, refused: 5, quantile: "p90", availability: 99}, false},
		"half, for a median":                       {endings{good: 50, refused: 50, quantile: "p50"}, true},
		"over half, for a median":                  {endings{good: 49, refused: 51, quantile: "p50"}, false},
		"exactly 10% late":                         {endings{good: 90, late: 10, quantile: "p90"}, true},
		"over 10% late":                            {endings{good: 89, late: 11, quantile: "p90"}, false},
		"exactly 5% late":                          {endings{good: 95, late: 5, quantile: "p95"}, true},
		"over 5% late":                             {endings{good: 94, late: 6, quantile: "p95"}, false},
		"exactly 1 of 1000 late":                   {endings{good: 999, late: 1, quantile: "p999"}, true},
		"2 of 1000 late":                           {endings{good: 998, late: 2, quantile: "p999"}, false},
		"1 of 60 late, which a p99 is rounded to":  {endings{good: 59, late: 1, quantile: "p99"}, false},
		"exactly 99.9% available":                  {endings{good: 999, refused: 1, availability: 99.9}, true},
		"99.8% available":                          {endings{good: 998, refused: 2, availability: 99.9}, false},
		"exactly 99.95% available":                 {endings{good: 1999, bad: 1, availability: 99.95}, true},
		"exactly 70.1% available":                  {endings{good: 701, bad: 299, availability: 70.1}, true},
		"all of them wanted, and 1 of 200,000 bad": {endings{good: 199999, bad: 1, availability: 100}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for where, met := range c.verdicts(t) {
				if met != c.met {
					t.Errorf("%s: met is %v, want %v", where, met, c.met)
				}
			}
		})
	}
}

// The figures are those of the answered requests, so a finding has to explain why the
// objective is missed nevertheless.
func TestAFindingSaysThatFailedRequestsMissALatency(t *testing.T) {
	for name, c := range map[string]struct {
		endings
		want string
	}{
		"refused": {endings{good: 10, refused: 90, quantile: "p99"},
			"objective: p99 <= 100ms; measured: p99 ≥20.02 ms; 90% of the requests failed, and a failed request counts as infinitely late"},
		"one of sixty": {endings{good: 59, late: 1, quantile: "p99"},
			"objective: p99 <= 100ms; measured: p99 20.02 ms; 1.67% of the requests were later than 100ms; not decided: 60 requests are too few: its p99 needs 1,000"},
		"slow":         {endings{good: 10, late: 90, quantile: "p99"}, "objective: p99 <= 100ms; measured: p99 500.2 ms"},
		"availability": {endings{good: 990, refused: 10, quantile: "p90", availability: 99.9}, "objective: p90 <= 100ms, availability >= 99.9%; measured: p90 20.02 ms, availability 99%"},
	} {
		t.Run(name, func(t *testing.T) {
			e := c.experiment(&experiment.Target{Value: 100})
			b := New(e, []Attempt{{Trial: 1}})
			b.Add(c.frame(1))
			s := b.Summarize(summary.Experiment{}, record.Host{})
			wording.Fill(s)
			if f := s.Findings[0]; f.Title != "misses the objective" || f.Text != c.want || (s.Objective() == summary.Missed) == strings.Contains(c.want, "not decided") {
				t.Errorf("%v; finding %q: %q", s.Objective(), f.Title, f.Text)
			}
		})
	}
}

// A percentile of all requests counts the failed ones as infinitely late: of 1,000, six of
// which failed, p99 is the 990th of those that were answered.
func TestALatencyOfAllRequestsCountsTheFailedOnes(t *testing.T) {
	of := func(refused int64) summary.Cell {
		e := fixture.Experiment(experiment.Load{Rate: &experiment.Target{Value: 1000}, Agents: 1, Timeout: 20 * time.Second})
		e.Objective = &experiment.Objective{Quantile: "p99", Latency: 987 * time.Millisecond}
		f := fixture.Client(1, "measure", 0, 0)
		k := f.Client
		k.Good, k.Refused = 1000-refused, refused
		k.Status = map[string]int64{"200": k.Good}
		for i := range k.Good {
			k.Latency.Record(time.Duration(i+1) * time.Millisecond)
			k.Service.Record(time.Duration(i+1) * time.Millisecond)
		}
		c, _ := build(e, f)
		return c
	}
	for _, c := range []struct {
		refused  int64
		p99      float64
		infinite bool
		met      bool
	}{{0, 990, false, false}, {6, 990, false, false}, {10, 990, false, false}, {11, 980, true, false}, {500, 495, true, false}} {
		cell := of(c.refused)
		got, infinite := cell.OfAllRequests("p99")
		if got < 0.99*c.p99 || got > 1.01*c.p99 || infinite != c.infinite || *cell.Objective.Met != c.met {
			t.Errorf("%d refused: p99 %g ms (infinite %v), met %v; want %g (%v), %v", c.refused, got, infinite, *cell.Objective.Met, c.p99, c.infinite, c.met)
		}
		met := !infinite && got <= *cell.Objective.LatencyMS
		if met != *cell.Objective.Met {
			t.Errorf("%d refused: a p99 of %g ms, and met %v", c.refused, got, *cell.Objective.Met)
		}
	}
}
