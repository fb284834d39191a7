package engine

import (
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/slow"
	"github.com/millicore/millicore/internal/load/wire"
)

// handle handles an event of a connection.
func (l *loop) handle(ev event) {
	s := &l.slots[ev.Slot]
	if ev.Generation != s.generation || s.state == cold {
		return // of a connection that no longer exists
	}
	if s.state == dialing {
		out := l.poller.Dialed(ev.Slot)
		if out == wouldBlock {
			return
		}
		generation := s.generation
		l.dialed(ev.Slot, out)
		if s.generation != generation || s.state == cold {
			return
		}
	}
	if ev.Writable && s.state == inFlight && s.written < len(s.request) {
		l.writeOn(ev.Slot)
	}
	if (ev.Readable || ev.Ended) && s.generation == ev.Generation {
		l.receive(ev.Slot, ev.Ended)
	}
}

// writeOn writes more of a request. One of which nothing has left yet leaves now: the service
// allowed no further stream, and the wait for one is the client's own.
func (l *loop) writeOn(i int32) {
	s := &l.slots[i]
	waited := s.written == 0
	if l.stale {
		l.tick()
	}
	began := l.now
	if l.write(i); waited && s.written > 0 {
		l.part(&l.inFlight, i)
		s.sent = max(began, l.away)
		l.join(&l.inFlight, i)
	}
}

// write writes the rest of the request. If the connection broke, an answer may have
// come before, as when a service refuses a large body: reading finds the answer or
// the end.
func (l *loop) write(i int32) outcome {
	s := &l.slots[i]
	l.stale = true
	for s.written < len(s.request) {
		n, out := l.poller.Write(i, s.request[s.written:])
		if s.written == 0 {
			l.away = l.poller.Left()
		}
		if out != succeeded {
			return out
		}
		s.written += n
	}
	return succeeded
}

// receive reads the available bytes. Bytes without a request end the connection.
func (l *loop) receive(i int32, toEnd bool) {
	s := &l.slots[i]
	generation := s.generation
	for range maxReads {
		n, came, out := l.poller.Read(i, l.buffer)
		l.tick()
		if !l.shared {
			l.received(n)
		}
		switch {
		case out == wouldBlock:
			return
		case s.generation != generation || s.state == cold: // its target has gone
			return
		case out != succeeded:
			l.disconnected(i, out)
			return
		case s.state != inFlight:
			l.tally.Stray++
			l.pick(i)
			l.shut(i, abrupt)
			return
		}
		l.take(i, l.buffer[:n], came)
		if s.generation != generation || s.state == cold || n < len(l.buffer) && !toEnd {
			return
		}
	}
	l.again = append(l.again, i)
}

// readOn continues to read connections that had more data than one turn may read.
func (l *loop) readOn() {
	l.again, l.before = l.before[:0], l.again
	for _, i := range l.before {
		if s := &l.slots[i]; s.state == inFlight || s.state == ready {
			l.receive(i, true)
		}
	}
}

// take parses bytes of the answer; came is when the last of them arrived.
func (l *loop) take(i int32, p []byte, came time.Duration) {
	s := &l.slots[i]
	begun := s.answer.Begun()
	n, whole, err := l.heads[s.kind].Read(&s.answer, p)
	if s.session != nil {
		s.session.Keep(p[:n])
	}
	if !begun && !whole {
		s.first = min(max(came, s.sent), l.now)
	}
	if s.call != nil && !s.call.Single {
		l.hear(s, min(max(came, s.sent), l.now))
	}
	switch {
	case err != nil:
		l.fail(i, malformed)
	case whole:
		l.answered(i, came, n < len(p))
	default:
		s.parted = came
		l.watch()
	}
	if len(p) >= longMessage {
		l.watch()
	}
}

// hear records the times of the messages of a stream that have come, the last of them at came.
func (l *loop) hear(s *slot, came time.Duration) {
	n := s.answer.Messages()
	in := l.periodOf(came)
	if n == s.messages || s.intended < in.counted {
		return
	}
	streams := in.tally.streams()
	for ; s.messages < n; s.messages++ {
		if s.messages == 0 {
			streams.First.Record(came - s.intended)
		} else {
			streams.Between.Record(came - s.heard)
		}
		s.heard = came
	}
}

// answered ends a request whose answer was complete at came. The request counts as
// done then, and its connection as free, even if the loop noticed it later: the
// difference is the generator's delay, and part of the next request's send lag. A user
// whose interval or load of that time has already ended goes on at its end. If stray bytes followed the answer, which belong to no request, the
// connection is replaced (RFC 9112, 6.3).
func (l *loop) answered(i int32, came time.Duration, stray bool) {
	s := &l.slots[i]
	l.part(&l.inFlight, i)
	came = min(max(came, s.sent), l.now)
	if in := l.count(s, answered, came); s.call == nil && s.parted > s.sent && s.intended >= in.counted {
		in.tally.apart(came - s.parted)
	}
	l.goOn(max(came, l.begun, l.source.began), s.think)
	s.failures, s.freed = 0, came
	if site := &l.sites[s.target]; !s.fresh {
		if site.answered = came; came-s.sent >= l.plan.Timeout/prompt {
			site.slow = came
		}
	}
	if stray {
		l.tally.Stray++
	}
	switch {
	case stray, s.written < len(s.request):
		l.shut(i, abrupt)
	case s.closes || !s.answer.Reusable():
		l.shut(i, awaiting)
	case s.target != l.targetOf(i):
		l.shut(i, orderly)
	default:
		l.stand(i)
	}
}

