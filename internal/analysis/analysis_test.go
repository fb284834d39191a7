package analysis

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/wording"
	"github.com/millicore/millicore/test/testkit/fixture"
)

func TestCountedChoosesByWhatDisturbed(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []Attempt
		want map[int]bool
	}{
		{"complete trials count", []Attempt{{Trial: 1}, {Trial: 2, Repeat: 1}}, map[int]bool{1: true, 2: true}},
		{"a disturbed trial gives way to its quiet repeat",
			[]Attempt{{Trial: 1, State: Disturbed}, {Trial: 5, Attempt: 1}}, map[int]bool{5: true}},
		{"where it stays disturbed, the last attempt counts",
			[]Attempt{{Trial: 1, State: Disturbed}, {Trial: 5, Attempt: 1, State: Disturbed}}, map[int]bool{5: true}},
		{"a trial cut off does not count beside a whole one",
			[]Attempt{{Trial: 1}, {Trial: 2, Repeat: 1, State: Partial}}, map[int]bool{1: true}},
		{"a trial cut off is better than nothing in its cell",
			[]Attempt{{Trial: 1}, {Trial: 2, Cell: 1, State: Partial}}, map[int]bool{1: true, 2: true}},
		{"a trial that was ended early because it is repeated gives way, also to a disturbed one",
			[]Attempt{{Trial: 1, State: Disturbed, Early: true}, {Trial: 5, Attempt: 1, State: Disturbed}}, map[int]bool{5: true}},
		{"and does not count if its repeat did not run",
			[]Attempt{{Trial: 1}, {Trial: 2, Repeat: 1, State: Disturbed, Early: true}}, map[int]bool{1: true}},
		{"a failed trial never counts", []Attempt{{Trial: 1, State: Failed}}, map[int]bool{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, Counted(c.in)); d != "" {
				t.Error(d)
			}
		})
	}
}

// Ranks from tables of the sign test (Conover, Practical Nonparametric Statistics,
// table A3: the largest k with 2 P(B <= k) <= 0.05, from 0).
func TestMedianIntervalHasTheRanksOfTheSignTest(t *testing.T) {
	for n, want := range map[int][2]int{6: {0, 5}, 7: {0, 6}, 8: {0, 7}, 9: {1, 7}, 10: {1, 8}, 12: {2, 9}, 15: {3, 11}, 20: {5, 14}, 25: {7, 17}} {
		low, high, ok := stats.MedianInterval(n)
		if !ok || low != want[0] || high != want[1] {
			t.Errorf("n = %d: ranks %d to %d (%v), want %d to %d", n, low, high, ok, want[0], want[1])
		}
	}
	if _, _, ok := stats.MedianInterval(5); ok {
		t.Error("five trials give no 95% interval of a median")
	}
}

// --- frames by hand -------------------------------------------------------

func build(e *experiment.Experiment, frames ...*signals.Frame) (summary.Cell, []summary.Series) {
	b := New(e, []Attempt{{Trial: 1}})
	for _, f := range frames {
		b.Add(f)
	}
	return b.Cells()[0], b.Series()
}

// Nobody knows whether an answer to a request of the warm-up was good. Where nothing else
// ended, as during the timeout of the first requests, that is as in the rest of the trial.
func TestCarriedAnswersAreGoodAsTheOthers(t *testing.T) {
	for _, c := range []struct {
		good, timeouts int64
		want           float64
	}{{0, 40, 0}, {40, 0, 20 + 40}, {30, 10, 15 + 30}} {
		first, rest := fixture.Client(1, signals.Measure, 0, 0), fixture.Client(2, signals.Measure, c.good, 10*time.Millisecond)
		first.Client.Carried, rest.Client.Timeouts = 20, c.timeouts
		got, _ := build(fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}}), first, rest)
		if math.Abs(*got.RateRPS-c.want/2) > 1e-9 {
			t.Errorf("%d good, %d timeouts: rate %v, want %v", c.good, c.timeouts, *got.RateRPS, c.want/2)
		}
	}
}

