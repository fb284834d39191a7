package engine

import (
	"bytes"
	"time"

	"github.com/millicore/millicore/internal/load/h2"
)

// mux is the poller of HTTP/2: a slot's connection is a place on a shared connection, on

// which its requests are streams, one after another. The loop speaks HTTP/1.1 to it, so

// that it needs to know nothing of HTTP/2: a request's head is translated once and kept,

// and answers get a head of HTTP/1.1 and chunks around their bodies.

//

// Another poller makes the connections below, whose slots are indices into conns. What is

// written in one turn of the loop leaves with few calls: at its end, or when a request

// follows one that has waited for mostDelay.

type mux struct {
	poller
	https     bool
	streams   int // maximum number of places on a connection
	several   int // number of connections to a target that are made before places share them
	conns     []*muxConn
	vacant    []int32 // indices of conns without a connection
	byTarget  [][]int32
	places    []place // by the loop's slot
	queue     []event // for the loop
	below     []event
	unread    []*muxConn // with more to read than one turn may
	unwritten []*muxConn // with bytes to write
	idle      []*muxConn // that lost their last place
	blocks    map[string][]byte
	buffer    []byte
	opened    func() // a connection was made
	closed    func() // it has ended
}

// mostDelay is how long a request waits for others that follow, to leave with them.

// mostBlocks bounds the translated heads that are kept. Heads with placeholders never

// come again.

const mostBlocks = 256

// muxConn is a connection that places share.

// place is a slot's place on a connection.

type place struct {
	conn       *muxConn
	index      int // in conn.places
	generation int32
	target     int32
	stream     *h2.Stream
	begun      bool // its request has a stream, or had one whose answer the loop has not read whole
	head       bool // its request is HEAD
	chunked    bool // the answer's body is in chunks
	used       bool // the loop has not closed it
	told       bool // an event for it is queued
	writable   bool
	waits      bool    // its request is in conn.waiting
	dialed     outcome // wouldBlock until the connection is ready
	held       time.Duration
	end        outcome // wouldBlock until the connection or the request has ended without an answer
	in         []byte
	read       int // bytes of in that the loop has read
	came       time.Duration
}

// several is how many connections to a target a loop makes before its slots share them.

const several = 8

// mostStreams is the maximum number of streams per connection, even if the service

// allows more. Most services allow a hundred, the minimum that RFC 9113, 6.5.2,

// recommends.

const mostStreams = 100

// newMux makes a poller of HTTP/2 over the connections of another one, with this number of

// streams on each; 0: several connections, with as many streams as are needed.

func newMux(below poller, plan *Plan) *mux {
	targets, many, few := plan.Targets, plan.Transport.Streams, 1
	if many == 0 {
		many, few = mostStreams, max(1, several/plan.shares())
	}
	return &mux{
		poller: below, https: plan.Transport.TLS, streams: many, several: few, below: make([]event, maxEvents), buffer: make([]byte, bufferSize),
		blocks: map[string][]byte{}, byTarget: make([][]int32, len(targets)), opened: func() {}, closed: func() {},
	}
}

func (m *mux) counted(opened, closed func()) { m.opened, m.closed = opened, closed }

func (m *mux) move(targets []Target) {
	m.poller.move(targets)
	for len(m.byTarget) < len(targets) {
		m.byTarget = append(m.byTarget, nil)
	}
}

// dial gives a slot a place on a connection to the target with a free one, or on a new

// connection.

func (m *mux) dial(slot, generation int32, target int) outcome {
	for int(slot) >= len(m.places) {
		m.places = append(m.places, place{})
	}
	p := &m.places[slot]
	*p = place{used: true, generation: generation, target: int32(target), dialed: wouldBlock, end: wouldBlock, in: p.in[:0], told: p.told}
	return m.join(slot)
}

// join takes the connection with the fewest places, once there are several: a service with

// workers gives each of its connections to one of them.

