package engine

import (
	"cmp"
	"errors"
	"time"

	"github.com/millicore/millicore/internal/signals"
)

// Interval is what an agent saw between two moments.
type Interval struct {
	Seq        int
	Start, End time.Time
	Phase      signals.Phase
	Client     *signals.Client // without CPU and RunWait
}

// errQuit is what Run returns when the engine was closed under it.
var errQuit = errors.New("the trial was ended before its time")

// collect joins what the loops hand over into intervals and gives them to take.
// An interval is complete when each loop has handed it over or ended before it.
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
			}
			ended[i] = h.last
			slow = h.tally.slow.appendTo(slow, at)
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

// failure is why a loop ended before the trial did, or with it: what came last may
// have been all that there was to come.
func (e *Engine) failure() error {
	for _, p := range e.ports {
		if err := p.err(); err != nil {
			return err
		}
	}
	return nil
}

// giveBack empties a tally for its loop to fill again.
func (e *Engine) giveBack(i int, t *tally) {
	t.reset()
	select {
	case e.spare[i] <- t:
	default: // the loop has enough
	}
}
