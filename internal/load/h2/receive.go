package h2

import (
	"errors"
	"fmt"
)

// ErrNotHTTP2 is the error of a connection whose first bytes are not those of HTTP/2.
var ErrNotHTTP2 = errors.New("the service does not speak HTTP/2")

var errCalm = errors.New("the service sends frames, and reads no answers to them")

// violation is a connection error (RFC 9113, 5.4.1).
type violation struct {
	code uint32
	what string
}

func (v *violation) Error() string { return "the service broke HTTP/2: " + v.what }

func violated(code uint32, format string, args ...any) error {
	return &violation{code, fmt.Sprintf(format, args...)}
}

// Receive takes the next bytes of the service. After an error the requests under way have
// no further events, and the connection is to be closed once Out was written.
func (c *Conn) Receive(p []byte) error {
	before := len(c.out)
	err := c.receive(p)
	if c.replies += len(c.out) - before; err == nil && c.replies > mostOut {
		err = errCalm
	}
	if err != nil {
		code := uint32(codeCalm)
		if v := (*violation)(nil); errors.As(err, &v) {
			code = v.code
		}
		c.gone = true
		c.out = appendHead(c.out, 8, frameGoAway, 0, 0)
		c.out = appendNumber(appendNumber(c.out, 0), code)
	}
	return err
}

