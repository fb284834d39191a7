package engine

import (
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/port"
)

// period is an interval of the trial, and what the loop counts in it.
type period struct {
	tally    *tally
	begun    time.Duration
	boundary time.Duration // its end
	phase    signals.Phase
	counted  time.Duration // requests intended earlier are carried, not counted
	final    bool          // the loop has ended
}

// periodOf is the interval in which something came: the present one, or one of the past that
// the collector does not have yet.
func (l *loop) periodOf(came time.Duration) *period {
	at := &l.period
	for i := len(l.past) - 1; i >= 0 && came < l.past[i].boundary; i-- {
		at = &l.past[i]
	}
	return at
}

// landed takes a request that ended at done out of those in flight at the ends of past
// intervals, as which it was counted before its end was known.
func (l *loop) landed(done time.Duration) {
	for i := len(l.past) - 1; i >= 0 && done < l.past[i].boundary; i-- {
		l.past[i].tally.InFlight--
	}
}

// handOn hands the first n past intervals to the collector. When an interval ends, answers
// that came before may still be in the kernel: the loop looks once more before it does this.
func (l *loop) handOn(n int) {
	n = min(n, len(l.past))
	for _, p := range l.past[:n] {
		l.full <- handover{
			seq: l.seq, start: p.begun - l.zero, end: p.boundary - l.zero,
			phase: p.phase, tally: p.tally, last: p.final,
		}
		l.seq++
	}
	l.past = append(l.past[:0], l.past[n:]...)
}

// open starts an interval at the time at.
func (l *loop) open(at time.Duration) {
	end, phase := l.intervals.After(at - l.zero)
	l.begun, l.boundary, l.phase = at, l.zero+end, phase
	if phase != signals.Warmup {
		l.counted = l.zero + l.plan.Warmup
	}
}

// turn ends the present interval at its boundary and starts the next.
func (l *loop) turn() {
	end := l.boundary
	l.tally.InFlight = int64(l.inFlight.n)
	l.tally.Waiting = int64(l.wait.len() + l.bound)
	if l.phase != signals.Drain {
		l.source.report(l.tally, end)
	}
	if end-l.zero >= l.intervals.End {
		if l.phase != signals.Drain {
			l.endLoad(end)
		}
		l.over = l.idle()
	}
	l.handOver(end, l.over)
	if !l.over {
		l.open(end)
	} else {
		l.boundary, l.dropAt = never, never
	}
}

// endLoad ends the load at the time at. Requests that still wait are sent if a
// connection becomes free within the timeout.
func (l *loop) endLoad(at time.Duration) {
	l.source.end()
	l.dropAt = at + l.plan.Timeout
}

// idle reports whether no request is in flight or waits.
func (l *loop) idle() bool { return l.inFlight.n == 0 && l.bound == 0 && l.wait.len() == 0 }

// finish ends the trial if nothing is left to do.
func (l *loop) finish() {
	if l.over || l.zero == never {
		return
	}
	if done := l.source.exhausted(); !done && (l.phase != signals.Drain || !l.idle()) {
		return
	}
	l.over = true
	if l.phase != signals.Drain {
		l.source.report(l.tally, l.now)
	}
	l.handOver(max(l.now, l.begun+1), true) // no interval is empty
}

// handOver ends the present interval, and takes an empty tally. The collector gets the full
// one at once if it is the last, else by handOn.
func (l *loop) handOver(end time.Duration, last bool) {
	l.boundary, l.final = end, last
	if p, counts := l.poller.(port.Sourcing); counts {
		l.tally.OtherSources = p.Sourced()
	}
	if l.past = append(l.past, l.period); last {
		l.handOn(len(l.past))
	}
	l.bar.Turn()
	select {
	case l.tally = <-l.spare:
	default:
		l.tally = newTally() // the collector is behind
	}
	l.tally.OpenConnections = int64(l.conns)
}