func (m *mux) join(slot int32) outcome {
	p := &m.places[slot]
	var least *muxConn
	few := len(m.byTarget[p.target]) < m.several
	for _, i := range m.byTarget[p.target] {
		c := m.conns[i]
		few = few && !c.refuses // the service is short of something: as few connections as possible
		if c.state < muxLeaving && !c.refuses && len(c.places) < c.room() && (least == nil || len(c.places) < len(least.places)) {
			least = c
		}
	}
	if least != nil && (len(least.places) == 0 || !few) {
		return m.seat(slot, least)
	}
	c, out := m.open(p.target)
	if out != succeeded && out != wouldBlock {
		return out
	}
	return m.seat(slot, c)
}

func (m *mux) seat(slot int32, c *muxConn) outcome {
	p := &m.places[slot]
	p.conn, p.index = c, len(c.places)
	c.places = append(c.places, slot)
	if c.state == muxOpen {
		p.dialed = succeeded
	}
	return p.dialed
}

// room is the number of places on a connection. A service that allows no stream now may

// allow some later: further connections would have the same answer.

// open starts a connection.

func (m *mux) open(target int32) (*muxConn, outcome) {
	var slot int32
	if n := len(m.vacant); n > 0 {
		slot, m.vacant = m.vacant[n-1], m.vacant[:n-1]
	} else {
		slot = int32(len(m.conns))
		m.conns = append(m.conns, &muxConn{})
	}
	c := &muxConn{mux: m, slot: slot, generation: m.conns[slot].generation + 1, target: target, state: muxDialing}
	m.conns[slot] = c
	out := m.poller.dial(slot, c.generation, int(target))
	switch out {
	case succeeded:
		c.greet()
	case wouldBlock:
	default:
		m.poller.close(slot, true)
		c.state = muxGone
		m.vacant = append(m.vacant, slot)
		return nil, out
	}
	m.byTarget[target] = append(m.byTarget[target], slot)
	return c, out
}

// greet begins HTTP/2 on a new connection.

// wrote declares that there is something to write.

// flush writes what the socket takes.

func (m *mux) wait(events []event, until time.Duration, exact bool) int {
	for _, c := range m.unwritten {
		c.flush()
	}
	m.unwritten = m.unwritten[:0]
	m.reap()
	if len(m.queue) > 0 || len(m.unread) > 0 {
		until, exact = 0, false
	}
	n := m.poller.wait(m.below, until, exact)
	unread := m.unread
	m.unread = nil
	for _, c := range unread {
		if c.more = false; c.state != muxGone {
			c.receive(true)
		}
	}
	for _, ev := range m.below[:n] {
		if c := m.conns[ev.slot]; c.generation == ev.generation && c.state != muxGone {
			c.handle(ev)
		}
	}
	return m.take(events)
}

// take moves events out of the queue.

func (m *mux) take(events []event) (n int) {
	used := 0
	for _, ev := range m.queue {
		if n == len(events) {
			break
		}
		used++
		p := &m.places[ev.slot]
		p.told = false
		if !p.used { // the loop has closed it since
			continue
		}
		events[n] = event{slot: ev.slot, generation: p.generation, readable: true, writable: p.writable || p.dialed != wouldBlock, ended: p.end != wouldBlock}
		p.writable = false
		n++
	}
	m.queue = append(m.queue[:0], m.queue[used:]...)
	return n
}

// tell queues an event of a slot.

func (m *mux) tell(slot int32) {
	if p := &m.places[slot]; !p.told {
		p.told = true
		m.queue = append(m.queue, event{slot: slot})
	}
}

// receive reads what has come, and tells the slots.

// proceed follows what the service has changed: its settings, the end of requests, or the

// announcement that the connection ends.

// admit lets requests that wait for a stream begin.

// over ends a connection that broke, or that the service closed.

// drop closes a connection.

// reap closes the connections on which no place is left.

func (m *mux) reap() {
	for _, c := range m.idle {
		if len(c.places) == 0 {
			c.drop(false)
		}
	}
	m.idle = m.idle[:0]
}