func appendNumber(b []byte, n uint32) []byte {
	return append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func (c *Conn) receive(p []byte) error {
	if len(c.in) > 0 {
		c.in = append(c.in, p...)
		p = c.in
	}
	for len(p) >= frameHead {
		size := int(p[0])<<16 | int(p[1])<<8 | int(p[2])
		if !c.settled && (p[3] != frameSettings || p[4]&flagAck != 0) {
			return ErrNotHTTP2
		}
		if size > smallestMaxFrameSize {
			return violated(codeFrameSize, "a frame of %d bytes, where 16,384 are allowed", size)
		}
		if len(p) < frameHead+size {
			break
		}
		if err := c.frame(p[3], p[4], word(p[5:])&largestWindow, p[frameHead:frameHead+size]); err != nil {
			return err
		}
		p = p[frameHead+size:]
	}
	c.in = append(c.in[:0], p...)
	return nil
}

func (c *Conn) frame(kind, flags byte, id uint32, p []byte) error {
	if c.blockOf != 0 && (kind != frameContinuation || id != c.blockOf) {
		return violated(codeProtocol, "a frame in the middle of a header block")
	}
	switch kind {
	case frameData, frameHeaders, frameReset:
		if id%2 == 0 || id >= c.next {
			return violated(codeProtocol, "a frame on stream %d, which no request began", id)
		}
	case frameSettings, framePing, frameGoAway:
		if id != 0 {
			return violated(codeProtocol, "a frame of the connection on stream %d", id)
		}
	}
	switch kind {
	case frameData:
		return c.data(flags, id, p)
	case frameHeaders:
		p, err := unpadded(flags, p)
		if err != nil {
			return err
		}
		if flags&flagPriority != 0 {
			if len(p) < 5 {
				return violated(codeFrameSize, "HEADERS too short for its priority")
			}
			p = p[5:]
		}
		c.block = append(c.block[:0], p...)
		return c.blocked(flags, id, flags)
	case frameContinuation:
		if c.blockOf == 0 {
			return violated(codeProtocol, "CONTINUATION without HEADERS")
		}
		if c.block = append(c.block, p...); len(c.block) > MaxHead || len(p) == 0 && flags&flagEndHeaders == 0 {
			return violated(codeCalm, "a header block of more than 64 KiB, or of empty frames")
		}
		return c.blocked(c.blockAt, id, flags)
	case frameReset:
		if len(p) != 4 {
			return violated(codeFrameSize, "RST_STREAM of %d bytes", len(p))
		}
		if s := c.streams[id]; s != nil {
			how := Reset
			if word(p) == codeRefused {
				how = Unprocessed
			}
			c.forget(s)
			c.taker.End(s.key, how)
		}
	case frameSettings:
		return c.settings(flags, p)
	case framePing:
		if len(p) != 8 {
			return violated(codeFrameSize, "PING of %d bytes", len(p))
		}
		if flags&flagAck == 0 {
			c.out = append(appendHead(c.out, 8, framePing, flagAck, 0), p...)
		}
	case frameGoAway:
		if len(p) < 8 {
			return violated(codeFrameSize, "GOAWAY of %d bytes", len(p))
		}
		c.leave(word(p) & largestWindow)
	case frameWindowUpdate:
		return c.widen(id, p)
	case framePriority:
		if len(p) != 5 {
			return violated(codeFrameSize, "PRIORITY of %d bytes", len(p))
		}
	case framePushPromise:
		return violated(codeProtocol, "PUSH_PROMISE, which the client's settings forbid")
	}
	return nil // unknown types are ignored (RFC 9113, 5.5)
}

// unpadded is a payload without its padding.
func unpadded(flags byte, p []byte) ([]byte, error) {
	if flags&flagPadded == 0 {
		return p, nil
	}
	if len(p) == 0 || int(p[0]) >= len(p) {
		return nil, violated(codeProtocol, "padding longer than its frame")
	}
	return p[1 : len(p)-int(p[0])], nil
}

func (c *Conn) data(flags byte, id uint32, p []byte) error {
	if c.credit -= int64(len(p)); c.credit < 0 {
		return violated(codeFlowControl, "more DATA than the window allows")
	}
	c.refund(0, &c.credit)
	s := c.streams[id]
	if s != nil && flags&flagEndStream == 0 {
		s.credit -= int64(len(p))
		c.refund(id, &s.credit)
	}
	p, err := unpadded(flags, p)
	if err != nil {
		return err
	}
	if s == nil { // it was given up
		return nil
	}
	s.size += int64(len(p))
	switch {
	case s.status == 0, s.bodiless() && len(p) > 0, s.length >= 0 && s.size > s.length && !s.bodiless():
		c.malformed(s)
		return nil
	case len(p) > 0:
		c.taker.Body(s.key, p)
	}
	if flags&flagEndStream != 0 {
		c.whole(s)
	}
	return nil
}

// refund lets the service send more once it has used half of a window, which is larger than
// any frame.
func (c *Conn) refund(id uint32, credit *int64) {
	if *credit < largestWindow/2 {
		c.out = appendWord(c.out, frameWindowUpdate, id, uint32(largestWindow-*credit))
		*credit = largestWindow
	}
}

// bodiless reports whether an answer has no body, whatever its Content-Length is.
func (s *Stream) bodiless() bool { return s.head || s.status == 204 || s.status == 304 }

// whole ends a request whose answer has ended.
func (c *Conn) whole(s *Stream) {
	if s.length >= 0 && s.size != s.length && !s.bodiless() {
		c.malformed(s)
		return
	}
	c.end(s, Whole)
}

// blocked decodes a header block once it is complete: also that of a request which was
// given up, because later blocks refer to its fields.
func (c *Conn) blocked(first byte, id uint32, flags byte) error {
	if flags&flagEndHeaders == 0 {
		c.blockOf, c.blockAt = id, first
		return nil
	}
	c.blockOf = 0
	c.fields = fields{length: -1, code: -1}
	if _, err := c.decoder.Write(c.block); err != nil {
		return violated(codeCompression, "a header block that is not HPACK (%v)", err)
	}
	if err := c.decoder.Close(); err != nil {
		return violated(codeCompression, "a header block that is cut")
	}
	s, f, last := c.streams[id], &c.fields, first&flagEndStream != 0
	switch {
	case s == nil:
	case f.wrong || f.status < 0:
		c.malformed(s)
	case s.status != 0: // trailers
		if f.status != 0 || !last {
			c.malformed(s)
			return nil
		}
		c.called(s)
		c.whole(s)
	case f.status == 0, f.status == 101, f.status < 200 && last:
		c.malformed(s)
	case f.status < 200: // an interim answer: the real one follows
	default:
		s.status, s.length = f.status, f.length
		c.taker.Head(s.key, s.status)
		if last { // perhaps the answer to a call that failed at once, which has trailers only
			c.called(s)
			c.whole(s)
		}
	}
	return nil
}

// called passes the status of a gRPC call on, if the last header block of its answer has one.
func (c *Conn) called(s *Stream) {
	if f := &c.fields; f.code >= 0 {
		c.taker.Call(s.key, f.code, f.text, f.pushes)
	}
}

func (c *Conn) settings(flags byte, p []byte) error {
	if flags&flagAck != 0 {
		if len(p) != 0 {
			return violated(codeFrameSize, "SETTINGS that acknowledge, with %d bytes", len(p))
		}
		return nil
	}
	if len(p)%6 != 0 {
		return violated(codeFrameSize, "SETTINGS of %d bytes", len(p))
	}
	for ; len(p) > 0; p = p[6:] {
		value := word(p[2:])
		switch int(p[0])<<8 | int(p[1]) {
		case settingTableSize:
			c.resize = true
		case settingStreams:
			c.maxStreams = value
		case settingFrameSize:
			if value < smallestMaxFrameSize || value > largestMaxFrameSize {
				return violated(codeProtocol, "SETTINGS_MAX_FRAME_SIZE %d", value)
			}
			c.maxFrame = int(min(value, 1<<18)) // larger frames gain nothing, and delay others
		case settingWindow:
			if value > largestWindow {
				return violated(codeFlowControl, "SETTINGS_INITIAL_WINDOW_SIZE %d", value)
			}
			for _, s := range c.streams {
				if s.window += int64(value) - c.first; s.window > largestWindow {
					return violated(codeFlowControl, "a window of more than 2 GiB")
				}
			}
			c.first = int64(value)
		case settingPush:
			if value != 0 {
				return violated(codeProtocol, "SETTINGS_ENABLE_PUSH of a server")
			}
		}
	}
	c.settled = true
	c.out = appendHead(c.out, 0, frameSettings, flagAck, 0)
	c.refill()
	return nil
}

// widen obeys a WINDOW_UPDATE.
func (c *Conn) widen(id uint32, p []byte) error {
	if len(p) != 4 {
		return violated(codeFrameSize, "WINDOW_UPDATE of %d bytes", len(p))
	}
	by := int64(word(p) & largestWindow)
	s := c.streams[id]
	switch {
	case id != 0 && (id%2 == 0 || id >= c.next):
		return violated(codeProtocol, "a frame on stream %d, which no request began", id)
	case by == 0 && id == 0:
		return violated(codeProtocol, "WINDOW_UPDATE by 0")
	case id == 0:
		if c.window += by; c.window > largestWindow {
			return violated(codeFlowControl, "a window of more than 2 GiB")
		}
		c.refill()
	case s == nil: // it has ended
	case by == 0, s.window+by > largestWindow:
		c.reset(id, codeFlowControl)
		c.end(s, Malformed)
	default:
		s.window += by
		c.goOn(s)
	}
	return nil
}

// refill lets all requests go on that wait for a window.
func (c *Conn) refill() {
	for _, s := range c.streams {
		c.goOn(s)
	}
}

func (c *Conn) goOn(s *Stream) {
	if s.short && s.window > 0 && c.window > 0 {
		s.short = false
		c.taker.Room(s.key)
	}
}

// leave obeys a GOAWAY: requests above the last stream were not looked at.
func (c *Conn) leave(last uint32) {
	c.gone, c.looked = true, last > 0 && c.next > 1
	for id, s := range c.streams {
		if id > last {
			c.forget(s)
			c.taker.End(s.key, Unprocessed)
		}
	}
}
