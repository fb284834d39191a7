package engine

import (
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/load/h2"
)

const mostDelay = 50 * time.Microsecond

type muxConn struct {
	*h2.Conn
	mux                *mux
	slot, generation   int32 // of the poller below
	target             int32
	state              muxState
	places             []int32       // the loop's slots on it
	waiting            []int32       // of those, the ones with a request for which the service allows no stream yet
	held               time.Duration // how long its handshake waited for a CPU
	came               time.Duration
	since              time.Duration // when the first byte that has not left was queued
	queued, more, full bool          // it is in unwritten; in unread; the socket takes no more
	refuses            bool          // the service has refused a request: it gets no further places
}

type muxState uint8

const (
	muxGone     muxState = iota // no connection
	muxDialing                  // it is being made
	muxGreeting                 // the service's settings have not come
	muxOpen                     // requests can be sent
	muxLeaving                  // it takes no further requests
)

func (c *muxConn) room() int {
	if c.state != muxOpen || c.Most() == 0 {
		return c.mux.streams
	}
	return min(c.mux.streams, c.Most())
}

func (c *muxConn) greet() {
	c.Conn, c.state, c.held = h2.New(c), muxGreeting, c.mux.poller.held(c.slot)
	c.mux.opened()
	c.wrote()
}

func (c *muxConn) wrote() {
	if m := c.mux; !c.queued && !c.full && len(c.Out()) > 0 {
		c.queued, c.since = true, m.now()
		m.unwritten = append(m.unwritten, c)
	}
}

func (c *muxConn) flush() {
	c.queued = false
	if c.state == muxGone { // another connection may have its slot below
		return
	}
	for c.Conn != nil && len(c.Out()) > 0 && !c.full {
		n, out := c.mux.poller.write(c.slot, c.Out())
		switch out {
		case succeeded:
			c.Wrote(n)
		case wouldBlock:
			c.full = true
		default:
			return // reading finds the reason, or an answer that came before
		}
	}
}

func (c *muxConn) handle(ev event) {
	if c.state == muxDialing {
		switch out := c.mux.poller.dialed(c.slot); out {
		case wouldBlock:
			return
		case succeeded:
			c.greet()
			c.flush()
		default:
			c.over(out)
			return
		}
	}
	if ev.writable && c.full {
		c.full = false
		c.flush()
	}
	if ev.readable || ev.ended {
		c.receive(ev.ended)
	}
}

func (c *muxConn) receive(toEnd bool) {
	for range maxReads {
		n, came, out := c.mux.poller.read(c.slot, c.mux.buffer)
		switch out {
		case wouldBlock:
			return
		case succeeded:
		default:
			c.over(out)
			return
		}
		c.came = came
		err := c.Receive(c.mux.buffer[:n])
		if c.wrote(); err != nil {
			c.flush()
			c.over(invalid)
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

func (c *muxConn) proceed() {
	m := c.mux
	if c.state == muxGreeting && c.Settled() {
		c.state = muxOpen
		most := c.room()
		for len(c.places) > most { // they counted on more streams
			slot := c.places[len(c.places)-1]
			m.leave(slot)
			p := &m.places[slot]
			if out := m.join(slot); out != wouldBlock {
				p.dialed = out
				m.tell(slot)
			}
		}
		for _, slot := range c.places {
			m.places[slot].dialed, m.places[slot].held = succeeded, c.held
			m.tell(slot)
		}
	}
	if c.Gone() && c.state != muxLeaving {
		c.state = muxLeaving
		for _, slot := range c.places {
			p := &m.places[slot]
			switch {
			case p.stream != nil || p.end != wouldBlock || len(p.in) > p.read:
			case p.waits, p.dialed == wouldBlock:
				p.waits, p.dialed, p.end = false, succeeded, unprocessed
				m.tell(slot)
			default:
				p.end = unprocessed // the loop may give it a request before it reads this
				m.tell(slot)
			}
		}
		c.waiting = nil
	}
	c.admit()
}

func (c *muxConn) admit() {
	for free := c.Most() - c.Active(); free > 0 && len(c.waiting) > 0; free-- {
		p := &c.mux.places[c.waiting[0]]
		p.waits, p.writable = false, true
		c.mux.tell(c.waiting[0])
		c.waiting = c.waiting[1:]
	}
}

func (c *muxConn) over(out outcome) {
	m := c.mux
	for _, slot := range c.places {
		switch p := &m.places[slot]; {
		case p.dialed == wouldBlock:
			p.dialed = out
			if out == ended || out == invalid {
				p.dialed = broken
			}
			m.tell(slot)
		case p.end == wouldBlock:
			p.end = out
			m.tell(slot)
		}
	}
	c.drop(out == broken)
}

func (c *muxConn) drop(abruptly bool) {
	m := c.mux
	if c.state == muxGone {
		return
	}
	if c.state != muxDialing {
		m.closed()
	}
	c.state = muxGone
	m.poller.close(c.slot, abruptly)
	m.vacant = append(m.vacant, c.slot)
	all := m.byTarget[c.target]
	for i, slot := range all {
		if slot == c.slot {
			m.byTarget[c.target] = append(all[:i], all[i+1:]...)
			return
		}
	}
}

func (c *muxConn) Head(slot int32, status int) {
	p := &c.mux.places[slot]
	p.in = append(p.in, "HTTP/1.1 "...)
	p.in = strconv.AppendInt(p.in, int64(status), 10)
	if p.chunked = !p.head && status != 204 && status != 304; p.chunked {
		p.in = append(p.in, " \r\nTransfer-Encoding: chunked\r\n\r\n"...)
		c.arrived(slot)
	} // else the head is the whole answer, and waits for the end of the stream
}

func (c *muxConn) Body(slot int32, part []byte) {
	p := &c.mux.places[slot]
	p.in = strconv.AppendInt(p.in, int64(len(part)), 16)
	p.in = append(p.in, "\r\n"...)
	p.in = append(p.in, part...)
	p.in = append(p.in, "\r\n"...)
	c.arrived(slot)
}

func (c *muxConn) End(slot int32, how h2.Ending) {
	p := &c.mux.places[slot]
	p.stream = nil
	switch how {
	case h2.Whole:
		if p.chunked {
			p.in = append(p.in, "0\r\n\r\n"...)
		} else {
			p.in = append(p.in, " \r\n\r\n"...)
		}
	case h2.Reset:
		p.end = broken
	case h2.Unprocessed:
		if p.end = unprocessed; !c.Gone() {
			p.end, c.refuses = declined, true
		}
	case h2.Malformed:
		p.end = invalid
	}
	c.arrived(slot)
}

func (c *muxConn) Room(slot int32) {
	c.mux.places[slot].writable = true
	c.mux.tell(slot)
}

func (c *muxConn) arrived(slot int32) {
	c.mux.places[slot].came = c.came
	c.mux.tell(slot)
}
