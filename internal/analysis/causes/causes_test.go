package causes

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// Times in these tests are milliseconds after this one.
const zero = int64(1_700_000_000_000_000_000)

func at(ms float64) int64 { return zero + int64(ms*1e6) }

// slow is a request to replica 0 in trial 1, sent when it was intended.
func slow(intended, done float64) signals.SlowLine {
	return signals.SlowLine{Trial: 1, Slow: signals.Slow{Intended: at(intended), Sent: at(intended), Done: at(done), For: 1}}
}

// late is a request that the generator sent late.
func late(intended, sent, done float64) signals.SlowLine {
	s := slow(intended, done)
	s.Sent, s.Lag = at(sent), at(sent)-at(intended)
	return s
}

func lost(intended, done float64) signals.SlowLine {
	s := slow(intended, done)
	s.TimedOut = true
	return s
}

func window(kind signals.WindowKind, start, end float64) signals.Window {
	return signals.Window{Trial: 1, Of: "web", Kind: kind, Start: at(start), End: at(end)}
}

func frame(start, end float64) *signals.Frame {
	return &signals.Frame{Trial: 1, Phase: signals.Measure, Start: at(start), End: at(end)}
}

func due(start, end float64, n int64) *signals.Frame {
	f := frame(start, end)
	f.Client = &signals.Client{Intended: n}
	return f
}

// host is a host frame, of the named machine if there is one.
func host(start, end float64, h signals.Host, machine ...string) *signals.Frame {
	f := frame(start, end)
	f.Host, f.Machine = &h, strings.Join(machine, "")
	return f
}

func server(start, end float64, s signals.Server, machine ...string) *signals.Frame {
	f := frame(start, end)
	f.Of, f.Server, f.Machine = "web", &s, strings.Join(machine, "")
	return f
}

// waits is a histogram with bounds of 10 ms, 100 ms and 1 s.
func waits(start, end float64, sum float64, counts ...int64) *signals.Frame {
	f := frame(start, end)
	f.Of, f.Waits = "web", &signals.Waits{Bounds: []float64{0.01, 0.1, 1}, Counts: counts, Sum: sum}
	return f
}

// shares are in milliseconds of the tail's time, in the order of precedence.
type shares struct{ generator, queue, throttling, dependency, restart, neighbours, rest float64 }

// atMost has what may be throttling as throttling.
func atMost(c *summary.Causes) shares {
	all, perhaps := c.MeanMS*float64(c.Requests), c.ThrottlingHigh-c.Throttling
	return shares{c.Generator * all, c.GeneratorQueue * all, c.ThrottlingHigh * all, c.Dependency * all, c.Restart * all, c.Neighbours * all, (c.Rest - perhaps) * all}
}