func TestACellCountsRequestsByWhenTheyWereIntended(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
	first := fixture.Client(1, signals.Measure, 80, 10*time.Millisecond)
	first.Client.Carried = 20 // answered now, intended in the warm-up
	second := fixture.Client(2, signals.Measure, 96, 10*time.Millisecond)
	second.Client.Timeouts, second.Client.Status = 4, map[string]int64{"200": 96}
	drain := fixture.Client(3, signals.Drain, 20, 400*time.Millisecond)
	got, _ := build(e, fixture.Client(0, signals.Warmup, 500, time.Second), first, fixture.Server(1, signals.Measure, 0.9, 10, 4), second, fixture.Server(2, signals.Measure, 0.7, 10, 2), drain)

	if got.Requests != 80+100+20 {
		t.Errorf("requests %d, want those intended while it was measured: 200", got.Requests)
	}
	if want := (80 + 20 + 96.0) / 2; math.Abs(*got.RateRPS-want) > 1e-9 {
		t.Errorf("rate %v, want the answers of the measured 2 s: %v", *got.RateRPS, want)
	}
	if want := 100 * 196.0 / 200; math.Abs(*got.Availability-want) > 1e-9 {
		t.Errorf("availability %v, want %v", *got.Availability, want)
	}
	if got.LatencyMS.P99 < 399 {
		t.Errorf("p99 %v ms: the answers of the drain are the tail, 400 ms", got.LatencyMS.P99)
	}
	if *got.CPU.Cores != 0.8 || *got.CPU.OfLimit != 0.8 || *got.CPU.Periods != 20 || *got.CPU.ThrottledPeriods != 6 {
		t.Errorf("cpu %+v, want 0.8 cores, 6 of 20 periods", got.CPU)
	}
}

func TestWhatWasNotMeasuredIsNull(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
	got, _ := build(e, fixture.Client(1, signals.Measure, 0, 0))
	if got.LatencyMS != nil || got.Availability != nil || got.CPU.Cores != nil || got.CPU.ThrottledPeriods != nil || got.Memory.PeakBytes != nil {
		t.Errorf("%+v: figures for what was not measured", got)
	}
}

// Latencies beyond the histograms' range are counted next to the figures, which are
// then lower bounds. A latency of one hour is within the range.
func TestLatenciesBeyondTheRangeAreCounted(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
	got, _ := build(e, fixture.Client(1, signals.Measure, 96, time.Hour), fixture.Client(2, signals.Measure, 4, 2*time.Hour))
	if got.LatencyMS.Beyond != 4 || got.PerTrial[0].Beyond != 4 {
		t.Errorf("%d beyond the range, %d of the trial, want 4 of each", got.LatencyMS.Beyond, got.PerTrial[0].Beyond)
	}
	if hour := 3600810.0; got.LatencyMS.P95 >= hour || got.LatencyMS.P99 < hour || got.LatencyMS.P99 > 1.01*hour {
		t.Errorf("p95 %v ms, p99 %v ms; want an hour, and a little more", got.LatencyMS.P95, got.LatencyMS.P99)
	}
	if got, _ := build(e, fixture.Client(1, signals.Measure, 96, time.Hour)); got.LatencyMS.Beyond != 0 {
		t.Errorf("%d beyond the range, want none", got.LatencyMS.Beyond)
	}
}

// The connections of all agents in one interval are open at the same time, those of
// two intervals are not.
func TestConnectionsOpenAtOnce(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
	var frames []*signals.Frame
	for seq, open := range [][2]int64{{9, 9}, {2, 3}, {4, 2}, {1, 1}} {
		for agent, n := range open {
			f := fixture.Client(seq, signals.Measure, 10, time.Millisecond)
			if f.Agent, f.Client.OpenConnections = new(agent), n; seq == 0 {
				f.Phase = signals.Warmup
			}
			frames = append(frames, f)
		}
	}
	got, _ := build(e, frames...)
	if most := got.Generator.OpenConnections; most == nil || *most != 6 {
		t.Errorf("%v connections open at once; want 6", most)
	}
	if old, _ := build(e, fixture.Client(1, signals.Measure, 10, time.Millisecond)); old.Generator.OpenConnections != nil {
		t.Errorf("%d connections open at once in a record that does not have them; want none", *old.Generator.OpenConnections)
	}
}

func TestTwoReplicasAddUpAndTwoAgentsToo(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
	var frames []*signals.Frame
	for i := range 2 {
		for seq := 1; seq <= 2; seq++ {
			c, s := fixture.Client(seq, signals.Measure, 50, time.Millisecond), fixture.Server(seq, signals.Measure, 0.5, 10, 1)
			c.Agent, s.Index = new(i), i
			frames = append(frames, c, s)
		}
	}
	got, series := build(e, frames...)
	if *got.RateRPS != 100 {
		t.Errorf("rate %v, want both agents' 100", *got.RateRPS)
	}
	if *got.CPU.Cores != 1 || *got.CPU.OfLimit != 0.5 || *got.CPU.Limit != 2 {
		t.Errorf("cpu %+v, want 1 core of 2", got.CPU)
	}
	if p := series[0].Points; len(p) != 2 || *p[0].RateRPS != 100 || *p[0].CPU != 1 {
		t.Errorf("points %+v, want 2 intervals of 100/s and 1 core", p)
	}
}

