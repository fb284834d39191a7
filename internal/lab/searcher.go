package lab

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/analysis/awake"
	"github.com/millicore/millicore/internal/analysis/capacity"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/requests"
	"github.com/millicore/millicore/internal/load/protocol"
)

// searcher connects a search for the breaking point (package search, which is pure)
// to a trial: it sets the loads of the steps, assembles their windows from the trial's
// intervals, and passes the observations to the search. It acts at the ends of
// intervals, when their frames have arrived.
type searcher struct {
	exp     *experiment.Experiment
	cell    *experiment.Cell
	trial   int
	machine *search.Search
	bounds  *signals.SearchBounds // nil: those of the experiment
	block   time.Duration         // what an interval is in the machine's time

	change func(load float64, drop bool) // sets the load of all agents
	up     func() bool                   // whether all replicas serve
	vary   func(load float64) int        // varies the mix for some intervals after the search; nil: it does not
	write  func(signals.SearchStep) error
	report func(search.Step)   // called with each step
	ended  func(search.Result) // called when the search has ended
	now    func() time.Time

	clients    []int            // by agent: the last interval with a frame; -1: none
	read       int              // the last interval that the sampler has read
	unanswered []int64          // by agent: requests in flight or waiting at the end of that interval
	pending    []*signals.Frame // of incomplete intervals
	done       int              // the last complete interval: all agents and the sampler have sent it

	began    time.Time // of the search
	varies   int       // intervals that are left in which the mix varies
	since    int       // the first of them that is whole
	awake    awake.Watch
	step     search.Step
	line     signals.SearchStep
	window   *capacity.Observed
	load     float64   // the present load of the agents
	draining time.Time // since when the service recovers without load; zero: it does not
}

// Time limits of a search.
const (
	// drainFor is how long, beyond the timeout of requests, those in flight may take to
	// end, and a replica that died to serve again: its restarts wait up to 10 s.
	drainFor = 20 * time.Second
	// maxTimes the duration of the measurement is the limit of a search in wall time: a
	// service that dies under every load must recover after each.
	maxTimes = 4
)

func newSearcher(e *experiment.Experiment, c *experiment.Cell, trial int, bounds *signals.SearchBounds) *searcher {
	config := capacity.SearchConfig(e, c, bounds)
	s := &searcher{exp: e, cell: c, trial: trial, bounds: bounds, machine: search.New(config), block: config.Block, now: time.Now,
		clients: make([]int, c.Load.Agents), unanswered: make([]int64, c.Load.Agents), read: -1, done: -1,
		load: c.Load.Target().Value}
	for i := range s.clients {
		s.clients[i] = -1
	}
	return s
}

// frame takes a frame of the trial and reports whether the search has ended.
func (s *searcher) frame(fr *signals.Frame) (ended bool, err error) {
	s.awake.Add(fr, s.cell.Service.Name)
	if fr.Client != nil {
		s.clients[*fr.Agent], s.unanswered[*fr.Agent] = fr.Seq, fr.Client.InFlight+fr.Client.Waiting
	}
	s.pending = append(s.pending, fr)
	return s.proceed()
}

// sampled takes the news that the sampler has read everything of an interval.
func (s *searcher) sampled(seq int) (ended bool, err error) {
	s.read = seq
	return s.proceed()
}

// proceed acts at the ends of the intervals that are complete by now.
func (s *searcher) proceed() (ended bool, err error) {
	whole := s.read
	for _, seq := range s.clients {
		whole = min(whole, seq)
	}
	for s.done < whole {
		s.done++
		s.take(s.done)
		if ended, err = s.interval(s.done); ended || err != nil {
			return ended, err
		}
	}
	return false, nil
}

// take adds the frames of a complete interval to the window, so that a replay from the
// record sees the same. A frame that arrives late, as a scraper's may, is added to the
// window of its own interval.
func (s *searcher) take(seq int) {
	var later []*signals.Frame
	for _, fr := range s.pending {
		switch {
		case fr.Seq > seq:
			later = append(later, fr)
		case s.window != nil && fr.Seq >= s.line.First && fr.Seq <= s.line.Last:
			s.window.Add(fr)
		}
	}
	s.pending = later
}

// interval acts at the end of an interval.
func (s *searcher) interval(seq int) (ended bool, err error) {
	_, _, phase := cut(s.exp, s.cell).At(seq + 1)
	switch {
	case phase == signals.Warmup:
		return false, nil
	case s.varies > 0:
		s.varies--
		return s.varies == 0 && s.rests(), nil
	case s.awake.Runs():
		return s.awake.Passed(), nil
	case s.began.IsZero():
		s.began = s.now()
		return s.next(seq)
	case !s.draining.IsZero():
		return s.drained(seq)
	case seq == s.line.Last:
		return s.observed(seq)
	case seq >= s.line.First && s.machine.Hopeless(s.window.Blocks()):
		s.line.Cut, s.line.Last = true, seq
		return s.observed(seq)
	}
	return false, nil
}

// observed passes a finished window to the search.
func (s *searcher) observed(seq int) (bool, error) {
	if err := s.write(s.line); err != nil {
		return true, err
	}
	s.machine.Saw(s.window.Observation())
	s.window = nil
	return s.next(seq)
}

