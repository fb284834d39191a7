package engine

import (
	"time"

	"github.com/millicore/millicore/internal/load/wire"
)

// slot is the place of one connection, which is made anew when it ends. It has
// the same target for as long as the targets stay the same (see Engine.Move).
type slot struct {
	state      slotState
	listed     bool // in the ring of free slots
	bound      bool // a request waits for the connection to be made
	fresh      bool // the connection was made for the request that it carries
	target     int32
	generation int32
	prev, next int32         // in the list of slots flying or dialing
	began      time.Duration // when the connection was begun
	freed      time.Duration // when it could last take a request
	intended   time.Duration // of its request
	sent       time.Duration
	lag        time.Duration // of its sending
	kind       int32         // of its request
	head       bool          // which is HEAD: the answer has no body
	request    []byte        // its bytes, in own unless all are the same
	own        []byte
	written    int  // bytes of the request
	useful     bool // the connection carried an answer, or a timeout
	failures   int  // connections in a row that brought no byte of an answer
	answer     wire.Answer
}

// slotState is what a slot's connection does.
type slotState uint8

const (
	cold    slotState = iota // there is none
	dialing                  // it is being made
	ready                    // it can take a request
	flying                   // it carries one
)

// list is a queue of slots, linked through them. All of a list's slots wait
// equally long, so the first one is the first to run out of time.
type list struct {
	head, tail int32
	n          int
}

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

// connect adds the slots that the plan's load needs, and begins their
// connections.
func (l *loop) connect() {
	for _, n := l.plan.place(l.plan.Load, l.share); len(l.slots) < n; {
		l.add()
	}
}

// add adds a slot and begins its connection.
func (l *loop) add() {
	i := len(l.slots)
	l.slots = append(l.slots, slot{target: l.targetOf(int32(i))})
	l.dial(int32(i))
}

// addEvery is the time between two connections that a change of load adds. To
// make one takes some 20 us, and a hundred at once would be 2 ms in which no
// request is sent, and more than many services let wait to be accepted.
const addEvery = 200 * time.Microsecond

// extendAt is when the loop has to see to connections that are yet to be added.
func (l *loop) extendAt() time.Duration {
	switch {
	case len(l.slots) >= l.wanted:
		return never
	case l.wait.len() > 0:
		return 0
	}
	return l.nextAt
}

// extend adds one of the connections that a change of load has asked for. They
// come ahead of need, each at its time, and faster where requests wait already.
func (l *loop) extend() {
	if l.extendAt() <= l.now {
		l.nextAt = l.now + addEvery
		l.add()
		l.dispatch()
	}
}

// release puts a slot without a request at the end of the ring.
func (l *loop) release(i int32) {
	if s := &l.slots[i]; !s.listed {
		s.listed = true
		l.free.push(i)
	}
}

// dispatch gives waiting requests to free slots, in order on both sides: each
// connection, and so each target, gets its turn.
func (l *loop) dispatch() {
	for l.wait.len() > 0 && l.free.len() > 0 {
		if l.stale {
			l.tick() // by which the requests that waited may have been dropped
			continue
		}
		i := l.free.pop()
		s := &l.slots[i]
		s.listed = false
		s.intended = l.wait.pop()
		if l.targets[s.target].Gone && s.state != cold {
			if s.state == dialing {
				l.part(&l.dialing, i)
			}
			l.shut(i, false)
		}
		if s.state == cold {
			s.target = l.targetOf(i)
		}
		l.mix.choose(s, &l.targets[s.target])
		switch s.state {
		case ready:
			l.send(i)
		case dialing:
			l.bind(s)
		case cold:
			l.bind(s)
			l.dial(i)
		}
	}
}

// bind lets the slot's request wait for its connection.
func (l *loop) bind(s *slot) {
	s.bound, s.fresh = true, true
	l.bound++
}

// dial begins the connection of a cold slot.
func (l *loop) dial(i int32) {
	s := &l.slots[i]
	s.state, s.useful = dialing, false
	s.generation++
	s.began = l.now
	l.join(&l.dialing, i)
	out := l.port.dial(i, s.generation, int(s.target))
	l.stale = true
	if out != later {
		l.dialed(i, out)
	}
}

// dialed takes the end of a dial.
func (l *loop) dialed(i int32, out outcome) {
	if l.stale {
		l.tick()
	}
	s := &l.slots[i]
	l.part(&l.dialing, i)
	if out == okay {
		s.state, s.freed = ready, l.now
		l.tally.Connects++
	} else {
		l.shut(i, true)
	}
	if !s.bound {
		l.release(i)
		return
	}
	s.bound = false
	l.bound--
	if out == okay {
		l.send(i)
	} else {
		s.failures++
		l.count(s, refused, l.now)
		l.goOn(l.now, backOff(s.failures))
		l.release(i)
	}
}

// shut ends the slot's connection.
func (l *loop) shut(i int32, abruptly bool) {
	l.port.close(i, abruptly)
	l.slots[i].state = cold
	l.stale = true
}

// lived is how long a connection must have been of use to be replaced before
// the next request asks for it. One that ends sooner without an answer may do
// so again, and dialing on would flood a service that turns everybody away.
const lived = time.Second

// replace ends a connection without a request and makes the next one.
func (l *loop) replace(i int32, abruptly bool) {
	s := &l.slots[i]
	worked := s.useful || l.now-s.began >= lived
	l.shut(i, abruptly)
	s.target = l.targetOf(i)
	if worked && (l.source.loads() || l.wait.len() > 0) {
		l.dial(i) // released when the connection is made
		return
	}
	l.release(i)
}

// A user who was turned away, without a connection or without a byte of an
// answer, pauses before the next attempt, twice as long each time: a dead
// service must not make the agent spin. The next request is intended at the end
// of the pause.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
)

func backOff(failures int) time.Duration {
	return min(firstPause<<min(max(failures-1, 0), 10), lastPause)
}