func TestDivision(t *testing.T) {
	throttled, down := signals.Throttled, signals.Down
	full := signals.Host{CPUs: 2, Idle: 0.05, Services: 0.5, Foreign: 1.5}
	half := signals.Host{CPUs: 2, Idle: 0.75, Services: 0.5, Foreign: 0.75}
	calm := signals.Host{CPUs: 2, Idle: 1.5, Services: 0.5}
	compilers := signals.Host{CPUs: 2, Idle: 0.05, Services: 0.02, Foreign: 1.92}
	waitedFor := func(start, end, ms float64) *signals.Frame {
		seconds := ms / 1000
		return server(start, end, signals.Server{Up: true, CPUPressure: &seconds})
	}
	killed, waited := int64(1), 0.5
	elsewhere := func(change func(*signals.Window)) signals.Window {
		w := window(throttled, 0, 100)
		change(&w)
		return w
	}
	lateAgent := due(0, 1000, 100)
	lateAgent.Client.RunWait = &waited
	lateAgent.Client.Latency, lateAgent.Client.SendLag = signals.NewHistogram(), signals.NewHistogram()
	for range 95 {
		lateAgent.Client.Latency.Record(20 * msec)
		lateAgent.Client.SendLag.Record(5 * msec)
	}

	for _, c := range []struct {
		name    string
		slow    []signals.SlowLine
		windows []signals.Window
		frames  []*signals.Frame
		want    shares
	}{
		{"nothing known", []signals.SlowLine{slow(0, 100)}, nil, nil, shares{rest: 100}},
		{"the generator sent late", []signals.SlowLine{late(0, 60, 100)}, nil, nil, shares{generator: 60, rest: 40}},
		{"waited for a connection, then sent late", []signals.SlowLine{func() signals.SlowLine {
			s := late(0, 60, 100)
			s.Lag = 10e6
			return s
		}()}, nil, nil, shares{generator: 10, rest: 90}},
		{"in a throttle window", []signals.SlowLine{slow(0, 100)}, []signals.Window{window(throttled, 20, 70)}, nil,
			shares{throttling: 50, rest: 50}},
		{"in three windows, two of them cut off by its ends", []signals.SlowLine{slow(0, 250)},
			[]signals.Window{window(throttled, 250-20, 300), window(throttled, -50, 10), window(throttled, 50, 100)}, nil,
			// and 50 ms behind the first window, which ended that long before the
			// request came
			shares{throttling: 10 + 50 + 20 + 50, rest: 120}},
		{"windows that overlap count once", []signals.SlowLine{slow(0, 100)},
			[]signals.Window{window(throttled, 20, 50), window(throttled, 40, 60), window(down, 50, 80)}, nil,
			shares{throttling: 40, restart: 20, rest: 40}},
		{"late and in a window: late comes first", []signals.SlowLine{late(0, 60, 100)},
			[]signals.Window{window(throttled, 40, 80)}, nil, shares{generator: 60, throttling: 20, rest: 20}},
		{"another replica's window", []signals.SlowLine{slow(0, 100)},
			[]signals.Window{elsewhere(func(w *signals.Window) { w.Index = 1 })}, nil, shares{rest: 100}},
		{"another trial's window", []signals.SlowLine{slow(0, 100)},
			[]signals.Window{elsewhere(func(w *signals.Window) { w.Trial = 2 })}, nil, shares{rest: 100}},
		{"a dependency's window", []signals.SlowLine{slow(0, 100)},
			[]signals.Window{elsewhere(func(w *signals.Window) { w.Of = "db" })}, nil, shares{rest: 100}},

		{"behind a window, for no longer than it lasted", []signals.SlowLine{slow(0, 60), slow(51, 151)},
			[]signals.Window{window(throttled, 20, 50)}, nil,
			// The first works after the window, the second during 30 ms of the wait.
			shares{throttling: 30 + 30, rest: 30 + 70}},
		{"behind a window, with its own time kept", []signals.SlowLine{slow(0, 80), slow(51, 71)},
			[]signals.Window{window(throttled, 0, 50)}, nil, shares{throttling: 50 + 10, rest: 30 + 10}},
		{"came in a window: what it lasted before counts for the queue", []signals.SlowLine{slow(30, 90)},
			[]signals.Window{window(throttled, 0, 50)}, nil, shares{throttling: 20 + 30, rest: 10}},
		{"the queue has drained: none was slow for long", []signals.SlowLine{slow(0, 200), slow(130, 230)},
			[]signals.Window{window(throttled, 60, 100)}, []*signals.Frame{due(0, 1000, 400)},
			shares{throttling: 40, rest: 160 + 100}},
		{"the queue stands: every tenth request is enough evidence", []signals.SlowLine{slow(0, 200), slow(120, 220)},
			[]signals.Window{window(throttled, 60, 100)}, []*signals.Frame{due(0, 1000, 400)},
			shares{throttling: 40 + 40, rest: 160 + 60}},
		{"not throttled for a whole period: the queue has drained", []signals.SlowLine{slow(0, 300), slow(201, 301)},
			[]signals.Window{window(throttled, 60, 100)}, nil, shares{throttling: 40, rest: 260 + 100}},
		{"throttled in every period: the queue stands all the time", []signals.SlowLine{slow(350, 550)},
			[]signals.Window{window(throttled, 50, 100), window(throttled, 150, 200), window(throttled, 250, 300),
				window(throttled, 350, 400), window(throttled, 450, 500)}, nil,
			shares{throttling: 100 + 90, rest: 10}},
		{"behind a frozen generator", []signals.SlowLine{late(0, 600, 640), slow(601, 661)}, nil, nil,
			shares{generator: 600, queue: 50, rest: 40 + 10}},
		{"behind a frozen generator, for no longer than its longest lag", []signals.SlowLine{late(0, 100, 140), slow(101, 601)}, nil, nil,
			shares{generator: 100, queue: 100, rest: 40 + 400}},
		{"late itself: the lag and the queue together are the longest lag", []signals.SlowLine{late(0, 100, 140), late(20, 110, 600)}, nil, nil,
			shares{generator: 100 + 90, queue: 10, rest: 40 + 480}},
		{"frozen while the service had work for longer", []signals.SlowLine{slow(-300, 200), slow(-200, 250), slow(-100, 300), late(0, 100, 340), slow(101, 601)}, nil, nil,
			shares{generator: 100, rest: 500 + 450 + 400 + 240 + 500}},
		{"too little late to build a queue", []signals.SlowLine{late(0, 1.5, 1003), slow(1, 1001)}, nil, nil,
			shares{generator: 1.5, rest: 2001.5}},

		{"the replica was down", []signals.SlowLine{slow(100, 1000)}, []signals.Window{window(down, 0, 600)}, nil,
			shares{restart: 500 + 100, rest: 300}},
		{"lost when the replica died", []signals.SlowLine{lost(0, 2000)}, []signals.Window{window(down, 100, 600)}, nil,
			shares{restart: 1900, rest: 100}},
		{"timed out without a window", []signals.SlowLine{lost(0, 2000)}, nil, nil, shares{rest: 2000}},
		{"killed for memory, without windows", []signals.SlowLine{slow(100, 600)}, nil,
			[]*signals.Frame{server(0, 1000, signals.Server{OOMKills: &killed, Up: true})}, shares{restart: 490, rest: 10}},
		{"up and well", []signals.SlowLine{slow(100, 600)}, nil, []*signals.Frame{server(0, 1000, signals.Server{Up: true})}, shares{rest: 500}},

		{"others had three quarters of the CPUs", []signals.SlowLine{slow(0, 100)}, nil, []*signals.Frame{host(0, 1000, full)},
			shares{neighbours: 75, rest: 25}},
		{"behind those whom others held up before", []signals.SlowLine{slow(500, 600)}, nil, []*signals.Frame{host(0, 1000, full)},
			shares{neighbours: 90, rest: 10}},
		{"others were busy, but there was room", []signals.SlowLine{slow(0, 100)}, nil,
			[]*signals.Frame{host(0, 1000, signals.Host{CPUs: 2, Idle: 0.5, Services: 0.3, Foreign: 1.2})}, shares{rest: 100}},
		{"the service itself used the CPUs", []signals.SlowLine{slow(0, 100)}, nil,
			[]*signals.Frame{host(0, 1000, signals.Host{CPUs: 2, Idle: 0, Services: 1.9, Foreign: 0.1})}, shares{rest: 100}},
		{"they came in the middle of the frame before", []signals.SlowLine{slow(1400, 2000)}, nil,
			[]*signals.Frame{host(0, 1000, calm), host(1000, 2000, half), host(2000, 3000, full)}, shares{neighbours: 375, rest: 225}},
		{"they left in the middle of the frame after", []signals.SlowLine{slow(1000, 1600)}, nil,
			[]*signals.Frame{host(0, 1000, full), host(1000, 2000, half), host(2000, 3000, calm)}, shares{neighbours: 375 + 15, rest: 210}},
		{"they left, and came back", []signals.SlowLine{slow(1200, 1600)}, nil,
			[]*signals.Frame{host(0, 1000, full), host(1000, 2000, half), host(2000, 3000, full)}, shares{neighbours: 37.5 + 15, rest: 347.5}},
		{"behind slow ones, since others came", []signals.SlowLine{slow(100, 500), slow(490, 900)}, nil, []*signals.Frame{host(0, 1000, full)},
			// They held up the second since 80: 0.75 of 820 ms is more than it waited.
			shares{neighbours: 0.75*420 + 400, rest: 85 + 10}},
		{"its tasks waited for a CPU for an eighth of the time", []signals.SlowLine{slow(500, 1500)}, nil,
			[]*signals.Frame{host(0, 2000, compilers), waitedFor(0, 2000, 250)}, shares{neighbours: 1020 / 8.0, rest: 1000 - 1020/8.0}},
		{"its limit stopped its tasks for most of the time for which they waited", []signals.SlowLine{slow(500, 600)}, []signals.Window{window(throttled, 0, 200)},
			[]*signals.Frame{host(0, 1000, compilers), waitedFor(0, 1000, 250)}, shares{neighbours: 0.05 * 120, rest: 94}},
		{"throttled for longer than its tasks waited, by the estimate of the window", []signals.SlowLine{slow(500, 600)}, []signals.Window{window(throttled, 0, 200)},
			[]*signals.Frame{host(0, 1000, compilers), waitedFor(0, 1000, 150)}, shares{rest: 100}},
		{"its waits are not measured: at most eight times what it ran", []signals.SlowLine{slow(500, 1500)}, nil,
			[]*signals.Frame{host(0, 2000, compilers)}, shares{neighbours: 0.16 * 1020, rest: 1000 - 0.16*1020}},
		{"its tasks waited while others were there", []signals.SlowLine{slow(1400, 2000)}, nil,
			[]*signals.Frame{host(0, 1000, calm), host(1000, 2000, half), host(2000, 3000, full), waitedFor(1000, 2000, 100)}, shares{neighbours: 100, rest: 500}},
		{"another replica's tasks waited", []signals.SlowLine{slow(500, 1500)}, nil,
			[]*signals.Frame{host(0, 2000, full), waitedFor(0, 2000, 250), func() *signals.Frame {
				f := waitedFor(0, 2000, 2000)
				f.Index = 1
				return f
			}()}, shares{neighbours: 1020 / 8.0, rest: 1000 - 1020/8.0}},
		{"the agent waited for a CPU, and the service did not", []signals.SlowLine{slow(0, 100)}, nil,
			[]*signals.Frame{lateAgent, waitedFor(0, 1000, 0)}, shares{rest: 100}},
		{"they were there all the time, and the service filled the host", []signals.SlowLine{slow(1200, 1300)}, nil,
			[]*signals.Frame{host(0, 1000, signals.Host{CPUs: 2, Idle: 0.05, Services: 1.7, Foreign: 0.25}),
				host(1000, 2000, signals.Host{CPUs: 2, Idle: 0.95, Services: 0.8, Foreign: 0.25})}, shares{rest: 100}},
		{"they were there long before: frames are missing between", []signals.SlowLine{slow(5000, 5600)}, nil,
			[]*signals.Frame{host(0, 1000, full), host(5000, 6000, half)}, shares{rest: 600}},
		{"the hypervisor had them", []signals.SlowLine{slow(0, 100)}, nil,
			[]*signals.Frame{host(0, 1000, signals.Host{CPUs: 2, Idle: 0.5, Services: 0.5, Steal: 0.5})}, shares{neighbours: 50, rest: 50}},
		{"the hypervisor had them, in which no task waits", []signals.SlowLine{slow(0, 100)}, nil,
			[]*signals.Frame{host(0, 1000, signals.Host{CPUs: 2, Idle: 0.5, Services: 0.5, Steal: 0.5}), waitedFor(0, 1000, 0)}, shares{neighbours: 50, rest: 50}},
		{"others filled the node that the replica runs on", []signals.SlowLine{slow(0, 100)}, nil,
			[]*signals.Frame{server(0, 1000, signals.Server{Up: true}, "n1"), host(0, 1000, full, "n1"), host(0, 1000, calm, "n2")}, shares{neighbours: 75, rest: 25}},
		{"others filled another node", []signals.SlowLine{slow(0, 100)}, nil,
			[]*signals.Frame{server(0, 1000, signals.Server{Up: true}, "n1"), host(0, 1000, calm, "n1"), host(0, 1000, full, "n2"), lateAgent}, shares{rest: 100}},
		{"the agent waited for a CPU and was late", []signals.SlowLine{slow(0, 100)}, nil, []*signals.Frame{lateAgent},
			shares{neighbours: 50, rest: 50}},

		{"the slowest call is the slowest request's", []signals.SlowLine{slow(0, 600), slow(0, 60)}, nil,
			[]*signals.Frame{waits(0, 1000, 0.550+0.055, 0, 1, 1, 0)}, shares{dependency: 550 + 55, rest: 50 + 5}},
		{"no call is matched twice", []signals.SlowLine{slow(0, 600), slow(0, 600)}, nil,
			[]*signals.Frame{waits(0, 1000, 0.550, 0, 0, 1, 0)}, shares{dependency: 550, rest: 650}},
		{"a call does not last longer than its request", []signals.SlowLine{slow(0, 60)}, nil,
			[]*signals.Frame{waits(0, 1000, 0.550, 0, 0, 1, 0)}, shares{rest: 60}},
		{"a call above all bounds: the sum shows it", []signals.SlowLine{slow(0, 2500)}, nil,
			[]*signals.Frame{waits(0, 3000, 1.5, 0, 0, 0, 1)}, shares{dependency: 1500, rest: 1000}},
		{"another second's calls", []signals.SlowLine{slow(0, 600)}, nil,
			[]*signals.Frame{waits(1000, 2000, 0.550, 0, 0, 1, 0)}, shares{rest: 600}},
		{"five calls a request: one is matched, four are average", []signals.SlowLine{slow(0, 600)}, nil,
			[]*signals.Frame{due(0, 1000, 2), waits(0, 1000, 0.55, 0, 10, 0, 0)}, shares{dependency: 95.5 + 4*55, rest: 600 - 95.5 - 4*55}},
		{"throttled before it was the dependency", []signals.SlowLine{slow(0, 600)}, []signals.Window{window(throttled, 0, 400)},
			[]*signals.Frame{waits(0, 1000, 0.550, 0, 0, 1, 0)}, shares{throttling: 400, dependency: 200}},
		{"the dependency before neighbours", []signals.SlowLine{slow(0, 600)}, nil,
			[]*signals.Frame{waits(0, 1000, 0.550, 0, 0, 1, 0), host(0, 1000, full)}, shares{dependency: 550, neighbours: 50}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := New("web", 0)
			for _, s := range c.slow {
				b.Slow(s)
			}
			for _, w := range c.windows {
				b.Window(w)
			}
			for _, f := range c.frames {
				b.Frame(f)
			}
			got := b.Result("p99", 20*msec, 10*msec)
			if got == nil {
				t.Fatal("no result")
			}
			if d := cmp.Diff(c.want, atMost(got), cmp.AllowUnexported(shares{}), cmpopts.EquateApprox(1e-9, 1e-3)); d != "" {
				t.Errorf("milliseconds by cause, - want, + got:\n%s", d)
			}
		})
	}
}

