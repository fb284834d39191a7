package lab

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/capacity"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/wording"
)

// simulation is a simulated trial: an agent and a service with a capacity, in whole
// intervals of a simulated clock. Requests up to the capacity are answered at once; the
// others wait and are late.
type simulation struct {
	e        *experiment.Experiment
	now      time.Time
	capacity float64
	load     float64
	backlog  float64
	dies     float64 // permanently, under a load above; 0: never
	hangs    float64 // likewise: it answers nothing any more
	down     bool
	hung     bool
	drops    int
	weak     float64 // the agent sends late above; 0: never
	awake    float64 // CPUs of threads that never sleep
	loses    int     // after this number of steps one of several agents is lost; 0: never
	varies   int     // intervals in which the mix varies after the search
	steps    []signals.SearchStep
	frames   []*signals.Frame // in the order in which the record has them
	searcher *searcher
}

func newSimulation(change func(*simulation)) *simulation {
	e := &experiment.Experiment{
		Measure:   experiment.Measure{Warmup: time.Second, Duration: 60 * time.Second, Repeats: 1, Interval: 500 * time.Millisecond},
		Objective: &experiment.Objective{Quantile: "p99", Latency: 100 * time.Millisecond, Availability: 99.9},
		Cells: []experiment.Cell{{Service: experiment.Service{Name: "go"}, Limits: experiment.Limits{Replicas: 1},
			Load: experiment.Load{Rate: &experiment.Target{Value: 50}, Find: true, Agents: 1, Timeout: 2 * time.Second}}},
	}
	w := &simulation{e: e, now: time.Unix(1e9, 0), capacity: 700, load: 50}
	change(w)
	f := newSearcher(e, &e.Cells[0], 1, nil)
	f.now = func() time.Time { return w.now }
	f.up = func() bool { return !w.down }
	f.write = func(s signals.SearchStep) error { w.steps = append(w.steps, s); return nil }
	f.report = func(search.Step) {}
	f.change = func(load float64, drop bool) {
		w.load = load
		if drop {
			w.drops++
			w.backlog = min(w.backlog, 40) // on the wire
		}
	}
	if w.varies > 0 {
		f.vary = func(load float64) int {
			w.load = load / 2
			return w.varies
		}
	}
	w.searcher = f
	return w
}

// run passes intervals to the searcher until the search ends. It returns false if that
// takes more than ten minutes of the simulated clock.
func (w *simulation) run(t *testing.T) bool {
	t.Helper()
	for seq := range 1200 {
		if w.loses > 0 && len(w.steps) == w.loses {
			if err := w.searcher.lose("agent 1 failed"); err != nil {
				t.Fatal(err)
			}
			return true
		}
		w.now = w.now.Add(500 * time.Millisecond)
		for _, f := range w.interval(seq) {
			if w.searcher.varied(f.Seq) { // as the recorder does
				f.Phase = signals.Vary
			}
			w.frames = append(w.frames, f)
			ended, err := w.searcher.frame(f)
			if err != nil {
				t.Fatal(err)
			}
			if ended {
				return true
			}
		}
		ended, err := w.searcher.sampled(seq)
		if err != nil {
			t.Fatal(err)
		}
		if ended {
			return true
		}
	}
	return false
}

func (w *simulation) interval(seq int) []*signals.Frame {
	agent, zero := 0, time.Unix(1e9, 0)
	start, _, phase := cut(w.e, &w.e.Cells[0]).At(seq)
	base := signals.Frame{Trial: 1, Seq: seq, Phase: phase, Start: zero.Add(start).UnixNano(), End: zero.Add(start + 500*time.Millisecond).UnixNano()}
	if w.dies > 0 && w.load > w.dies {
		w.down = true
	}
	if w.hangs > 0 && w.load > w.hangs {
		w.hung = true
	}
	c := &signals.Client{Latency: signals.NewHistogram(), Service: signals.NewHistogram(), SendLag: signals.NewHistogram(), Rate: w.load}
	due := w.load / 2
	switch {
	case w.down:
		c.Refused = int64(due)
	case w.hung:
		w.backlog += due
	default:
		served := min(w.backlog+due, w.capacity/2)
		w.backlog += due - served
		c.Good = int64(served)
		c.Status = map[string]int64{"200": c.Good}
		wait := time.Millisecond + time.Duration(w.backlog/w.capacity*float64(time.Second))
		for range c.Good {
			c.Latency.Record(wait)
		}
	}
	c.InFlight = int64(math.Round(w.backlog))
	if w.weak > 0 && w.load > w.weak {
		for range int64(due) {
			c.Latency.Record(200 * time.Millisecond)
			c.SendLag.Record(190 * time.Millisecond)
		}
	}
	client, host := base, base
	client.Agent, client.Client = &agent, c
	host.Host = &signals.Host{CPUs: 2, Idle: 1}
	if w.awake == 0 {
		return []*signals.Frame{&client, &host}
	}
	server := base
	server.Of, server.Server = "go", &signals.Server{Up: true, CPU: new(w.awake / 2), Threads: &signals.Threads{Seconds: 0.5, Count: 4, Awake: w.awake / 2}}
	return []*signals.Frame{&client, &host, &server}
}