// next starts the next step.
func (s *searcher) next(seq int) (ended bool, err error) {
	step, ok := s.machine.Next()
	if !ok {
		if r := s.machine.Result(); s.vary != nil && r.Load > 0 {
			s.varies, s.since = s.vary(r.Load), seq+2
		}
		return s.varies == 0 && s.rests(), nil
	}
	s.step = step
	s.report(step)
	if !step.Stage.After() && s.now().Sub(s.began) > maxTimes*s.exp.Measure.Duration {
		return s.gone(seq, fmt.Sprintf("the search took more than %v, because the service had to recover too often", span.Text(maxTimes*s.exp.Measure.Duration)))
	}
	if !step.Drain && s.up() {
		s.hold(seq)
		return false, nil
	}
	s.draining = s.now()
	s.load = 0
	s.change(0, true)
	return false, nil
}

// varied reports whether the mix varies on purpose in an interval.
func (s *searcher) varied(seq int) bool { return s.varies > 0 && seq >= s.since }

// rests removes the load if some thread may never sleep; if not, the search has ended.
func (s *searcher) rests() (ended bool) {
	if !s.awake.Begin(s.exp.Measure.Interval) {
		return true
	}
	s.change(0, true)
	return false
}

// drained starts the step when no request is in flight any more and every replica
// serves.
func (s *searcher) drained(seq int) (ended bool, err error) {
	var unanswered int64
	for _, n := range s.unanswered {
		unanswered += n
	}
	up := s.up()
	if unanswered == 0 && up {
		s.draining = time.Time{}
		s.hold(seq)
		return false, nil
	}
	waited := s.now().Sub(s.draining)
	if waited < drainFor+s.cell.Load.Timeout {
		return false, nil
	}
	if !up {
		return s.gone(seq, fmt.Sprintf("the service died and did not serve again within %v", span.Text(waited.Round(time.Second))))
	}
	return s.gone(seq, fmt.Sprintf("the service stopped answering: %d requests were still in flight %v after the load was removed", unanswered, span.Text(waited.Round(time.Second))))
}

// hold sets the step's load. The interval that has just begun contains a moment of the
// previous load, so the step settles for at least that interval.
func (s *searcher) hold(seq int) {
	block := s.block
	settle := int((s.step.Settle + block - 1) / block)
	if s.load != s.step.Load {
		s.change(s.step.Load, false)
		settle = max(settle, 1)
	}
	s.load = s.step.Load
	first := seq + 1 + settle
	s.line = s.recorded(first, first+max(1, int(s.step.Window/block))-1)
	s.window = capacity.Observe(s.exp, s.cell, s.step.Load)
}

// lose ends the search after the loss of an agent, and with it of a part of the load.
// The current window is discarded.
func (s *searcher) lose(why string) error {
	if s.awake.Runs() || s.varies > 0 { // it has its answer
		return nil
	}
	s.machine.Lost(why)
	line := s.recorded(s.done+1, s.done)
	line.Lost = why
	return s.write(line)
}

// gone ends the search because the service cannot be measured any more.
func (s *searcher) gone(seq int, why string) (bool, error) {
	s.draining = time.Time{}
	s.machine.Saw(search.Observation{Gone: why})
	line := s.recorded(seq+1, seq)
	line.Gone = why
	return true, s.write(line)
}

// recorded is the current step for the record, with the first and the last interval of
// its window.
func (s *searcher) recorded(first, last int) signals.SearchStep {
	step := signals.SearchStep{Trial: s.trial, Cell: s.cell.Index, Step: s.step.Number, Stage: string(s.step.Stage),
		Load: s.step.Load, Begin: s.now().UnixNano(), First: first, Last: last}
	if step.Step == 0 {
		step.Bounds = s.bounds
	}
	return step
}

// newSearcher returns the searcher of the trial. If its only agent cannot be reached,
// the trial fails.
func (t *trial) newSearcher(failures *failures) *searcher {
	s := newSearcher(t.exp, t.cell, t.number, capacity.BoundsOf(t.exp, t.cell, t.lab.found))
	s.write = func(step signals.SearchStep) error { return t.writer.Step(&step) }
	s.report = t.searching
	s.ended = func(r search.Result) {
		if r.Load > 0 {
			t.lab.found[t.cell.Index] = append(t.lab.found[t.cell.Index], r.Load)
		}
	}
	send := func(to protocol.Load, drop bool) {
		to.Kind, to.Even = kindOf(t.cell), t.cell.Load.Even
		if err := t.agents.change(protocol.Change{Load: to, Drop: drop}); err != nil {
			failures.add(err)
			t.agents.stop()
		}
	}
	s.change = func(load float64, drop bool) { send(requests.OpenEnded(load), drop) }
	if t.planned.Repeat == 1 && t.profile == nil {
		s.vary = t.varier(send)
	}
	s.up = func() bool {
		for _, r := range t.deployment.service.Replicas() {
			if p, err := r.ThrottleSample(); err != nil || !p.Up {
				return false
			}
		}
		return true
	}
	return s
}

// belowBreaking is the share of a breaking point at which the service keeps up.
const belowBreaking = 0.7

// varier varies the mix of a load in which several kinds of request are counted apart.
func (t *trial) varier(send func(protocol.Load, bool)) func(load float64) (intervals int) {
	return func(load float64) int {
		to, length := requests.Varied(t.exp, t.cell, belowBreaking*load)
		if length == 0 {
			return 0
		}
		t.note("for %s each kind of request, and then all, are left out in turn, at most %s requests/s, to know the CPU time of each", span.Text(length), digits.Three(belowBreaking*load))
		send(to, true)
		return int((length + t.exp.Measure.Interval - 1) / t.exp.Measure.Interval)
	}
}