func TestTailIsWhatReachesTheThreshold(t *testing.T) {
	b := New("web", 0)
	warm := due(0, 1000, 10)
	warm.Phase = signals.Warmup
	b.Frame(warm)
	b.Frame(due(1000, 2000, 10))
	b.Slow(slow(900, 1400))  // was intended in the warm-up
	b.Slow(slow(1000, 1099)) // too fast
	b.Slow(slow(1000, 1100))
	three := slow(1000, 1200)
	three.For = 3
	b.Slow(three)
	wrong := slow(1000, 1500)
	wrong.Sent = at(1600)
	b.Slow(wrong)

	// A histogram returns the highest value in the bucket of the one it counted.
	h := signals.NewHistogram()
	h.Record(100 * msec)
	c := b.Result("p99", h.Quantile(0.99), 10*msec)
	if c.Requests != 4 || math.Abs(c.MeanMS-175) > 1e-9 || c.Quantile != "p99" || math.Abs(c.FromMS-100) > 0.1 {
		t.Errorf("%d requests, mean %v ms, from %s = %v ms", c.Requests, c.MeanMS, c.Quantile, c.FromMS)
	}
	if none := b.Result("p99", time.Second, 10*msec); none != nil {
		t.Errorf("no request reaches a second, and yet %+v", none)
	}
}

