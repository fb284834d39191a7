package engine

import (
	"time"

	"github.com/millicore/millicore/internal/signals"
)

// handle takes what may be done with a connection now.
func (l *loop) handle(ev event) {
	s := &l.slots[ev.slot]
	if ev.generation != s.generation || s.state == cold {
		return // of an earlier connection, or of one that is gone
	}
	if s.state == dialing {
		out := l.port.dialed(ev.slot)
		if out == later {
			return
		}
		generation := s.generation
		l.dialed(ev.slot, out)
		if s.generation != generation || s.state == cold {
			return
		}
	}
	if ev.writable && s.state == flying && s.written < len(s.request) {
		l.write(ev.slot)
	}
	if (ev.readable || ev.ended) && s.generation == ev.generation {
		l.receive(ev.slot, ev.ended)
	}
}

// send sends a request on a ready connection. It is sent the moment before its
// first bytes are given to the kernel: on one machine, that call already runs a
// part of the service's side. The clock has been read since anything took time.
func (l *loop) send(i int32) {
	s := &l.slots[i]
	s.written = 0
	sent, lag := l.now, l.lag(s.intended, s.freed)
	if l.write(i) == broken && s.written == 0 && !s.fresh {
		// The connection ended while it was idle and the request never
		// left, so nothing is known of the service: take a new one.
		l.shut(i, true)
		l.bind(s)
		l.dial(i)
		return
	}
	s.state, s.sent, s.lag = flying, sent, lag
	s.answer.Begin(s.head, l.mix.check(s).Needle())
	l.join(&l.flying, i)
	if s.intended >= l.counted {
		l.tally.Sent++
		l.tally.SendLag.Record(lag)
	}
}

// write gives what is left of the request to the kernel. Where the connection
// broke, an answer may have come before, as when a service refuses a large
// body: reading finds it, or the end.
func (l *loop) write(i int32) outcome {
	s := &l.slots[i]
	l.stale = true
	for s.written < len(s.request) {
		n, out := l.port.write(i, s.request[s.written:])
		if out != okay {
			return out
		}
		s.written += n
	}
	return okay
}

// receive reads what has come. Bytes that nobody asked for end the connection.
func (l *loop) receive(i int32, toEnd bool) {
	s := &l.slots[i]
	generation := s.generation
	for range maxReads {
		n, came, out := l.port.read(i, l.buffer)
		l.tick()
		l.tally.Bytes += int64(n)
		switch {
		case out == later:
			return
		case out != okay:
			l.disconnected(i, out)
			return
		case s.state != flying:
			l.replace(i, true)
			return
		}
		l.take(i, l.buffer[:n], came)
		if s.generation != generation || s.state == cold || n < len(l.buffer) && !toEnd {
			return
		}
	}
	l.again = append(l.again, i)
}

// readOn reads on where a connection had more than its turn's worth.
func (l *loop) readOn() {
	l.again, l.before = l.before[:0], l.again
	for _, i := range l.before {
		if s := &l.slots[i]; s.state == flying || s.state == ready {
			l.receive(i, true)
		}
	}
}

// take takes bytes of the answer, the last of which came at a moment.
func (l *loop) take(i int32, p []byte, came time.Duration) {
	s := &l.slots[i]
	n, whole, err := l.heads[s.kind].Read(&s.answer, p)
	switch {
	case err != nil || whole && n < len(p):
		l.fail(i, malformed)
	case whole:
		l.answered(i, came)
	}
}

// answered ends a request whose whole answer came at a moment. Then it was done,
// its connection free, and its user goes on: how long the loop took to find out is
// not the service's doing, and becomes the lag of what is sent next. Where the
// books of that moment are closed, an interval's or a load's, it is that of their
// closing.
func (l *loop) answered(i int32, came time.Duration) {
	s := &l.slots[i]
	l.part(&l.flying, i)
	came = min(max(came, s.sent), l.now)
	done := max(came, l.begun, l.source.began)
	l.count(s, answered, done)
	l.goOn(done, 0)
	s.failures, s.fresh, s.useful = 0, false, true
	if whole := s.written == len(s.request); whole && s.answer.Reusable() && s.target == l.targetOf(i) {
		s.state, s.freed = ready, came
		l.release(i)
	} else {
		l.replace(i, !whole)
	}
}

// disconnected takes the end of a connection.
func (l *loop) disconnected(i int32, out outcome) {
	s := &l.slots[i]
	switch {
	case s.state != flying:
		l.replace(i, out == broken)
	case out == ended && s.answer.End() == nil:
		l.answered(i, l.now)
	default:
		l.fail(i, cut)
	}
}

// fail ends a request without an answer, and its connection with it.
func (l *loop) fail(i int32, how ending) {
	s := &l.slots[i]
	l.part(&l.flying, i)
	l.count(s, how, l.now)
	pause := time.Duration(0)
	if how == cut && !s.answer.Begun() {
		s.failures++
		pause = backOff(s.failures)
	}
	l.goOn(l.now, pause)
	s.useful = s.useful || how == timedOut
	l.replace(i, true)
}

// expire gives up what has waited for the timeout. An answer that has come by
// now counts, though no event may have told of it yet.
func (l *loop) expire() {
	for i := l.flying.head; i >= 0 && l.slots[i].sent+l.plan.Timeout <= l.now; i = l.flying.head {
		if l.receive(i, false); l.flying.head == i {
			l.fail(i, timedOut)
		}
	}
	for l.dialing.head >= 0 && l.slots[l.dialing.head].began+l.plan.Timeout <= l.now {
		l.dialed(l.dialing.head, broken)
	}
}

// ending is how a request ended.
type ending uint8

const (
	answered ending = iota
	timedOut
	refused
	cut
	malformed
)

// count enters a request that ended at a moment into the books.
func (l *loop) count(s *slot, how ending, done time.Duration) {
	t := l.tally
	if l.quota >= 0 {
		l.left--
	}
	if s.intended < l.counted {
		t.Carried++
		return
	}
	timed := false
	switch how {
	case answered:
		timed = t.take(s.answer.Status(), l.mix.check(s), s.answer.Found())
	case timedOut:
		t.Timeouts++
		timed = true
	case refused:
		t.Refused++
	case cut:
		t.Cut++
	case malformed:
		t.Malformed++
	}
	if timed {
		t.Latency.Record(done - s.intended)
		t.Service.Record(done - s.sent)
		if l.phase != signals.Warmup {
			l.notice(s, done, how == timedOut)
		}
	}
}

// notice keeps a request that ended at a moment in the sample if it was slow. One
// that was due before the load was last set says nothing of what is slow under
// this.
func (l *loop) notice(s *slot, done time.Duration, timedOut bool) {
	latency := done - s.intended
	if s.intended >= l.source.began {
		l.bar.present.add(latency)
	}
	if latency < l.bar.height {
		return
	}
	l.tally.SlowSeen++
	l.tally.slow.add(span{
		intended: s.intended - l.zero,
		sent:     s.sent - l.zero,
		done:     done - l.zero,
		lag:      s.lag,
		target:   s.target,
		timedOut: timedOut,
	}, l.random)
}
