// Package mux shares connections of HTTP/2 among the slots of an event loop. It has no
// sockets of its own: it is a port.Poller over another one.
package mux

import (
	"bytes"
	"time"

	"github.com/millicore/millicore/internal/load/h2"
	"github.com/millicore/millicore/internal/load/port"
	"github.com/millicore/millicore/internal/load/wire"
)

// Mux is the poller of HTTP/2: a slot's connection is a place on a shared connection, on
// which its requests are streams, one after another. The loop speaks HTTP/1.1 to it, so
// that it needs to know nothing of HTTP/2: a request's head is translated once and kept,
// and answers get a head of HTTP/1.1 and chunks around their bodies.
//
// Another poller makes the connections below, whose slots are indices into conns. What is
// written in one turn of the loop leaves with few calls: at its end, or when a request
// follows one that has waited for mostDelay.
type Mux struct {
	port.Poller
	https     bool
	streams   int // maximum number of places on a connection
	several   int // number of connections to a target that are made before places share them
	conns     []*conn
	vacant    []int32 // indices of conns without a connection
	byTarget  [][]int32
	places    []place      // by the loop's slot
	queue     []port.Event // for the loop
	below     []port.Event
	unread    []*conn // with more to read than one turn may
	unwritten []*conn // with bytes to write
	idle      []*conn // that lost their last place
	blocks    map[string]block
	buffer    []byte
	opened    func(time.Duration, port.Handshake) // a connection was made
	closed    func()                              // it has ended
	received  func(int)                           // bytes of the service have come
}

// block is the translated head of a request.
type block struct {
	bytes []byte
	call  bool // of gRPC
}

// mostBlocks bounds the translated heads that are kept. Heads with placeholders never
// come again.
const mostBlocks = 256

// place is a slot's place on a connection.
type place struct {
	conn       *conn
	index      int // in conn.places
	generation int32
	target     int32
	stream     *h2.Stream
	reads      int  // of the connection, when its request began
	begun      bool // its request has a stream, or had one whose answer the loop has not read whole
	head       bool // its request is HEAD
	call       bool // its request is a gRPC call
	code       int  // the call's status; -1: none has come
	text       string
	pushback   bool // the call's service names a time before a retry
	chunked    bool // the answer's body is in chunks
	status     int  // of an answer without a body
	used       bool // the loop has not closed it
	notified   bool // an event for it is queued
	writable   bool
	waits      bool         // its request is in conn.waiting
	dialed     port.Outcome // port.WouldBlock until the connection is ready
	shook      port.Handshake
	end        port.Outcome // port.WouldBlock until the connection or the request has ended without an answer
	in         []byte
	read       int // bytes of in that the loop has read
	came       time.Duration
}

// Several is how many connections to a target are made before its slots share them.
const Several = 8

// mostStreams is the maximum number of streams per connection, even if the service
// allows more. Most services allow a hundred, the minimum that RFC 9113, 6.5.2,
// recommends.
const mostStreams = 100

// Options of a Mux.
type Options struct {
	HTTPS   bool
	Streams int // on each connection; 0: several connections, with as many streams as are needed
	Shares  int // of the load: how many others make connections to the same targets, and itself
}

// New makes a poller of HTTP/2 over the connections of another one.
func New(below port.Poller, targets int, o Options) *Mux {
	few := 1
	if o.Streams == 0 {
		o.Streams, few = mostStreams, max(1, Several/o.Shares)
	}
	return &Mux{
		Poller: below, https: o.HTTPS, streams: o.Streams, several: few, below: make([]port.Event, mostEvents), buffer: make([]byte, bufferSize),
		blocks: map[string]block{}, byTarget: make([][]int32, targets), opened: func(time.Duration, port.Handshake) {}, closed: func() {}, received: func(int) {},
	}
}

// mostRefusing is how many connections are made at least before one on which the service has
// refused a request gets another one.
const mostRefusing = 2

const (
	mostEvents = 512
	bufferSize = 64 << 10
	mostReads  = 16 // how often one connection is read before it is the others' turn
)

func (m *Mux) Counted(opened func(time.Duration, port.Handshake), closed func(), received func(int)) {
	m.opened, m.closed, m.received = opened, closed, received
}

