package engine

import (
	"time"

	"github.com/millicore/millicore/internal/load/port"
	"github.com/millicore/millicore/internal/load/session"
	"github.com/millicore/millicore/internal/load/wire"
)

// slot is the place of one connection. It has a connection from the first request that
// needs one until that connection ends. It keeps its target as long as the targets do
// not change (see Engine.Move).
type slot struct {
	state      slotState
	bound      bool // its request waits for this connection only
	fresh      bool // the connection was made for its present request
	target     int32
	generation int32
	prev, next int32         // in its list
	began      time.Duration // when the dial started
	freed      time.Duration // when it last became free
	intended   time.Duration // intended time of its request
	sent       time.Duration
	lag        time.Duration // send lag of its request
	kind       int32         // of its request
	head       bool          // the request is HEAD: the answer has no body
	call       *wire.Call    // the request is a gRPC call
	closes     bool          // the request is the last one on the connection
	repeats    bool          // the request may be sent again
	resent     bool          // it was
	moves      int           // how often the service left it to another connection
	request    []byte        // the request's bytes: in own, or shared if it has no placeholders
	own        []byte
	written    int // bytes of the request
	failures   int // consecutive connections without a byte of an answer
	answer     wire.Answer
	messages   int              // of its answer that have come, if it is a stream
	heard      time.Duration    // when the last of them came
	first      time.Duration    // when the first bytes of an answer in parts came; as parted
	session    *session.Session // whose request it has; nil: of none
	think      time.Duration    // of a session after its request that ended last
	parted     time.Duration    // when its last part but one came, of this request or an earlier one
}

// slotState is the state of a slot's connection. A slot is in the list of its state:
// its target's list if it is cold or ready, else the loop's.
type slotState uint8

const (
	cold     slotState = iota // no connection
	dialing                   // it is being made
	ready                     // it has no request
	inFlight                  // it has a request in flight
)

// list is a queue of slots, linked through them. All slots in flight have the same
// timeout, and so have those that are dialing, so the first slot expires first.
type list struct {
	head, tail int32
	n          int
}

func newList() list { return list{head: -1, tail: -1} }

func (l *loop) join(q *list, i int32) {
	s := &l.slots[i]
	s.prev, s.next = q.tail, -1
	if q.tail >= 0 {
		l.slots[q.tail].next = i
	} else {
		q.head = i
	}
	q.tail = i
	q.n++
}

func (l *loop) part(q *list, i int32) {
	s := &l.slots[i]
	if s.prev >= 0 {
		l.slots[s.prev].next = s.next
	} else {
		q.head = s.next
	}
	if s.next >= 0 {
		l.slots[s.next].prev = s.prev
	} else {
		q.tail = s.prev
	}
	q.n--
}

// extend adds the slots that the load may need, without connections. It must not be
// called while the caller holds a pointer to a slot.
func (l *loop) extend() {
	for len(l.slots) < l.wanted {
		l.slots = append(l.slots, slot{})
		l.rest(int32(len(l.slots) - 1))
	}
}

// rest puts a slot without a connection into its target's list.
func (l *loop) rest(i int32) {
	s := &l.slots[i]
	s.state, s.target = cold, l.targetOf(i)
	l.join(&l.sites[s.target].cold, i)
	l.free++
	l.colds++
}

// stand puts a connection without a request into its target's list.
func (l *loop) stand(i int32) {
	s := &l.slots[i]
	site := &l.sites[s.target]
	s.state = ready
	l.join(&site.ready, i)
	l.free++
	l.promised = l.promised || site.due.len() > 0
}

// pick takes a connection without a request out of its target's list.
func (l *loop) pick(i int32) *slot {
	s := &l.slots[i]
	l.part(&l.sites[s.target].ready, i)
	l.free--
	return s
}

// bind makes the slot's request wait for this slot's connection; lag is its send lag.
func (l *loop) bind(s *slot, lag time.Duration) {
	s.bound, s.lag = true, lag
	l.bound++
}

// dial starts the connection of a cold slot.
func (l *loop) dial(i int32) {
	s := &l.slots[i]
	site := &l.sites[s.target]
	l.part(&site.cold, i)
	l.free--
	l.colds--
	l.dials++
	if !s.bound {
		site.dialing++
	}
	s.state = dialing
	s.generation++
	s.began = l.now
	l.join(&l.dialing, i)
	out := l.poller.Dial(i, s.generation, int(s.target))
	l.stale = true
	if out != wouldBlock {
		l.dialed(i, out)
	}
}

