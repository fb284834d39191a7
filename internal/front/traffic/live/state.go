// Package live shows a load while it runs: as a full-screen picture on a terminal,
// otherwise as plain lines.
//
// State collects the frames of a run, and drawing draws it. Both are pure, without clock,
// file or terminal. Screen connects them to a terminal. The final result is shown by
// package traffic.
package live

import (
	"fmt"
	"math"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/front/traffic"
)

// Plan is the load that was requested.
type Plan struct {
	URL      string
	Open     bool          // open loop; otherwise closed loop
	Highest  float64       // users or requests/s of the highest stage
	Stages   bool          // the load changes over time
	Requests int64         // the run ends after this number; 0: after Length
	Warmup   time.Duration // load before the measurement
	Length   time.Duration // of the measured part
	Interval time.Duration // of frames
	Target   string        // the observed process, as in "process 123"; "": none
}

// PlanOf is the plan of an experiment of one cell. observed is the name of the observed
// process; "": none.
func PlanOf(url string, e *experiment.Experiment, observed string) Plan {
	l := &e.Cells[0].Load
	level := l.Target()
	return Plan{URL: url, Open: l.Rate != nil, Highest: level.Highest(), Stages: len(level.Stages) > 0, Requests: l.Requests,
		Warmup: e.Measure.Warmup, Length: e.Measure.Measured(&e.Cells[0]), Interval: e.Measure.Interval, Target: observed}
}

// State is what a run has shown so far. It is not safe for concurrent use.
type State struct {
	plan  Plan
	began int64 // when the load began, unix nanoseconds; 0: not yet
	until int64 // the end of the last interval, unix nanoseconds

	looked time.Time     // the first look at how long the load has run
	had    time.Duration // how long that was then

	phase signals.Phase

	last    stretch         // the last interval
	all     stretch         // the measured part so far
	since   stretch         // since the last plain line
	buckets traffic.Buckets // latencies of all
	errors  map[string]int64
	trend   trend

	users, rate       float64 // of the load, at the end of the last interval
	inFlight, waiting int64   // at the end of the last interval, of all agents
	clients, servers  int     // sequence numbers of the last intervals, from 1

	ended time.Duration // when the observed process ended, from the begin of the load; 0: it has not
	notes []string
}

// trend has the figures of the measured intervals, the oldest first; NaN: not measured.
type trend struct {
	rate      []float64 // good answers per second
	p99       []float64 // ms
	errors    []float64
	cpu       []float64 // share of the limit, or cores where there is none
	throttled []float64 // share of periods
}

// New returns the state before the first frame.
func New(p Plan) *State {
	return &State{plan: p, last: newStretch(), all: newStretch(), since: newStretch(), errors: map[string]int64{}}
}

// Add adds a frame of an agent, or of the observed process.
func (s *State) Add(f *signals.Frame) {
	switch {
	case f.Client != nil:
		s.client(f)
	case f.Server != nil && s.ended == 0:
		s.server(f)
	}
}

// client adds an agent's frame. The frames of several agents for the same interval are
// one. A late frame of an earlier interval counts in the sums only.
func (s *State) client(f *signals.Frame) {
	c, seq := f.Client, f.Seq+1
	begins := seq > s.clients
	if s.began == 0 {
		s.began = f.Start
	}
	s.until = max(s.until, f.End)
	if begins {
		s.clients, s.phase = seq, f.Phase
		s.inFlight, s.waiting = 0, 0
	}
	if seq == s.clients {
		s.inFlight, s.waiting = s.inFlight+c.InFlight, s.waiting+c.Waiting
	}
	if f.Phase != signals.Drain { // the drain does not represent the load
		if begins {
			s.users, s.rate = 0, 0
			s.last.resetClient()
		}
		if seq == s.clients {
			s.users, s.rate = s.users+c.Users, s.rate+c.Rate
			s.last.client(f, begins)
		}
	}
	s.since.client(f, begins)
	if f.Phase == signals.Warmup {
		return
	}
	s.all.client(f, begins)
	s.buckets.Add(c.Latency)
	s.failed(c)
	if f.Phase == signals.Measure && seq == s.clients {
		s.trend.client(&s.last, begins)
	}
}

// failed counts the errors by kind.
func (s *State) failed(c *signals.Client) {
	for _, k := range traffic.Failures(c) {
		s.errors[k.Name] += k.N
	}
	for code, n := range c.Status {
		if bad := n - c.Wanted[code]; bad > 0 && (len(code) != 3 || code[0] != '2') {
			s.errors["status "+code] += bad
		}
	}
}

// server adds a frame of the observed process. The frames of several replicas for the
// same interval are one.
func (s *State) server(f *signals.Frame) {
	if f.Phase == signals.Drain {
		return
	}
	begins := f.Seq+1 > s.servers
	if begins {
		s.servers = f.Seq + 1
		s.last.used = usage{}
	}
	s.last.used.add(f)
	s.since.used.add(f)
	if f.Phase == signals.Measure {
		s.all.used.add(f)
		s.trend.server(&s.last.used, begins)
	}
}

// client adds an interval, or replaces it when another agent's frame arrives.
func (t *trend) client(last *stretch, begins bool) {
	if begins {
		t.rate, t.p99, t.errors = append(t.rate, 0), append(t.p99, 0), append(t.errors, 0)
	}
	at := len(t.rate) - 1
	if at < 0 {
		return
	}
	t.rate[at], t.errors[at], t.p99[at] = last.rate(), float64(last.bad), math.NaN()
	if last.latency.Count() > 0 {
		t.p99[at] = milliseconds(last.p99)
	}
}

// server adds the usage of the observed process in an interval, or replaces it.
func (t *trend) server(last *usage, begins bool) {
	if begins {
		t.cpu, t.throttled = append(t.cpu, 0), append(t.throttled, 0)
	}
	if at := len(t.cpu) - 1; at >= 0 {
		t.cpu[at], t.throttled[at] = last.cpu(), last.throttledShare()
	}
}

// Begun is how long the load has run; 0 before the first frame. From the first look at it, it
// does not change with the machine's clock.
func (s *State) Begun(now time.Time) time.Duration {
	if s.began == 0 {
		return 0
	}
	if s.looked.IsZero() {
		s.looked, s.had = now, max(0, now.Sub(time.Unix(0, s.began)))
	}
	return max(0, s.had+now.Sub(s.looked))
}

// Note adds a message to the figures.
func (s *State) Note(line string) { s.notes = append(s.notes, line) }

// TargetEnded records that the observed process has ended. Later frames are ignored: they
// would be of something else.
func (s *State) TargetEnded(now time.Time) {
	if s.ended == 0 {
		s.ended = max(1, s.Begun(now))
		s.last.used = usage{}
	}
}

// Death is the message that the observed process has ended.
func (s *State) Death() string {
	return fmt.Sprintf("%s ended at %s of the run; it was not measured after that", s.plan.Target, display.Clock(s.ended))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