func (m *Mux) Move(targets []port.Target) {
	m.Poller.Move(targets)
	for len(m.byTarget) < len(targets) {
		m.byTarget = append(m.byTarget, nil)
	}
}

// dial gives a slot a place on a connection to the target with a free one, or on a new
// connection.
func (m *Mux) Dial(slot, generation int32, target int) port.Outcome {
	for int(slot) >= len(m.places) {
		m.places = append(m.places, place{})
	}
	p := &m.places[slot]
	*p = place{used: true, generation: generation, target: int32(target), dialed: port.WouldBlock, end: port.WouldBlock, in: p.in[:0], notified: p.notified}
	return m.join(slot)
}

// join takes the connection with the fewest places, once there are several: a service with
// workers gives each of its connections to one of them. A request that was refused is sent again
// on another connection. If the service has refused requests on all of several, it is short of
// something, and gets no further connection.
func (m *Mux) join(slot int32) port.Outcome {
	p := &m.places[slot]
	var least, refusing *conn
	living, refused := 0, 0
	for _, i := range m.byTarget[p.target] {
		c := m.conns[i]
		if c.silent {
			continue
		}
		living++
		best := &least
		if c.refuses {
			refused++
			best = &refusing
		}
		if c.state < leaving && len(c.places) < c.room() && (*best == nil || len(c.places) < len((*best).places)) {
			*best = c
		}
	}
	if least == nil && refused >= max(mostRefusing, m.several) {
		least = refusing
	}
	if few := living < m.several && refused == 0; least != nil && (len(least.places) == 0 || !few) {
		return m.seat(slot, least)
	}
	c, out := m.open(p.target)
	if out != port.Succeeded && out != port.WouldBlock {
		return out
	}
	return m.seat(slot, c)
}

func (m *Mux) seat(slot int32, c *conn) port.Outcome {
	p := &m.places[slot]
	p.conn, p.index = c, len(c.places)
	c.places = append(c.places, slot)
	if c.state == open {
		p.dialed = port.Succeeded
	}
	return p.dialed
}

// open starts a connection.
func (m *Mux) open(target int32) (*conn, port.Outcome) {
	var slot int32
	if n := len(m.vacant); n > 0 {
		slot, m.vacant = m.vacant[n-1], m.vacant[:n-1]
	} else {
		slot = int32(len(m.conns))
		m.conns = append(m.conns, &conn{})
	}
	c := &conn{mux: m, slot: slot, generation: m.conns[slot].generation + 1, target: target, state: dialing, began: m.Now()}
	m.conns[slot] = c
	out := m.Poller.Dial(slot, c.generation, int(target))
	switch out {
	case port.Succeeded:
		c.greet()
	case port.WouldBlock:
	default:
		m.Poller.Close(slot, true)
		c.state = gone
		m.vacant = append(m.vacant, slot)
		return nil, out
	}
	m.byTarget[target] = append(m.byTarget[target], slot)
	return c, out
}

func (m *Mux) Wait(events []port.Event, until time.Duration, how port.Waiting) int {
	for _, c := range m.unwritten {
		c.flush()
	}
	m.unwritten = m.unwritten[:0]
	m.reap()
	if len(m.queue) > 0 || len(m.unread) > 0 {
		until, how = 0, port.Roughly
	}
	n := m.Poller.Wait(m.below, until, how)
	unread := m.unread
	m.unread = nil
	for _, c := range unread {
		if c.more = false; c.state != gone {
			c.receive(true)
		}
	}
	for _, ev := range m.below[:n] {
		if c := m.conns[ev.Slot]; c.generation == ev.Generation && c.state != gone {
			c.handle(ev)
		}
	}
	return m.take(events)
}

// take moves events out of the queue.
func (m *Mux) take(events []port.Event) (n int) {
	used := 0
	for _, ev := range m.queue {
		if n == len(events) {
			break
		}
		used++
		p := &m.places[ev.Slot]
		p.notified = false
		if !p.used { // the loop has closed it since
			continue
		}
		events[n] = port.Event{Slot: ev.Slot, Generation: p.generation, Readable: true, Writable: p.writable || p.dialed != port.WouldBlock, Ended: p.end != port.WouldBlock}
		p.writable = false
		n++
	}
	m.queue = append(m.queue[:0], m.queue[used:]...)
	return n
}