// disconnected handles the end of a connection.
func (l *loop) disconnected(i int32, out outcome) {
	s := &l.slots[i]
	switch {
	case s.state != inFlight && out == broken:
		l.pick(i)
		l.shut(i, abrupt)
	case s.state != inFlight:
		l.pick(i)
		l.shut(i, orderly)
	case out == ended && s.answer.End() == nil:
		l.watch() // no stamp says when a connection ended
		l.answered(i, l.now, false)
	case (out == unprocessed || out == declined) && s.moves < mostMoves && s.target == l.targetOf(i):
		if s.moves++; out == declined {
			s.moves += mostMoves/mostDeclined - 1
		}
		l.resend(i)
	case s.call != nil && out == broken && l.now-s.sent >= wire.Deadline(l.plan.Timeout):
		l.fail(i, timedOut) // grpc-java resets the stream at the deadline, and sends no status
	case out == invalid:
		l.fail(i, malformed)
	case s.repeats && !s.resent && !s.fresh && !s.answer.Begun() && s.target == l.targetOf(i):
		l.resend(i)
	default:
		l.fail(i, cut)
	}
}

// A request is sent again, on another connection, because the service did not look at it.
// A service that ends each connection after 20 requests leaves a part of a hundred several
// times. One that declines requests on connections that go on, or ends connections without a
// look at any request, is short of something, and is not to be flooded with connections.
const (
	mostMoves    = 100
	mostDeclined = 4
)

// resend sends a request once more, on a new connection. The service closed the first
// one, which had been idle, without a byte of an answer: usually before it read the
// request, which says nothing about its load (RFC 9112, 9.3.1). The request keeps its
// intended time and its lag, and is sent as of the second time.
func (l *loop) resend(i int32) {
	s := &l.slots[i]
	l.part(&l.inFlight, i)
	if !s.resent && s.intended >= l.counted {
		l.tally.Resent++
	}
	s.resent = true
	l.shut(i, abrupt)
	l.bind(s, s.lag)
	l.dial(i)
}

// fail ends a request without a valid answer, and closes its connection.
func (l *loop) fail(i int32, how ending) {
	s := &l.slots[i]
	l.part(&l.inFlight, i)
	l.count(s, how, l.now)
	pause := time.Duration(0)
	if how == cut && !s.answer.Begun() {
		s.failures++
		pause = backOff(s.failures)
	}
	l.goOn(l.now, max(pause, s.think))
	s.freed = l.now
	l.shut(i, abrupt)
}

// expire ends requests and dials that reached the timeout. An answer that has arrived
// by now counts, even if there was no event for it yet.
func (l *loop) expire() {
	for i := l.late(); i >= 0; i = l.late() {
		if l.receive(i, false); l.late() == i {
			l.fail(i, timedOut)
		}
	}
	for l.dialing.head >= 0 && l.slots[l.dialing.head].began+l.plan.Timeout <= l.now {
		l.dialed(l.dialing.head, broken)
	}
}

// late is the slot of a request that has reached the timeout; -1: none has.
func (l *loop) late() int32 {
	if i := l.inFlight.head; i >= 0 && l.slots[i].sent+l.plan.Timeout <= l.now {
		return i
	}
	return -1
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

// count adds a request that ended at done to the tally of its interval, which it returns.
func (l *loop) count(s *slot, how ending, done time.Duration) *period {
	in := l.periodOf(done)
	captured := true
	if s.session != nil {
		captured = l.stepped(s, how, done, in)
	}
	l.landed(done)
	done = max(done, in.begun) // where the collector has its interval
	t := in.tally
	if l.quota >= 0 {
		l.left--
	}
	if s.intended < in.counted {
		t.Carried++
		return in
	}
	timed, good := false, false
	switch how {
	case answered:
		good = t.take(&s.answer, l.mix.check(s), captured, l.plan.Hide)
		timed = good
	case timedOut:
		t.Timeouts++
		timed = true
		if l.unaccepted(s) {
			t.Unaccepted++
		}
	case refused:
		t.refuse(l.targets[s.target].Addr, len(l.present) > 1 && l.targets[s.target].Addr.IsValid())
	case cut:
		t.Cut++
	case malformed:
		t.Malformed++
	}
	if name := l.mix.kinds[s.kind].Name; name != "" {
		t.apartBy(name, good, timed, done-s.intended)
	}
	if timed {
		t.Latency.Record(done - s.intended)
		t.begin(s, done)
		t.Service.Record(done - s.sent)
		if in.phase != signals.Warmup {
			l.notice(in.tally, s, done, how == timedOut)
		}
	}
	return in
}

// prompt is the part of the timeout within which a service answers that has time for the
// connections that it accepted.
const prompt = 20

// unaccepted reports whether nothing arrived on the new connection of a request, while
// the service answered promptly on connections that stay open, of which one is idle. The
// service may never have accepted it: idle connections can hold all workers of a service
// that serves one connection with each. A service that is overloaded answers slowly on
// the others, too.
func (l *loop) unaccepted(s *slot) bool {
	site := &l.sites[s.target]
	return s.fresh && !s.answer.Begun() && !l.plan.Transport.HTTP2 && site.stands() &&
		site.answered > s.sent && site.slow <= s.sent
}

// notice adds a request that ended at done to the sample if it was slow. Requests that
// were due before the last change of the load do not raise or lower the bar.
func (l *loop) notice(t *tally, s *slot, done time.Duration, timedOut bool) {
	latency := done - s.intended
	if s.intended >= l.source.began {
		l.bar.Add(latency)
	}
	if !l.bar.Clears(latency) {
		return
	}
	t.SlowSeen++
	t.slow.Add(slow.Request{
		Intended: s.intended - l.zero,
		Sent:     s.sent - l.zero,
		Done:     done - l.zero,
		Lag:      s.lag,
		Target:   l.targets[s.target].Replica,
		TimedOut: timedOut,
	}, l.random)
}
