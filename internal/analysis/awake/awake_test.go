package awake

import (
	"math"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/signals"
)

// frame returns a frame of a replica whose threads that hardly slept used so many CPUs, of
// half a second.
func frame(seq int, cores, awake float64) *signals.Frame {
	limit := 0.8
	return &signals.Frame{Trial: 1, Seq: seq, Phase: signals.Measure, Of: "node", Start: int64(seq) * 5e8, End: int64(seq+1) * 5e8,
		Server: &signals.Server{Up: true, CPU: new(cores / 2), CPULimit: &limit, Periods: new(int64(5)), ThrottledPeriods: new(int64(5)), Throttled: new(0.4),
			Threads: &signals.Threads{Seconds: 0.5, Count: 8, Full: 1, Top: 0.5, Awake: awake / 2}}}
}

// Threads that never sleep are named if they use much of the CPU without requests, and did at
// low loads. What an overload left to do was not there before it.
func TestThreadsThatNeverSleep(t *testing.T) {
	of := func(frames int, cores, awake float64) *sums.Server {
		all := sums.New()
		for seq := range frames {
			all.Add(frame(seq, cores, awake), "node")
		}
		return &all.Server
	}
	for _, c := range []struct {
		name        string
		light, idle *sums.Server
		cpus, share float64
	}{
		{"a thread that spins", of(4, 0.7, 0.5), of(2, 0.8, 0.8), 0.8, 1},
		{"one that uses half of the limit", of(4, 0.7, 0.4), of(2, 0.42, 0.4), 0.4, 0.5},
		{"a timer", of(4, 0.7, 0), of(2, 0.3, 0), 0, 0},
		{"one that uses little", of(4, 0.7, 0.1), of(2, 0.15, 0.15), 0, 0},
		{"a backlog of the overload", of(4, 0.7, 0.1), of(2, 0.8, 0.8), 0, 0},
		{"it works only under load", of(4, 0.8, 0.8), of(2, 0, 0), 0, 0},
		{"one reading without load", of(4, 0.7, 0.5), of(1, 0.8, 0.8), 0, 0},
		{"one reading at low loads", of(1, 0.7, 0.5), of(2, 0.8, 0.8), 0, 0},
		{"not watched without load", of(4, 0.7, 0.5), of(0, 0, 0), 0, 0},
	} {
		got := Find(c.idle, c.light, new(0.8))
		if (got.Kind == finding.AlsoAwake) != (c.cpus > 0) || math.Abs(got.Value-c.cpus) > 1e-9 || math.Abs(got.Share-c.share) > 1e-9 {
			t.Errorf("%s: %+v; want %g CPUs, %g of the limit", c.name, got, c.cpus, c.share)
		}
	}
	if got := Find(of(2, 0.8, 0.8), of(4, 0.7, 0.5), nil); !got.None() {
		t.Errorf("its use under load is not known: %+v", got)
	}
}

// Only intervals in which no agent had a request are without load.
func TestIntervalsWithoutARequest(t *testing.T) {
	var q Quiet
	for seq, agents := range [][]signals.Client{
		{{}, {}},        // 0
		{{Sent: 1}, {}}, // 1
		{{}, {Good: 1, Status: map[string]int64{"200": 1}}}, // 2
		{{}, {InFlight: 1}}, // 3
		{{Waiting: 1}, {}},  // 4
		{{}, {Carried: 1}},  // 5
		{{}, {Timeouts: 1}}, // 6
		{{Dropped: 1}, {}},  // 7: it was never sent
		{},                  // 8: no agent was heard of
	} {
		q.Add(frame(seq, 1, float64(int(1)<<seq)), "node")
		q.Add(&signals.Frame{Seq: seq, Of: "db", Server: &signals.Server{Threads: &signals.Threads{Seconds: 9, Awake: 9}}}, "node")
		for i := range agents {
			q.Add(&signals.Frame{Seq: seq, Agent: &i, Client: &agents[i]}, "node")
		}
	}
	all := sums.New()
	q.Sum(all, "node")
	if got := all.Server.Threads(); got.Seconds != 1 || got.Awake != (1+1<<7)/2. {
		t.Errorf("%+v, want those of the intervals 0 and 7", got)
	}
}

// A search goes on without load only if threads hardly sleep in nine of ten readings: in the
// interval in which the load ends, and for a second.
func TestASearchThatGoesOnWithoutLoad(t *testing.T) {
	for _, c := range []struct {
		awake, asleep int
		interval      time.Duration
		want          int // intervals
	}{
		{20, 0, 500 * time.Millisecond, 3},
		{18, 2, 300 * time.Millisecond, 5},
		{20, 0, 2 * time.Second, 2},
		{19, 0, 500 * time.Millisecond, 0},
		{18, 3, 500 * time.Millisecond, 0},
		{0, 100, 500 * time.Millisecond, 0},
	} {
		var w Watch
		for i := range c.awake + c.asleep {
			awake := 0.0
			if i < c.awake {
				awake = 0.1
			}
			w.Add(frame(i, 1, awake), "node")
			w.Add(frame(i, 1, awake), "db")
			w.Add(&signals.Frame{Seq: i, Of: "node", Server: &signals.Server{}}, "node")
		}
		n := 0
		if w.Begin(c.interval) {
			for n = 1; w.Runs() && !w.Passed(); n++ {
			}
		}
		if n != c.want || w.Runs() {
			t.Errorf("%d of %d readings: %d intervals, want %d", c.awake, c.awake+c.asleep, n, c.want)
		}
	}
}