// Two of six trials have most of the slow requests, or as many as the others.
func TestTrialsWithMostOfTheTail(t *testing.T) {
	for _, c := range []struct {
		weights []float64 // of the slow requests of each trial
		want    int
		few     bool
	}{
		{[]float64{40, 38, 5, 5, 5, 5}, 2, true},
		{[]float64{30, 25, 15, 10, 10, 10}, 4, false}, // two have more than half of it
		{[]float64{1, 1, 1, 1, 1, 1}, 5, false},
		{[]float64{10, 0, 0, 2, 0, 10}, 2, true},
		{[]float64{3, 3, 3, 1, 1, 1}, 4, false},
		{[]float64{9, 1}, 1, false},
		{[]float64{9}, 1, false},
		{[]float64{18, 2, 2}, 1, true},
		{[]float64{9, 1, 1}, 1, false}, // too few requests
	} {
		b := New("web", 0)
		for i, w := range c.weights {
			s := slow(0, 100)
			if s.Trial, s.For = i+1, w; w > 0 {
				b.Slow(s)
			}
		}
		got := b.Result("p99", 20*msec, 10*msec)
		got.Trials = len(c.weights)
		if got.MostIn != c.want || got.OfFewTrials() != c.few {
			t.Errorf("%v: most in %d trials, few %v, want %d and %v", c.weights, got.MostIn, got.OfFewTrials(), c.want, c.few)
		}
	}
}