func TestAPercentileOverARampIsNeverAResult(t *testing.T) {
	s := time.Second
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Stages: []experiment.Stage{{Duration: 2 * s, Target: 100}, {Duration: 2 * s, Target: 100}}}})
	e.Measure.Warmup = 0
	got, _ := build(e, fixture.Client(0, signals.Measure, 10, s), fixture.Client(1, signals.Measure, 10, s),
		fixture.Client(2, signals.Measure, 100, time.Millisecond), fixture.Client(3, signals.Measure, 100, time.Millisecond))
	if got.LatencyMS == nil || got.LatencyMS.Max > 2 {
		t.Errorf("latency %+v, want that of the level only, 1 ms", got.LatencyMS)
	}
	if len(got.Steps) != 1 || got.Steps[0].Target != 100 || got.Steps[0].RateRPS != 100 || got.Steps[0].Seconds != 2 {
		t.Errorf("steps %+v, want one level of 100 users, held for 2 s", got.Steps)
	}

	e.Cells[0].Load.Users.Stages = e.Cells[0].Load.Users.Stages[:1]
	if got, _ = build(e, fixture.Client(0, signals.Measure, 10, s), fixture.Client(1, signals.Measure, 10, s)); got.LatencyMS != nil {
		t.Errorf("latency %+v of a load that only moves, want null", got.LatencyMS)
	}
}

func TestServerHalvesJoinTheClientHalfTheyOverlap(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
	_, series := build(e, fixture.Server(0, signals.Warmup, 0.2, 10, 0), fixture.Client(0, signals.Warmup, 10, time.Millisecond),
		fixture.Client(1, signals.Measure, 20, time.Millisecond), fixture.Server(1, signals.Measure, 0.6, 10, 5))
	p := series[0].Points
	if len(p) != 2 {
		t.Fatalf("%d points, want 2: %+v", len(p), p)
	}
	if p[0].T != 1 || *p[0].CPU != 0.2 || *p[0].RateRPS != 10 || p[1].T != 2 || *p[1].CPU != 0.6 || *p[1].Throttled != 0.5 {
		t.Errorf("points %+v", p)
	}
}