func (m *mux) left() time.Duration { return 0 }

func (m *mux) held(slot int32) time.Duration { return m.places[slot].held }

func (m *mux) dialed(slot int32) outcome { return m.places[slot].dialed }

// write takes as much of a request as can be sent. The first bytes of a request have its

// whole head.

func (m *mux) write(slot int32, b []byte) (n int, out outcome) {
	p := &m.places[slot]
	c := p.conn
	switch {
	case p.end != wouldBlock:
		return 0, broken
	case c.state != muxOpen, c.Gone():
		p.end = unprocessed
		m.tell(slot)
		return 0, broken
	case p.stream == nil && p.begun: // answered before its end
		return 0, broken
	case p.stream == nil:
		if c.Active() >= c.Most() {
			if !p.waits {
				p.waits = true
				c.waiting = append(c.waiting, slot)
			}
			return 0, wouldBlock
		}
		head, block := m.translate(b)
		n = len(head)
		p.head = bytes.HasPrefix(head, []byte("HEAD "))
		p.in, p.read = p.in[:0], 0
		p.begun = true
		p.stream = c.Request(slot, block, p.head, n == len(b))
	}
	if n < len(b) {
		sent := c.Data(p.stream, b[n:])
		if n += sent; n == 0 {
			return 0, wouldBlock
		}
	}
	c.wrote()
	if c.queued && m.now()-c.since > mostDelay {
		c.flush()
	}
	return n, succeeded
}

// translate splits a request's head from its body, and translates it.

func (m *mux) translate(b []byte) (head, block []byte) {
	const end = "\r\n\r\n"
	head = b[:bytes.Index(b, []byte(end))+len(end)]
	if block = m.blocks[string(head)]; block != nil {
		return head, block
	}
	block, err := h2.AppendBlock(nil, head[:len(head)-len(end)], m.https)
	if err != nil { // the templates make no others
		panic(err)
	}
	if len(m.blocks) >= mostBlocks {
		clear(m.blocks)
	}
	m.blocks[string(head)] = block
	return head, block
}

// read also looks into the socket: the loop reads a request that reached its timeout once

// more.

func (m *mux) read(slot int32, b []byte) (int, time.Duration, outcome) {
	p := &m.places[slot]
	if c := p.conn; c != nil && p.read == len(p.in) && p.end == wouldBlock && c.state >= muxGreeting {
		c.receive(false)
	}
	if p.read == len(p.in) {
		return 0, p.came, p.end
	}
	n := copy(b, p.in[p.read:])
	if p.read += n; p.read == len(p.in) {
		p.in, p.read = p.in[:0], 0
		p.begun = p.stream != nil
	}
	return n, p.came, succeeded
}

// close gives up a slot's request and its place.

func (m *mux) close(slot int32, _ bool) {
	if int(slot) >= len(m.places) {
		return
	}
	if m.places[slot].used = false; m.places[slot].conn != nil {
		m.leave(slot)
	}
}

func (m *mux) part(slot int32) { m.close(slot, false) }

func (m *mux) leave(slot int32) {
	p := &m.places[slot]
	c := p.conn
	if p.stream != nil {
		if c.state != muxGone {
			c.Cancel(p.stream)
			c.wrote()
		}
		p.stream = nil
	}
	if p.waits {
		p.waits = false
		for i, w := range c.waiting {
			if w == slot {
				c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
				break
			}
		}
	}
	if c.Conn != nil && c.state == muxOpen {
		c.admit()
	}
	last := c.places[len(c.places)-1]
	c.places[p.index] = last
	m.places[last].index = p.index
	c.places = c.places[:len(c.places)-1]
	if p.conn = nil; len(c.places) == 0 && c.state != muxGone {
		m.idle = append(m.idle, c)
	}
}

// Head begins the answer of a slot's request.

// Body adds a part of its body.

// End ends a slot's request.

// Room lets a slot's request go on.
