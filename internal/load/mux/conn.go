package mux

import (
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/load/h2"
	"github.com/millicore/millicore/internal/load/port"
	"github.com/millicore/millicore/internal/load/wire"
)

// mostDelay is how long a request waits for others that follow, to leave with them.
const mostDelay = 50 * time.Microsecond

// conn is a connection that places share.
type conn struct {
	*h2.Conn
	mux                *Mux
	slot, generation   int32 // of the poller below
	target             int32
	state              state
	places             []int32       // the loop's slots on it
	waiting            []int32       // of those, the ones with a request for which the service allows no stream yet
	began              time.Duration // when its dial started
	shook              port.Handshake
	came               time.Duration
	since              time.Duration // when the first byte that has not left was queued
	queued, more, full bool          // it is in unwritten; in unread; the socket takes no more
	refuses            bool          // the service has refused a request: others are taken first
	silent             bool          // nothing came within a request's timeout: the same
	reads              int           // how often bytes have come
}

type state uint8

const (
	gone     state = iota // no connection
	dialing               // it is being made
	greeting              // the service's settings have not come
	open                  // requests can be sent
	leaving               // it takes no further requests
)

// room is the number of places on a connection. A service that allows no stream now may
// allow some later: further connections would have the same answer.
func (c *conn) room() int {
	if c.state != open || c.Most() == 0 {
		return c.mux.streams
	}
	return min(c.mux.streams, c.Most())
}

// greet begins HTTP/2 on a new connection.
func (c *conn) greet() {
	c.Conn, c.state, c.shook = h2.New(c), greeting, c.mux.Poller.Shook(c.slot)
	c.mux.opened(c.began, c.shook)
	c.wrote()
}

// wrote declares that there is something to write.
func (c *conn) wrote() {
	if m := c.mux; !c.queued && !c.full && len(c.Out()) > 0 {
		c.queued, c.since = true, m.Now()
		m.unwritten = append(m.unwritten, c)
	}
}

// flush writes what the socket takes.
func (c *conn) flush() {
	c.queued = false
	if c.state == gone { // another connection may have its slot below
		return
	}
	for c.Conn != nil && len(c.Out()) > 0 && !c.full {
		n, out := c.mux.Poller.Write(c.slot, c.Out())
		switch out {
		case port.Succeeded:
			c.Wrote(n)
		case port.WouldBlock:
			c.full = true
		default:
			return // reading finds the reason, or an answer that came before
		}
	}
}

func (c *conn) handle(ev port.Event) {
	if c.state == dialing {
		switch out := c.mux.Poller.Dialed(c.slot); out {
		case port.WouldBlock:
			return
		case port.Succeeded:
			c.greet()
			c.flush()
		default:
			c.over(out)
			return
		}
	}
	if ev.Writable && c.full {
		c.full = false
		c.flush()
	}
	if ev.Readable || ev.Ended {
		c.receive(ev.Ended)
	}
}

// receive reads what has come, and notifies the slots.
func (c *conn) receive(toEnd bool) {
	for range mostReads {
		n, came, out := c.mux.Poller.Read(c.slot, c.mux.buffer)
		switch out {
		case port.WouldBlock:
			return
		case port.Succeeded:
		default:
			c.over(out)
			return
		}
		c.came = came
		c.reads++
		c.mux.received(n)
		err := c.Receive(c.mux.buffer[:n])
		if c.wrote(); err != nil {
			c.flush()
			c.over(port.Invalid)
			return
		}
		c.proceed()
		if n < len(c.mux.buffer) && !toEnd {
			return
		}
	}
	if !c.more {
		c.more = true
		c.mux.unread = append(c.mux.unread, c)
	}
}

// proceed follows what the service has changed: its settings, the end of requests, or the
// announcement that the connection ends.
func (c *conn) proceed() {
	m := c.mux
	if c.state == greeting && c.Settled() {
		c.state = open
		most := c.room()
		for len(c.places) > most { // they counted on more streams
			slot := c.places[len(c.places)-1]
			m.leave(slot)
			p := &m.places[slot]
			if out := m.join(slot); out != port.WouldBlock {
				p.dialed = out
				m.notify(slot)
			}
		}
		for _, slot := range c.places {
			m.places[slot].dialed, m.places[slot].shook = port.Succeeded, c.shook
			m.notify(slot)
		}
	}
	if c.Gone() && c.state != leaving {
		c.state = leaving
		for _, slot := range c.places {
			p := &m.places[slot]
			switch {
			case p.stream != nil || p.end != port.WouldBlock || len(p.in) > p.read:
			case p.waits, p.dialed == port.WouldBlock:
				p.waits, p.dialed, p.end = false, port.Succeeded, c.unprocessed()
				m.notify(slot)
			default:
				p.end = c.unprocessed() // the loop may give it a request before it reads this
				m.notify(slot)
			}
		}
		c.waiting = nil
	}
	c.admit()
}