// The agents' part of the CPU that the service did not have, while others were there.
func TestCPUOfTheAgents(t *testing.T) {
	for agents, want := range map[float64]float64{0: 0, 0.3: 0.5, 0.9: 0.75} {
		b := New("web", 0)
		b.Slow(slow(0, 100))
		b.Frame(host(0, 1000, signals.Host{CPUs: 2, Idle: 0.05, Services: 0.3, Foreign: 0.3, Agents: agents}))
		b.Frame(host(1000, 2000, signals.Host{CPUs: 2, Idle: 1, Agents: 9}))
		c := b.Result("p99", 20*msec, 10*msec)
		if math.Abs(c.Neighbours-0.5) > 1e-9 || math.Abs(c.NeighboursGenerator-want/2) > 1e-9 || c.MostlyGenerator() != (want > 0.5) {
			t.Errorf("agents with %v CPUs: %v of %v, mostly %v", agents, c.NeighboursGenerator, c.Neighbours, c.MostlyGenerator())
		}
	}
}

func TestNothingKept(t *testing.T) {
	if c := New("web", 0).Result("p99", 0, 0); c != nil {
		t.Errorf("got %+v, want nil", c)
	}
	b := New("web", 0)
	b.Slow(slow(0, 0))
	if c := b.Result("p99", 0, 0); c != nil {
		t.Errorf("no time to divide: got %+v, want nil", c)
	}
}

