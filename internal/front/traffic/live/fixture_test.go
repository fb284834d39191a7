package live

import (
	"math"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// begin is the begin of the load of every fixture.
var begin = time.Unix(1_000_000, 0)

func ptr[T any](v T) *T { return &v }

// second is a client frame of interval seq, with a length of a second.
func second(seq int, phase signals.Phase, c signals.Client) *signals.Frame {
	from := begin.Add(time.Duration(seq) * time.Second)
	for _, h := range []**signals.Histogram{&c.Latency, &c.Service, &c.SendLag} {
		if *h == nil {
			*h = signals.NewHistogram()
		}
	}
	return &signals.Frame{Trial: 1, Seq: seq, Start: from.UnixNano(), End: from.Add(time.Second).UnixNano(), Phase: phase, Agent: ptr(0), Client: &c}
}

// answered is an interval with a number of good answers and log-normal latencies.
func answered(seq, good int, median time.Duration) *signals.Frame {
	h := signals.NewHistogram()
	for i := range good {
		z := math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/float64(good)-1)
		h.Record(time.Duration(float64(median) * math.Exp(z)))
	}
	return second(seq, signals.Measure, signals.Client{Good: int64(good), Status: map[string]int64{"200": int64(good)}, Users: 20, InFlight: 20, Latency: h})
}

// used is a server frame of interval seq, with a limit of 1 CPU.
func used(seq int, cpu float64, throttled int64) *signals.Frame {
	f := second(seq, signals.Measure, signals.Client{})
	f.Agent, f.Client, f.Of = nil, nil, "target"
	f.Server = &signals.Server{CPU: &cpu, CPULimit: ptr(1.0), Periods: ptr(int64(10)), ThrottledPeriods: &throttled,
		Memory: ptr(int64(20+seq) << 20), MemoryLimit: ptr(int64(256 << 20)), Up: true}
	return f
}

// plan is 20 users for 8 s.
func plan() Plan {
	return Plan{URL: "http://127.0.0.1:8080/items", Highest: 20, Length: 8 * time.Second, Interval: time.Second}
}

func after(p Plan, frames ...*signals.Frame) *State {
	s := New(p)
	for _, f := range frames {
		s.Add(f)
	}
	return s
}

// closed is a closed loop whose latency increases slightly.
func closed() *State {
	var frames []*signals.Frame
	for i := range 6 {
		frames = append(frames, answered(i, 1200-40*i, time.Duration(4+i)*time.Millisecond))
	}
	return after(plan(), frames...)
}

// open is an open loop above the capacity of the service.
func open() *State {
	p := plan()
	p.Open, p.Highest = true, 2000
	s := New(p)
	for i := range 6 {
		f := answered(i, 1000, time.Duration(1+i)*100*time.Millisecond)
		f.Client.Users, f.Client.Rate, f.Client.Waiting = 0, 2000, int64(1000*(i+1))
		s.Add(f)
	}
	return s
}

func stages() *State {
	p := plan()
	p.Stages, p.Highest = true, 200
	s := New(p)
	for i := range 3 {
		f := answered(i, 500*(i+1), 4*time.Millisecond)
		f.Client.Users, f.Client.InFlight = float64(25*(i+1)), int64(25*(i+1))
		s.Add(f)
	}
	return s
}

// target is a closed loop with an observed process.
func target() *State {
	p := plan()
	p.Target = "process 4711"
	s := New(p)
	for i := range 6 {
		s.Add(answered(i, 1000, time.Duration(4+i)*time.Millisecond))
		s.Add(used(i, 0.7+0.06*float64(i), int64(2*i)))
	}
	return s
}

func targetEnded() *State {
	s := target()
	s.TargetEnded(begin.Add(6500 * time.Millisecond))
	s.Note(s.Death())
	s.Add(second(6, signals.Measure, signals.Client{Cut: 20, Refused: 35, Users: 20}))
	s.Add(used(6, 0.5, 0)) // of another process with its number
	return s
}

func errorsOnly() *State {
	var frames []*signals.Frame
	for i := range 4 {
		frames = append(frames, second(i, signals.Measure, signals.Client{Users: 20, InFlight: 20, Timeouts: 1,
			Status: map[string]int64{"503": int64(200 + i), "500": 2, "404": 3, "301": 4}}))
	}
	return after(plan(), frames...)
}

func someErrors() *State {
	s := closed()
	s.Add(second(6, signals.Measure, signals.Client{Good: 0, Refused: 31, Cut: 20, Users: 20}))
	return s
}

// unanswered is a service that does not answer.
func unanswered() *State {
	return after(plan(), second(0, signals.Measure, signals.Client{Sent: 20, Users: 20, InFlight: 20}), second(1, signals.Measure, signals.Client{Users: 20, InFlight: 20}))
}

func warmingUp() *State {
	p := plan()
	p.Warmup = 5 * time.Second
	f := answered(0, 800, 3*time.Millisecond)
	f.Phase = signals.Warmup
	return after(p, f)
}

func draining() *State {
	s := closed()
	s.Add(answered(6, 900, 9*time.Millisecond))
	s.Add(answered(7, 900, 9*time.Millisecond))
	last := answered(8, 5, 900*time.Millisecond)
	last.Phase, last.Client.InFlight = signals.Drain, 15
	s.Add(last)
	return s
}

func counted10000() *State {
	p := plan()
	p.Requests, p.Length = 10_000, 0
	return after(p, answered(0, 1200, 4*time.Millisecond), answered(1, 1300, 4*time.Millisecond))
}

// long is a run with more intervals than the sparklines have columns.
func long() *State {
	p := plan()
	p.Length = 3 * time.Minute
	s := New(p)
	for i := range 100 {
		s.Add(answered(i, 100+i%60, time.Duration(3+i%40)*time.Millisecond))
	}
	return s
}
