package lab

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// finder conducts the search for the breaking point in one trial. The search
// itself is pure: the finder sets the loads that it names, cuts its windows out
// of the trial's intervals, and shows it what they held. Everything happens at
// the ends of intervals, as the frames come.
type finder struct {
	exp     *experiment.Experiment
	cell    *experiment.Cell
	trial   int
	machine *search.Search

	change func(load float64, drop bool) // sets the load of all agents
	up     func() bool                   // whether all replicas serve
	write  func(signals.SearchStep) error
	tell   func(search.Step)
	now    func() time.Time

	clients []int            // by agent: the last interval that was seen, -1: none
	read    int              // the last interval of which the sampler has read all
	under   []int64          // by agent: requests under way at the end of that interval
	pending []*signals.Frame // of intervals that not all was seen of
	done    int              // the last interval that all were seen of

	began    time.Time // of the search
	step     search.Step
	line     signals.SearchStep
	window   *analysis.Observed
	load     float64 // that the agents have now
	draining time.Time
}

// Bounds on a search's patience, beyond the requests' own timeout.
const (
	// drainFor is how long the requests under way may take to end, and a replica
	// that died to serve again: its restarts wait up to 10 s.
	drainFor = 20 * time.Second
	// mostTimes the budget of traffic is what a search may take by the clock:
	// a service that dies under every load is waited for after each.
	mostTimes = 4
)

func newFinder(e *experiment.Experiment, c *experiment.Cell, trial int) *finder {
	f := &finder{exp: e, cell: c, trial: trial, machine: search.New(analysis.SearchConfig(e, c)), now: time.Now,
		clients: make([]int, c.Load.Agents), under: make([]int64, c.Load.Agents), read: -1, done: -1,
		load: c.Load.Target().Value}
	for i := range f.clients {
		f.clients[i] = -1
	}
	return f
}

// frame takes a frame of the trial and reports whether the search has ended.
func (f *finder) frame(fr *signals.Frame) (ended bool, err error) {
	if fr.Client != nil {
		f.clients[*fr.Agent], f.under[*fr.Agent] = fr.Seq, fr.Client.InFlight+fr.Client.Waiting
	}
	f.pending = append(f.pending, fr)
	return f.goOn()
}

// sampled takes that all frames of an interval have come that the sampler gives.
func (f *finder) sampled(seq int) (ended bool, err error) {
	f.read = seq
	return f.goOn()
}

// goOn acts at the ends of the intervals that all was seen of by now.
func (f *finder) goOn() (ended bool, err error) {
	whole := f.read
	for _, seq := range f.clients {
		whole = min(whole, seq)
	}
	for f.done < whole {
		f.done++
		f.take(f.done)
		if ended, err = f.interval(f.done); ended || err != nil {
			return ended, err
		}
	}
	return false, nil
}

// take gives the window what was seen of an interval, once all of it has come: a
// replay from the record must see the same. A frame that came late, as those of a
// scraper may, belongs to the interval that it is of.
func (f *finder) take(seq int) {
	var later []*signals.Frame
	for _, fr := range f.pending {
		switch {
		case fr.Seq > seq:
			later = append(later, fr)
		case f.window != nil && fr.Seq >= f.line.First && fr.Seq <= f.line.Last:
			f.window.Add(fr)
		}
	}
	f.pending = later
}

// interval acts at the end of an interval.
func (f *finder) interval(seq int) (ended bool, err error) {
	_, _, phase := cut(f.exp, f.cell).At(seq + 1)
	switch {
	case phase == signals.Warmup:
		return false, nil
	case f.began.IsZero():
		f.began = f.now()
		return f.next(seq)
	case !f.draining.IsZero():
		return f.drained(seq)
	case seq == f.line.Last:
		return f.saw(seq)
	case seq >= f.line.First && f.machine.Hopeless(f.window.Blocks()):
		f.line.Cut, f.line.Last = true, seq
		return f.saw(seq)
	}
	return false, nil
}

// saw shows a finished window to the search.
func (f *finder) saw(seq int) (bool, error) {
	if err := f.write(f.line); err != nil {
		return true, err
	}
	f.machine.Saw(f.window.Observation())
	f.window = nil
	return f.next(seq)
}

// next asks for the next load.
func (f *finder) next(seq int) (ended bool, err error) {
	step, ok := f.machine.Next()
	if !ok {
		return true, nil
	}
	f.step = step
	f.tell(step)
	if f.now().Sub(f.began) > mostTimes*f.exp.Measure.Duration {
		return f.gone(seq, fmt.Sprintf("the search took more than %v: the service had to be waited for too often", mostTimes*f.exp.Measure.Duration))
	}
	if !step.Drain && f.up() {
		f.hold(seq)
		return false, nil
	}
	f.draining = f.now()
	f.load = 0
	f.change(0, true)
	return false, nil
}

// drained goes on where nothing is under way any more and every replica serves.
func (f *finder) drained(seq int) (ended bool, err error) {
	var under int64
	for _, n := range f.under {
		under += n
	}
	up := f.up()
	if under == 0 && up {
		f.draining = time.Time{}
		f.hold(seq)
		return false, nil
	}
	waited := f.now().Sub(f.draining)
	if waited < drainFor+f.cell.Load.Timeout {
		return false, nil
	}
	if !up {
		return f.gone(seq, fmt.Sprintf("the service died, and did not serve again within %v", waited.Round(time.Second)))
	}
	return f.gone(seq, fmt.Sprintf("the service stopped answering: %d requests were still under way %v after the load was taken away", under, waited.Round(time.Second)))
}

// hold sets the step's load. The interval that has just begun holds a moment of
// the load before, so at least that one belongs to the settling.
func (f *finder) hold(seq int) {
	every := f.exp.Measure.Interval
	settle := int((f.step.Settle + every - 1) / every)
	if f.load != f.step.Load {
		f.change(f.step.Load, false)
		settle = max(settle, 1)
	}
	f.load = f.step.Load
	first := seq + 1 + settle
	f.line = signals.SearchStep{Trial: f.trial, Cell: f.cell.Index, Step: f.step.Number, Stage: string(f.step.Stage),
		Load: f.step.Load, Begin: f.now().UnixNano(), First: first, Last: first + max(1, int(f.step.Window/every)) - 1}
	f.window = analysis.Observe(f.exp, f.cell, f.step.Load)
}

// lose ends the search: a part of the agents is gone, and with it a part of each
// load from now on. What the window under way showed is left out.
func (f *finder) lose(why string) error {
	f.machine.Lost(why)
	return f.write(signals.SearchStep{Trial: f.trial, Cell: f.cell.Index, Step: f.step.Number, Stage: string(f.step.Stage),
		Load: f.step.Load, Begin: f.now().UnixNano(), First: f.done + 1, Last: f.done, Lost: why})
}

// gone ends the search: the service cannot be measured any more.
func (f *finder) gone(seq int, why string) (bool, error) {
	f.draining = time.Time{}
	f.machine.Saw(search.Observation{Gone: why})
	return true, f.write(signals.SearchStep{Trial: f.trial, Cell: f.cell.Index, Step: f.step.Number, Stage: string(f.step.Stage),
		Load: f.step.Load, Begin: f.now().UnixNano(), First: seq + 1, Last: seq, Gone: why})
}
