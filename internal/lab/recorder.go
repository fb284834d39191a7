package lab

import (
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
)

// event is something that happened during a trial; exactly one field is set.
type event struct {
	frame   *signals.Frame
	window  *signals.Window
	lost    *loss
	held    *int // the index of an agent that a signal holds
	sampled *int // the number of an interval of which the sampler has read everything
}

// recorder writes the events of a trial to the record, and passes them to the progress
// and to the search.
type recorder struct {
	writer   *record.Writer
	service  string // its name
	progress *reporter
	agents   *agents
	note     func(format string, args ...any)

	noise  disturbance.Noise
	repeat time.Duration // the measured part of a trial that is repeated if it is disturbed; 0: it is not, or has no known end
	early  bool          // the traffic was ended, because the trial is certain to be repeated
	search *searcher     // nil: the load is given, or the search has ended
}

// syncEvery is how soon events are on the disk. Frames of many agents arrive one after
// another, and a disk takes milliseconds for each sync.
const syncEvery = 50 * time.Millisecond

// record takes events until the channel is closed.
func (r *recorder) record(events <-chan event) error {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for dirty := false; ; {
		select {
		case e, more := <-events:
			if !more {
				return nil // the line of the trial's end syncs the rest
			}
			if err := r.take(e); err != nil {
				return err
			}
			dirty = true
		case <-tick.C:
			if !dirty {
				continue
			}
			if err := r.writer.Sync(); err != nil {
				return err
			}
			dirty = false
		}
	}
}

// take takes one event.
func (r *recorder) take(e event) error {
	switch {
	case e.window != nil:
		return r.writer.Window(e.window)
	case e.lost != nil:
		return r.lose(*e.lost)
	case e.held != nil:
		if !slices.Contains(r.agents.held, *e.held) {
			r.agents.held = append(r.agents.held, *e.held)
			r.note("a signal stopped agent %d: it sends nothing until it is continued", *e.held)
		}
		return nil
	case e.sampled != nil:
		r.progress.report()
		if r.repeat > 0 && !r.early && r.noise.Certain(r.repeat.Seconds()) {
			r.early = true
			r.agents.stop()
		}
	default:
		if r.search != nil && r.search.varied(e.frame.Seq) {
			e.frame.Phase = signals.Vary
		}
		r.noise.Add(e.frame)
		r.progress.frame(e.frame, r.service)
		if err := r.writer.Frame(e.frame); err != nil {
			return err
		}
	}
	if r.search == nil {
		return nil
	}
	var ended bool
	var err error
	if e.sampled != nil {
		ended, err = r.search.sampled(*e.sampled)
	} else {
		ended, err = r.search.frame(e.frame)
	}
	if ended {
		r.endSearch()
	}
	return err
}

// lose records the loss of an agent. The other agents continue: their measurements are
// valid, but of less load than specified. A search ends, because its further loads
// would not be what it records.
func (r *recorder) lose(l loss) error {
	r.agents.lost = append(r.agents.lost, l)
	if len(r.agents.running) == 1 {
		return nil // a failure of the trial: agents.allLost
	}
	r.note("%v; the other agents continue, with less load than specified", l)
	if r.search == nil {
		return nil
	}
	err := r.search.lose(l.String())
	r.endSearch()
	return err
}

// endSearch ends the traffic of a trial whose search has ended.
func (r *recorder) endSearch() {
	r.search.ended(r.search.machine.Result())
	r.search = nil
	r.agents.stop()
}
