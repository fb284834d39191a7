// Package live shows traffic while it runs: on a terminal a picture that is drawn
// again in its place, elsewhere plain lines.
//
// A state takes in the frames of a run, and a drawing is made of it: both are
// pure, without clock, file or terminal. Screen is the thin shell around them.
package live

import (
	"fmt"
	"math"
	"time"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/signals"
	"github.com/millicore/millicore/internal/traffic"
)

// Plan is what traffic was asked for.
type Plan struct {
	URL      string
	Open     bool          // a rate, whatever the answers do; else users
	Highest  float64       // users, or requests/s, of the highest stage
	Stages   bool          // the load changes over time
	Requests int64         // the run ends after so many; 0: after Length
	Warmup   time.Duration // load before what counts
	Length   time.Duration // of the measured part
	Interval time.Duration // of frames
	Target   string        // what is looked at, as "process 123"; "": nothing
}

// State is what was seen of a run so far. It is not safe for use by several
// goroutines.
type State struct {
	plan  Plan
	began int64 // when the load began, unix nanoseconds; 0: not yet
	until int64 // the end of the last interval, unix nanoseconds
	phase signals.Phase

	last    stretch         // the last interval
	all     stretch         // the measured part so far
	since   stretch         // since the last plain line
	buckets traffic.Buckets // latencies of all
	errors  map[string]int64
	trend   trend

	users, rate       float64 // asked for at the last interval's end
	inFlight, waiting int64   // at the last interval's end, of all agents
	clients, servers  int     // sequence numbers of the last intervals, from 1

	ended time.Duration // when the target was seen to have ended, since the beginning; 0: it has not
	notes []string
}

// trend are figures of the measured intervals, the oldest first; NaN: not
// measured.
type trend struct {
	rate      []float64 // good answers a second
	p99       []float64 // ms
	errors    []float64
	cpu       []float64 // share of the limit, or cores where there is none
	throttled []float64 // share of periods
}

// New is the state before anything was seen.
func New(p Plan) *State {
	return &State{plan: p, last: newStretch(), all: newStretch(), since: newStretch(), errors: map[string]int64{}}
}

// Add takes in a frame of an agent, or one of the target.
func (s *State) Add(f *signals.Frame) {
	switch {
	case f.Client != nil:
		s.client(f)
	case f.Server != nil && s.ended == 0:
		s.server(f)
	}
}

// client takes in what an agent saw. Several agents' frames of the same interval
// are one; a late one of an interval before counts in the sums alone.
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
	if f.Phase != signals.Drain { // what comes later is no picture of the load
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

// failed counts the errors by their kinds.
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

// server takes in what was seen of the target. The frames of several replicas of
// the same interval are one.
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

// client adds an interval, or another agent's half of the last one.
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

// server does the same with what the target used.
func (t *trend) server(last *usage, begins bool) {
	if begins {
		t.cpu, t.throttled = append(t.cpu, 0), append(t.throttled, 0)
	}
	if at := len(t.cpu) - 1; at >= 0 {
		t.cpu[at], t.throttled[at] = last.cpu(), last.throttledShare()
	}
}

// Begun is how long the load has run; 0 before it was seen to.
func (s *State) Begun(now time.Time) time.Duration {
	if s.began == 0 {
		return 0
	}
	return max(0, now.Sub(time.Unix(0, s.began)))
}

// Note keeps a line for people beside the figures.
func (s *State) Note(line string) { s.notes = append(s.notes, line) }

// TargetEnded says that what was looked at is not there any more: what is read of
// it later would be of something else.
func (s *State) TargetEnded(now time.Time) {
	if s.ended == 0 {
		s.ended = max(1, s.Begun(now))
		s.last.used = usage{}
	}
}

// Death says that the target has ended.
func (s *State) Death() string {
	return fmt.Sprintf("%s ended at %s of the run; it was not measured from then on", s.plan.Target, display.Clock(s.ended))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