func TestObjective(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}, Timeout: 2 * time.Second})
	e.Objective = &experiment.Objective{Quantile: "p99", Latency: 250 * time.Millisecond, Availability: 99.9}
	for _, c := range []struct {
		name    string
		good    int64
		latency time.Duration
		refused int64
		held    bool
		want    *bool
	}{
		{"met", 1000, 250 * time.Millisecond, 0, true, new(true)},
		{"latency missed", 1000, 251 * time.Millisecond, 0, true, new(false)},
		{"availability missed", 998, time.Millisecond, 2, true, new(false)},
		{"no one load, availability missed: that is enough to know", 998, time.Millisecond, 2, false, new(false)},
		{"several loads: unknown", 1000, time.Millisecond, 0, false, nil},
		{"no request ended: unknown", 0, 0, 0, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := sums.New()
			f := fixture.Client(1, signals.Measure, c.good, c.latency)
			f.Client.Refused = c.refused
			all.Add(f, "go")
			cell := New(e, []Attempt{{Trial: 1}}).cell(0)
			if d := cmp.Diff(c.want, cell.objective(&summary.Cell{}, all, c.held).Met); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWhatTheHypervisorTookIsFlagged(t *testing.T) {
	for steal, want := range map[float64]summary.Flags{0.15: nil, 0.25: {summary.FlagBusyHypervisor}} {
		var n disturbance.Noise
		n.Add(&signals.Frame{Phase: signals.Measure, End: 1e9, Host: &signals.Host{CPUs: 2, Steal: steal, Idle: 1}})
		if got := noiseFlags(&n, 0.01); !slices.Equal(got, want) {
			t.Errorf("%v cores stolen: flags %q, want %q", steal, got, want)
		}
	}
}

func TestWhatDisturbedTrialsIsReportedOncePerCell(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
	attempts := []Attempt{{Trial: 1, State: Disturbed, Why: "a"}, {Trial: 2, Repeat: 1, State: Disturbed, Why: "b"},
		{Trial: 3, Repeat: 1, Attempt: 1}, {Trial: 4, Repeat: 2}, {Trial: 5, Repeat: 3, State: Failed, Why: "no such file"}}
	b := New(e, attempts)
	for i, latency := range []int{90, 80, 10, 12} {
		f := fixture.Client(1, signals.Measure, 1000, time.Duration(latency)*time.Millisecond)
		f.Trial = i + 1
		b.Add(f)
	}
	s := b.Summarize(summary.Experiment{}, record.Host{})
	wording.Fill(s)
	if d := cmp.Diff([]summary.Finding{{Level: "warning", Cell: new(0), Title: "1 trial failed", Text: "trial 5: no such file"}}, []summary.Finding{worded(s.Findings[0])}); d != "" {
		t.Error(d)
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 0.1 })
	want := &summary.Disturbance{By: []string{}, Trials: 4, Disturbed: 2, Kept: 1, Reasons: []string{"trial 1: a", "trial 2: b"},
		Quantile: "p99", Quiet: []float64{10, 12}, Noisy: []float64{90, 80}}
	s.Cells[0].Disturbance.Why = nil // the reasons have its words
	if d := cmp.Diff(want, s.Cells[0].Disturbance, near); d != "" {
		t.Error(d)
	}
}

func TestDeathsInTheWarmUpCount(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
	dies := fixture.Server(0, signals.Warmup, 5, 10, 10)
	dies.Server.Restarts, dies.Server.OOMKills = 2, new(int64(1))
	got, _ := build(e, dies, fixture.Client(1, signals.Measure, 10, time.Millisecond), fixture.Server(1, signals.Measure, 0.5, 10, 0))
	if *got.Restarts != 2 || *got.Memory.OOMKills != 1 {
		t.Errorf("restarts %v, OOM kills %v; want 2 and 1", *got.Restarts, *got.Memory.OOMKills)
	}
	if *got.CPU.Cores != 0.5 || *got.CPU.ThrottledPeriods != 0 {
		t.Errorf("cpu %+v holds the warm-up's", got.CPU)
	}
}

// With a number of requests each agent ends by itself.
func TestARateIsOverTheTimeOfTheLastAgent(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}, Requests: 200})
	fast, slow := fixture.Client(0, signals.Measure, 100, time.Millisecond), fixture.Client(0, signals.Measure, 100, time.Millisecond)
	fast.End, slow.Agent = fast.Start+5e8, new(1)
	got, _ := build(e, fast, slow)
	if *got.RateRPS != 200 {
		t.Errorf("rate %v, want 200 requests in the second that both took", *got.RateRPS)
	}
}

func TestAnObjectiveHoldsAtEveryLevel(t *testing.T) {
	e := fixture.Ramp(100, 200)
	e.Objective.Availability = 0
	for name, c := range map[string]struct {
		second fixture.Level
		met    bool
	}{
		"two good levels": {fixture.Fine, true}, "a slow level": {fixture.Slow, false}, "a level that refuses": {fixture.Level{Status500: 2}, false},
	} {
		one := New(e, []Attempt{{Trial: 1}}).cell(0)
		fill(one, 0, []fixture.Level{fixture.Fine, c.second})
		if got := one.objective(&summary.Cell{Steps: one.steps()}, sums.New(), false).Met; got == nil || *got != c.met {
			t.Errorf("%s: met is %v, want %v", name, got, c.met)
		}
	}
	s := &summary.Summary{Cells: []summary.Cell{{Objective: &summary.Objective{Outcome: summary.Met}}, {Objective: &summary.Objective{Outcome: summary.Unknown}}}}
	if s.Objective() != summary.Unknown {
		t.Error("a cell that could not be judged passes as good")
	}
}

func TestDriftDetectsAQueueThatGrows(t *testing.T) {
	trial := func(p99 ...time.Duration) *drift {
		var d drift
		for i, v := range p99 {
			d.add(fixture.Client(i, signals.Measure, 100, v*time.Millisecond))
		}
		return &d
	}
	if trial(10, 12, 9, 11, 10, 9).unsteady() {
		t.Error("a settled trial is called unsteady")
	}
	if !trial(10, 50, 100, 150, 200, 250).unsteady() {
		t.Error("a queue that grows is called steady")
	}
	if trial(10, 250).unsteady() {
		t.Error("two intervals are too few for a drift")
	}
}
