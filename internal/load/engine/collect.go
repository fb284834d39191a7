package engine

import (
	"cmp"
	"errors"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// Interval is the traffic of one agent over one interval.
type Interval struct {
	Seq        int
	Start, End time.Time
	Phase      signals.Phase
	Client     *signals.Client // without CPU and RunWait
}

// errQuit is returned by Run if the engine was closed during a trial.
var errQuit = errors.New("the trial was closed before its end")

// collect merges the loops' tallies into intervals and passes them to take. An interval
// is complete when each loop has handed its part over, or has ended before.
func (e *Engine) collect(at time.Time, take func(*Interval) error) error {
	ended := make([]bool, len(e.full))
	var slow []signals.Slow
	for seq := 0; ; seq++ {
		var whole *handover
		owner := 0
		slow = slow[:0]
		for i, full := range e.full {
			h, ok := <-full
			switch {
			case !ok && !ended[i]:
				return cmp.Or(e.failure(), errQuit)
			case !ok:
				continue
			case h.err != nil:
				return h.err
			}
			ended[i] = h.last
			slow = h.tally.slow.AppendTo(slow, at)
			if whole == nil {
				whole, owner = &h, i
				continue
			}
			whole.tally.add(h.tally)
			whole.end = max(whole.end, h.end)
			e.giveBack(i, h.tally)
		}
		if whole == nil {
			return e.failure()
		}
		client := whole.tally.client()
		client.Slow = slow
		if err := take(&Interval{
			Seq:    seq,
			Start:  at.Add(whole.start),
			End:    at.Add(whole.end),
			Phase:  whole.phase,
			Client: client,
		}); err != nil {
			return err
		}
		e.giveBack(owner, whole.tally)
	}
}

// failure is the error with which a loop ended, if any. A loop may fail at the very end
// of a trial, so it is checked after the last interval too.
func (e *Engine) failure() error {
	for _, p := range e.pollers {
		if err := p.Err(); err != nil {
			return err
		}
	}
	return nil
}

// giveBack empties a tally and returns it to its loop.
func (e *Engine) giveBack(i int, t *tally) {
	t.reset()
	select {
	case e.spare[i] <- t:
	default: // the loop has enough
	}
}