// admit lets requests that wait for a stream begin.
func (c *conn) admit() {
	for free := c.Most() - c.Active(); free > 0 && len(c.waiting) > 0; free-- {
		p := &c.mux.places[c.waiting[0]]
		p.waits, p.writable = false, true
		c.mux.notify(c.waiting[0])
		c.waiting = c.waiting[1:]
	}
}

// unprocessed is the outcome of a request that the service did not look at. A service that ends
// a connection without a look at any is short of something, as one that refuses requests.
func (c *conn) unprocessed() port.Outcome {
	if c.Fruitless() {
		return port.Declined
	}
	return port.Unprocessed
}

// over ends a connection that broke, or that the service closed. A request that waits for a
// stream has not left.
func (c *conn) over(out port.Outcome) {
	m := c.mux
	for _, slot := range c.places {
		switch p := &m.places[slot]; {
		case p.dialed == port.WouldBlock:
			p.dialed = out
			if out == port.Ended || out == port.Invalid {
				p.dialed = port.Broken
			}
			m.notify(slot)
		case p.end == port.WouldBlock:
			if p.end = out; p.waits {
				p.end = port.Unprocessed
			}
			m.notify(slot)
		}
	}
	c.drop(out == port.Broken)
}

// drop closes a connection.
func (c *conn) drop(abruptly bool) {
	m := c.mux
	if c.state == gone {
		return
	}
	if c.state != dialing {
		m.closed()
	}
	c.state = gone
	m.Poller.Close(c.slot, abruptly)
	m.vacant = append(m.vacant, c.slot)
	all := m.byTarget[c.target]
	for i, slot := range all {
		if slot == c.slot {
			m.byTarget[c.target] = append(all[:i], all[i+1:]...)
			return
		}
	}
}

// Head begins the answer of a slot's request.
func (c *conn) Head(slot int32, status int) {
	p := &c.mux.places[slot]
	if p.call && status/100 == 2 {
		status = 200 // the call's status decides
	}
	if p.chunked = !p.head && status != 204 && status != 304; !p.chunked {
		p.status = status // the head is the whole answer, and waits for the end of the stream
		return
	}
	p.in = append(p.in, "HTTP/1.1 "...)
	p.in = strconv.AppendInt(p.in, int64(status), 10)
	p.in = append(p.in, " \r\nTransfer-Encoding: chunked\r\n\r\n"...)
	c.arrived(slot)
}

// Body adds a part of its body.
func (c *conn) Body(slot int32, part []byte) {
	p := &c.mux.places[slot]
	p.in = strconv.AppendInt(p.in, int64(len(part)), 16)
	p.in = append(p.in, "\r\n"...)
	p.in = append(p.in, part...)
	p.in = append(p.in, "\r\n"...)
	c.arrived(slot)
}

// Call keeps the status of a slot's gRPC call.
func (c *conn) Call(slot int32, code int, text string, pushback bool) {
	if p := &c.mux.places[slot]; p.call {
		p.code, p.text, p.pushback = code, text, pushback
	}
}

// End ends a slot's request.
func (c *conn) End(slot int32, how h2.Ending) {
	p := &c.mux.places[slot]
	p.stream = nil
	switch how {
	case h2.Whole:
		if p.chunked {
			p.in = append(p.in, "0\r\n"...)
			if p.call {
				p.in = wire.AppendCall(p.in, p.code, p.text, p.pushback)
			}
			p.in = append(p.in, "\r\n"...)
		} else {
			p.in = append(p.in, "HTTP/1.1 "...)
			p.in = strconv.AppendInt(p.in, int64(p.status), 10)
			p.in = append(p.in, " \r\n\r\n"...)
		}
	case h2.Reset:
		p.end = port.Broken
	case h2.Unprocessed:
		if p.end = c.unprocessed(); !c.Gone() {
			p.end, c.refuses = port.Declined, true
		}
	case h2.Malformed:
		p.end = port.Invalid
	}
	c.arrived(slot)
}

// Room lets a slot's request go on.
func (c *conn) Room(slot int32) {
	c.mux.places[slot].writable = true
	c.mux.notify(slot)
}

func (c *conn) arrived(slot int32) {
	c.mux.places[slot].came = c.came
	c.mux.notify(slot)
}