// dialed handles the end of a dial. The connection gets the request that has waited
// longest. If no request waits any more, a new connection becomes ready, and a failed
// one has no consequences. A request that was to be sent again, and now cannot be, was
// cut off the first time.
func (l *loop) dialed(i int32, out outcome) {
	if generation := l.slots[i].generation; l.stale {
		l.tick()
		if s := &l.slots[i]; s.state != dialing || s.generation != generation {
			return // its target has gone
		}
	}
	s := &l.slots[i]
	site := &l.sites[s.target]
	l.part(&l.dialing, i)
	again, waits := s.bound && s.resent, s.bound
	if out == portless && !again {
		l.postpone(i)
		return
	}
	l.portsAt = 0
	if s.bound {
		s.bound = false
	} else {
		site.dialing--
		if waits = site.due.len() > 0 && (out == succeeded || site.due.len() > site.dialing); waits {
			r := site.due.pop()
			s.intended, s.lag = r.intended, r.lag
			l.mix.choose(s, &l.targets[s.target], l.now)
		}
	}
	if waits {
		l.bound--
	}
	s.freed, s.fresh = l.now, waits
	switch {
	case out != succeeded:
		l.shut(i, abrupt)
		if waits {
			s.failures++
			how := refused
			if again {
				how = cut
			}
			l.count(s, how, l.now)
			l.goOn(l.now, max(s.think, backOff(s.failures)))
		}
		return
	case waits:
		l.made(i)
		l.send(i, s.lag+l.poller.Shook(i).Held)
	default:
		l.made(i)
		l.stand(i)
	}
}

// portPause is the time until a connection is tried again after this machine had no free
// port: TIME_WAIT keeps ports for a minute, and the search for a free one takes
// milliseconds.
const portPause = 100 * time.Millisecond

// portless reports whether no connection is to be started for lack of a port. After the
// pause one is tried alone.
func (l *loop) portless() bool { return l.portsAt > 0 && (l.now < l.portsAt || l.dialing.n > 0) }

// postpone puts the request of a failed dial back to those that wait: this machine had no
// free port for it. As a connection was free for it, the wait is send lag.
func (l *loop) postpone(i int32) {
	s := &l.slots[i]
	site := &l.sites[s.target]
	switch {
	case s.bound:
		s.bound = false
		l.bound--
		l.mix.giveBack(s, l.now)
		l.wait.unshift(s.intended)
	default:
		if site.dialing--; site.due.len() > site.dialing {
			l.bound--
			l.wait.unshift(site.due.pop().intended)
		}
	}
	l.shut(i, abrupt)
	l.tally.NoPorts++
	l.portsAt = l.now + portPause
}

// made counts a new connection, unless the poller does.
func (l *loop) made(i int32) {
	if !l.shared {
		l.opened(l.slots[i].began, l.poller.Shook(i))
	}
}

// opened counts a connection, whose dial began at began.
func (l *loop) opened(began time.Duration, shook port.Handshake) {
	l.conns++
	l.tally.Connects++
	dials := l.tally.dials(l.plan.Transport.TLS)
	if dials.Handshake == nil {
		dials.Connect.Record(l.poller.Now() - began)
	} else {
		dials.Connect.Record(shook.Began - began)
		dials.Handshake.Record(shook.Ended - shook.Began)
	}
	l.tally.OpenConnections = max(l.tally.OpenConnections, int64(l.conns))
}

func (l *loop) closed() { l.conns-- }

// received counts bytes of the service.
func (l *loop) received(n int) { l.tally.Bytes += int64(n) }

// parting is how a connection is ended.
type parting uint8

const (
	orderly  parting = iota
	abrupt           // without waiting for data on its way
	awaiting         // by the other side, which was asked to or has announced it
)

// shut ends the connection of a slot that is in no list. The next connection is made
// when a request needs it: an early one could occupy a service with few workers and
// delay the connection of the next request.
func (l *loop) shut(i int32, how parting) {
	if l.slots[i].state != dialing && !l.shared {
		l.closed()
	}
	if how == awaiting {
		l.poller.Part(i)
	} else {
		l.poller.Close(i, how == abrupt)
	}
	l.stale = true
	l.rest(i)
}

// A user without a connection, or without a byte of an answer, pauses before the next
// attempt, twice as long each time, so that a dead service does not make the agent
// spin. The next request is intended at the end of the pause.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
)

func backOff(failures int) time.Duration {
	return min(firstPause<<min(max(failures-1, 0), 10), lastPause)
}