// notify queues an event of a slot.
func (m *Mux) notify(slot int32) {
	if p := &m.places[slot]; !p.notified {
		p.notified = true
		m.queue = append(m.queue, port.Event{Slot: slot})
	}
}

// reap closes the connections on which no place is left.
func (m *Mux) reap() {
	for _, c := range m.idle {
		if len(c.places) == 0 {
			c.drop(false)
		}
	}
	m.idle = m.idle[:0]
}

func (m *Mux) Left() time.Duration { return 0 }

func (m *Mux) Shook(slot int32) port.Handshake { return m.places[slot].shook }

func (m *Mux) Dialed(slot int32) port.Outcome { return m.places[slot].dialed }

// write takes as much of a request as can be sent. The first bytes of a request have its
// whole head.
func (m *Mux) Write(slot int32, b []byte) (n int, out port.Outcome) {
	p := &m.places[slot]
	c := p.conn
	switch {
	case p.end != port.WouldBlock:
		return 0, port.Broken
	case c.state != open, c.Gone():
		p.end = c.unprocessed()
		m.notify(slot)
		return 0, port.Broken
	case p.stream == nil && p.begun: // answered before its end
		return 0, port.Broken
	case p.stream == nil:
		if c.Active() >= c.Most() {
			if !p.waits {
				p.waits = true
				c.waiting = append(c.waiting, slot)
			}
			return 0, port.WouldBlock
		}
		head, block := m.translate(b)
		n = len(head)
		p.head, p.call, p.code, p.text, p.pushback = bytes.HasPrefix(head, []byte("HEAD ")), block.call, -1, "", false
		p.in, p.read = p.in[:0], 0
		p.begun, p.reads = true, c.reads
		p.stream = c.Request(slot, block.bytes, p.head, n == len(b))
	}
	if n < len(b) {
		sent := c.Data(p.stream, b[n:])
		if n += sent; n == 0 {
			return 0, port.WouldBlock
		}
	}
	c.wrote()
	if c.queued && m.Now()-c.since > mostDelay {
		c.flush()
	}
	return n, port.Succeeded
}

// translate splits a request's head from its body, and translates it.
func (m *Mux) translate(b []byte) (head []byte, to block) {
	const end = "\r\n\r\n"
	head = b[:bytes.Index(b, []byte(end))+len(end)]
	to, known := m.blocks[string(head)]
	if known {
		return head, to
	}
	var err error
	to.bytes, err = h2.AppendBlock(nil, head[:len(head)-len(end)], m.https)
	if err != nil { // the templates make no others
		panic(err)
	}
	if len(m.blocks) >= mostBlocks {
		clear(m.blocks)
	}
	to.call = wire.IsCall(head)
	m.blocks[string(head)] = to
	return head, to
}

// read also looks into the socket: the loop reads a request that reached its timeout once
// more.
func (m *Mux) Read(slot int32, b []byte) (int, time.Duration, port.Outcome) {
	p := &m.places[slot]
	if c := p.conn; c != nil && p.read == len(p.in) && p.end == port.WouldBlock && c.state >= greeting {
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
	return n, p.came, port.Succeeded
}

// Close gives up a slot's request and its place. The connection remains where a request failed,
// for others, unless nothing has come on it since that began: it may be dead.
func (m *Mux) Close(slot int32, abruptly bool) {
	if int(slot) >= len(m.places) {
		return
	}
	p := &m.places[slot]
	p.used = false
	c := p.conn
	if c == nil {
		return
	}
	c.silent = c.silent || abruptly && p.stream != nil && c.reads == p.reads
	m.leave(slot)
	if len(c.places) == 0 && (!abruptly || c.silent || c.state != open) {
		m.idle = append(m.idle, c)
	}
}

func (m *Mux) Part(slot int32) { m.Close(slot, false) }

func (m *Mux) leave(slot int32) {
	p := &m.places[slot]
	c := p.conn
	if p.stream != nil {
		if c.state != gone {
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
	if c.Conn != nil && c.state == open {
		c.admit()
	}
	last := c.places[len(c.places)-1]
	c.places[p.index] = last
	m.places[last].index = p.index
	c.places = c.places[:len(c.places)-1]
	p.conn = nil
}