// A service with threads that never sleep is watched for a second without load after its
// search, which is otherwise the same.
func TestAServiceThatNeverSleepsIsWatchedWithoutLoad(t *testing.T) {
	of := func(awake float64) *simulation {
		w := newSimulation(func(w *simulation) { w.awake = awake })
		if !w.run(t) {
			t.Fatal("the search did not end")
		}
		return w
	}
	sleeps, awake := of(0), of(0.7)
	if d := cmp.Diff(sleeps.steps, awake.steps); d != "" {
		t.Error(d)
	}
	last := sleeps.steps[len(sleeps.steps)-1].Last
	var loads []float64
	for _, f := range awake.frames {
		if f.Client != nil && f.Seq > last {
			loads = append(loads, f.Client.Rate)
		}
	}
	if len(sleeps.frames) == 0 || sleeps.frames[len(sleeps.frames)-1].Seq != last || !slices.Equal(loads, []float64{0, 0, 0}) {
		t.Errorf("loads %v after the search", loads)
	}

	w := newSimulation(func(w *simulation) { w.awake = 0.7 })
	for seq := range 20 {
		w.searcher.awake.Add(w.interval(seq)[2], "go")
	}
	if !w.searcher.awake.Begin(500 * time.Millisecond) {
		t.Error("it sleeps")
	}
	if err := w.searcher.lose("agent 1 failed"); err != nil || len(w.steps) > 0 {
		t.Errorf("%v, %+v: the search has its answer already", err, w.steps)
	}
}

// After the search the mix varies for some intervals. The first has a moment of the last load.
func TestTheMixVariesAfterTheSearch(t *testing.T) {
	w := newSimulation(func(w *simulation) { w.varies = 6 })
	if !w.run(t) {
		t.Fatal("the search does not end")
	}
	last := w.steps[len(w.steps)-1].Last
	var phases []signals.Phase
	for _, f := range w.frames {
		if f.Client != nil && f.Seq > last {
			phases = append(phases, f.Phase)
		}
	}
	if v := signals.Vary; !slices.Equal(phases, []signals.Phase{signals.Measure, v, v, v, v, v}) {
		t.Errorf("%v after the search", phases)
	}
	// One that found no load has none for it.
	w = newSimulation(func(w *simulation) { w.varies, w.capacity = 6, 0.1 })
	if !w.run(t) || slices.ContainsFunc(w.frames, func(f *signals.Frame) bool { return f.Phase == signals.Vary }) {
		t.Error("it varies without a load")
	}
}

func TestTheSearchFindsTheCapacity(t *testing.T) {
	w := newSimulation(func(*simulation) {})
	if !w.run(t) {
		t.Fatal("the search does not end")
	}
	r := w.searcher.machine.Result()
	if r.Load < 0.9*w.capacity || r.Load > 1.05*w.capacity {
		t.Errorf("%+v, want about the capacity, %v", r, w.capacity)
	}
	if w.drops == 0 {
		t.Error("after a load above the capacity nothing was drained")
	}
	last := -1
	for i, s := range w.steps {
		if s.Step != i || s.First <= last || s.Last < s.First || s.Gone != "" {
			t.Errorf("step %d is %+v after one that ended with interval %d", i, s, last)
		}
		last = s.Last
	}
	// The interval in which the load changes has two loads, so the window begins after it.
	if w.steps[1].First < w.steps[0].Last+2 {
		t.Errorf("%+v directly after %+v", w.steps[1], w.steps[0])
	}
}

func TestASearchOfADeadServiceEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*simulation)
		want   string
		within time.Duration
	}{
		{"a service that dies permanently", func(w *simulation) { w.dies = 500 }, "did not serve again within 2", time.Minute},
		{"a service that stops answering", func(w *simulation) { w.hangs = 500 }, "stopped answering: ", time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newSimulation(c.change)
			if !w.run(t) {
				t.Fatal("the search does not end")
			}
			last := w.steps[len(w.steps)-1]
			if !strings.Contains(last.Gone, c.want) || last.Last >= last.First {
				t.Errorf("the last step is %+v, want %q and no window", last, c.want)
			}
			if took := w.now.Sub(time.Unix(1e9, 0)); took > c.within {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A replay of the record has the same result as the live search.
func TestAReplayHasTheSameResult(t *testing.T) {
	for _, c := range []struct {
		name   string
		found  bool // a breaking point or a bound
		bound  bool
		change func(*simulation)
	}{
		{"a breaking point", true, false, func(*simulation) {}},
		{"users", true, false, func(w *simulation) {
			w.load, w.capacity = 8, 90
			w.e.Cells[0].Load.Rate, w.e.Cells[0].Load.Users = nil, &experiment.Target{Value: 8}
		}},
		{"a generator that is weak: a bound", true, true, func(w *simulation) { w.weak = 600 }},
		{"a generator that is little stronger than the service", true, false, func(w *simulation) { w.weak = 800 }},
		{"an agent that is lost before the service breaks: a bound", true, true, func(w *simulation) { w.loses = 2 }},
		{"an agent that is lost late", true, false, func(w *simulation) { w.loses = 12 }},
		{"a service that dies permanently", true, false, func(w *simulation) { w.dies = 500 }},
		{"a service that stops answering", true, false, func(w *simulation) { w.hangs = 500 }},
		{"a service that misses always", false, false, func(w *simulation) { w.capacity = 0.1 }},
		{"a mix that varies after the search", true, false, func(w *simulation) { w.varies = 6 }},
		{"a search in a hurry", true, false, func(w *simulation) { w.e.Measure.SearchSpeed = 2 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newSimulation(c.change)
			if !w.run(t) {
				t.Fatal("the search does not end")
			}
			live := w.searcher.machine.Result()
			if (live.Load > 0) != c.found || live.AtLeast != c.bound {
				t.Errorf("%+v, want one found: %v, a bound: %v", live, c.found, c.bound)
			}
			again := analysis.New(w.e, []analysis.Attempt{{Trial: 1}}, w.steps...)
			for _, f := range w.frames {
				again.Add(f)
			}
			b := again.Cells()[0].Breaking
			load, low, high := 0.0, 0.0, 0.0
			if b.Load() != nil {
				load, low, high = *b.Load(), *b.Low, math.Inf(1)
			}
			if b.High != nil {
				high = *b.High
			}
			got := search.Result{Load: load, Low: low, High: high, Tested: live.Tested, AtLeast: b.AtLeast, Ended: live.Ended,
				Why: live.Why, Recovery: live.Recovery, Traffic: time.Duration(math.Round(1e3*b.TrafficS)) * time.Millisecond}
			if !reflect.DeepEqual(got, live) {
				t.Errorf("%+v from the record, %+v live", got, live)
			}
			if why := wording.Of(live.Why); wording.Joined(b.Why) != why {
				t.Errorf("%q from the record, %q live", wording.Joined(b.Why), why)
			}
			if byGenerator := b.LimitedBy == summary.ByGenerator; byGenerator != live.Ended.Generator() {
				t.Errorf("limited by %q, the search ended with %q", b.LimitedBy, live.Ended)
			}
			if (b.Recovery != nil) != (live.Load > 0) || live.Load > 0 && (!reflect.DeepEqual(b.Recovery.Why, live.Recovery.Why) || b.Recovery.Lost != live.Recovery.Lost || (b.RecoversAt != nil) != (live.Recovery.At > 0)) {
				t.Errorf("%+v from the record, %+v live", b.Recovery, live.Recovery)
			}
		})
	}
}

// A search that loses an agent before its first window has no result but the reason.
func TestAnAgentIsLostDuringTheWarmUp(t *testing.T) {
	w := newSimulation(func(*simulation) {})
	if err := w.searcher.lose("agent 1 failed"); err != nil {
		t.Fatal(err)
	}
	if r := w.searcher.machine.Result(); r.Load != 0 || r.Ended != search.AgentLost || wording.Of(r.Why) != "the search ended early: agent 1 failed" {
		t.Errorf("%+v", r)
	}
	b := analysis.New(w.e, []analysis.Attempt{{Trial: 1}}, w.steps...).Cells()[0].Breaking
	if b.Load() != nil || b.LimitedBy != summary.ByGenerator || wording.Joined(b.Why) != "the search ended early: agent 1 failed" {
		t.Errorf("%+v", b)
	}
}

// A late frame of an interval before the window does not count in the window.
func TestAFrameCountsInItsOwnInterval(t *testing.T) {
	w := newSimulation(func(*simulation) {})
	f := w.searcher
	f.line = signals.SearchStep{First: 10, Last: 12}
	f.window = capacity.Observe(w.e, &w.e.Cells[0], 50)
	of := func(seq int) *signals.Frame {
		frame := w.interval(seq)[0]
		frame.Phase = signals.Measure
		return frame
	}
	f.pending = []*signals.Frame{of(9), of(10), of(11)}
	f.take(10)
	if n := len(f.window.Blocks()); n != 1 || len(f.pending) != 1 {
		t.Errorf("%d intervals in the window and %d frames left, want that of 10, and 11 left", n, len(f.pending))
	}
	f.pending = append(f.pending, of(10))
	f.take(11)
	if blocks := f.window.Blocks(); len(blocks) != 2 || blocks[0].Requests != 50 || blocks[1].Requests != 25 {
		t.Errorf("%+v, want both frames of 10, and the one of 11", blocks)
	}
}