func TestSlowest(t *testing.T) {
	b := New("web", 0)
	b.Frame(due(-1000, 0, 1))
	b.Window(window(signals.Throttled, 90, 150))
	b.Window(window(signals.Down, 160, 180))
	b.Window(signals.Window{Trial: 1, Of: "web", Index: 1, Kind: signals.Down, Start: at(0), End: at(999)})
	for i := range 20 {
		b.Slow(slow(100, 120+float64(i)))
	}
	worst := lost(100, 300)
	worst.Sent = at(110)
	b.Slow(worst)
	c := b.Result("p99", 10*msec, msec)
	if len(c.Slowest) != keptSlowest {
		t.Fatalf("%d requests shown, want %d", len(c.Slowest), keptSlowest)
	}
	want := []summary.SlowRequest{
		{Trial: 1, AtS: 1.1, SentMS: 10, DoneMS: 200, TimedOut: true, Windows: []summary.SlowWindow{{Kind: "throttled", FromMS: 0, ToMS: 50}, {Kind: "down", FromMS: 60, ToMS: 80}}},
		{Trial: 1, AtS: 1.1, SentMS: 0, DoneMS: 39, Windows: []summary.SlowWindow{{Kind: "throttled", FromMS: 0, ToMS: 39}}},
	}
	if d := cmp.Diff(want, c.Slowest[:2]); d != "" {
		t.Errorf("- want, + got:\n%s", d)
	}
}

// A service with a long queue does not notice a short lag.
func TestLatenessMattersBesideTheTail(t *testing.T) {
	for threshold, queue := range map[time.Duration]float64{100 * msec: 0.030, time.Second: 0} {
		b := New("web", 0)
		b.Slow(late(0, 30, 1000))
		b.Slow(slow(31, 1031))
		c := b.Result("p99", threshold, 10*msec)
		if math.Abs(c.Generator-0.030/2) > 1e-9 || math.Abs(c.GeneratorQueue-queue/2) > 1e-9 {
			t.Errorf("tail from %v: the generator has %v and its queues %v, want %v and %v", threshold, c.Generator, c.GeneratorQueue, 0.030/2, queue/2)
		}
	}
}

// A queue reaches the second replica only through its own windows.
func TestReplicasAreApart(t *testing.T) {
	b := New("web", 0)
	other := slow(51, 151)
	other.Replica = 1
	b.Slow(slow(0, 100))
	b.Slow(other)
	b.Window(window(signals.Throttled, 0, 50))
	c := b.Result("p99", 20*msec, 10*msec)
	if math.Abs(c.Throttling-0.25) > 1e-9 || c.ThrottledDirectly != c.Throttling {
		t.Errorf("throttled %v, directly %v, want 0.25 both", c.Throttling, c.ThrottledDirectly)
	}
}
