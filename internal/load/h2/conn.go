// Package h2 is the client's side of one HTTP/2 connection (RFC 9113), without input and
// output: bytes of the service go in, what happened to the requests and bytes for the
// service come out. It starts no goroutine and reads no clock, so an event loop can have
// any number of connections.
//
// It does not open connections, choose one for a request, or know timeouts: package engine
// does.
package h2

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/net/http2/hpack"
)

// A Taker learns what happened to the requests of a connection, while Receive runs. The
// key is that of Request. It must not call the connection's methods.
type Taker interface {
	// Head learns the status of the final answer, once.
	Head(key int32, status int)
	// Body gets a part of the answer's body, which is valid during the call only.
	Body(key int32, part []byte)
	// Call learns how a gRPC call ended, before End: its status' code and text, which is
	// percent-encoded, and whether the service names a time before a retry. Answers that do
	// not end with a grpc-status have none.
	Call(key int32, code int, text string, pushback bool)
	// End learns the end of a request, once. Its stream must not be used any more.
	End(key int32, how Ending)
	// Room learns that a request may go on with its body.
	Room(key int32)
}

// Ending is how a request ended.
type Ending uint8

const (
	Whole       Ending = iota // the answer is complete
	Reset                     // the service gave it up
	Unprocessed               // the service did not look at it: it may be sent again
	Malformed                 // the answer was not valid
)

// MaxHead is the maximum size of an answer's fields: names, values, and 32 bytes for each
// (RFC 9113, 6.5.2).
const MaxHead = 64 << 10

// mostOut is how many bytes may wait for a service that sends and does not read.
const mostOut = 4 << 20

// Conn is one connection. Bytes for the service are in Out.
type Conn struct {
	taker   Taker
	out     []byte
	sent    int // bytes of out that have left
	replies int // bytes that Receive queued since out was last empty
	in      []byte
	decoder *hpack.Decoder
	fields  fields

	streams map[uint32]*Stream
	spare   []*Stream // that have ended
	next    uint32    // the next request's stream
	settled bool      // the service's SETTINGS have come
	gone    bool      // GOAWAY has come
	looked  bool      // by GOAWAY, the service has looked at a request, or may have
	resize  bool      // the next header block begins with a size update
	block   []byte    // a header block whose end has not come
	blockOf uint32    // its stream; 0: none
	blockAt byte      // its flags

	maxStreams uint32
	maxFrame   int
	first      int64 // the window of a new stream
	window     int64 // of the connection, for the bodies of requests
	credit     int64 // what the service may still send, in bytes of DATA
}

// Stream is one request under way.
type Stream struct {
	key    int32
	id     uint32
	window int64
	short  bool  // its body waits for the window
	done   bool  // the request is complete
	head   bool  // the request is HEAD: no body follows
	status int   // 0: its head has not come
	length int64 // Content-Length; -1: none
	size   int64 // of its body so far
	credit int64 // what the service may still send on it, in bytes of DATA
}

// New begins a connection: the preface and the client's settings are in Out.
func New(taker Taker) *Conn {
	c := &Conn{
		taker: taker, streams: map[uint32]*Stream{}, next: 1, resize: true,
		maxStreams: 1 << 31, maxFrame: smallestMaxFrameSize, first: firstWindow, window: firstWindow, credit: largestWindow,
	}
	c.decoder = hpack.NewDecoder(4096, c.fields.take)
	c.decoder.SetMaxStringLength(MaxHead)
	c.out = append(c.out, preface...)
	c.out = appendHead(c.out, 3*6, frameSettings, 0, 0)
	c.out = appendSetting(c.out, settingPush, 0)
	c.out = appendSetting(c.out, settingWindow, largestWindow)
	c.out = appendSetting(c.out, settingHeaderList, MaxHead)
	c.out = appendWord(c.out, frameWindowUpdate, 0, largestWindow-firstWindow)
	return c
}

// Out is what is to be written to the service.
func (c *Conn) Out() []byte { return c.out[c.sent:] }

// Wrote declares that the first n bytes of Out have been written.
func (c *Conn) Wrote(n int) {
	if c.sent += n; c.sent == len(c.out) {
		c.out, c.sent, c.replies = c.out[:0], 0, 0
	} else if c.sent > len(c.out)/2 {
		c.out, c.sent = append(c.out[:0], c.out[c.sent:]...), 0
	}
}

// Settled reports whether the service's settings are known.
func (c *Conn) Settled() bool { return c.settled }

// Gone reports whether the connection takes no further requests: the service has
// announced its end, or its streams are used up.
func (c *Conn) Gone() bool { return c.gone || c.next > largestWindow }

// Fruitless reports whether the service announced the connection's end without a look at any
// of its requests.
func (c *Conn) Fruitless() bool { return c.gone && !c.looked }

// Active is the number of requests under way.
func (c *Conn) Active() int { return len(c.streams) }

// Most is how many requests the service allows at a time.
func (c *Conn) Most() int { return int(min(c.maxStreams, 1<<30)) }

// Request begins a request with a header block of AppendBlock. Its body follows by Data,
// unless it has none. The caller obeys Gone and Most.
func (c *Conn) Request(key int32, block []byte, isHead, bodiless bool) *Stream {
	s := &Stream{}
	if n := len(c.spare); n > 0 {
		s, c.spare = c.spare[n-1], c.spare[:n-1]
	}
	*s = Stream{key: key, id: c.next, window: c.first, head: isHead, done: bodiless, length: -1, credit: largestWindow}
	c.next += 2
	c.streams[s.id] = s
	if c.resize {
		c.resize = false
		block = append([]byte{resize}, block...)
	}
	c.out = appendHeaders(c.out, block, s.id, bodiless, c.maxFrame)
	return s
}

// Data sends as much of the rest of a request's body as the windows allow, and returns
// its length. If that is not all, Taker's Room is called once more may be sent.
func (c *Conn) Data(s *Stream, rest []byte) (n int) {
	for !s.done && len(rest) > 0 {
		part := min(int64(len(rest)), s.window, c.window, int64(c.maxFrame))
		if part <= 0 {
			s.short = true
			return n
		}
		flags := byte(0)
		if part == int64(len(rest)) {
			flags, s.done = flagEndStream, true
		}
		c.out = append(appendHead(c.out, int(part), frameData, flags, s.id), rest[:part]...)
		s.window -= part
		c.window -= part
		n += int(part)
		rest = rest[part:]
	}
	return n
}

// Cancel gives up a request that has not ended, and keeps the connection.
func (c *Conn) Cancel(s *Stream) {
	if c.streams[s.id] == s {
		c.reset(s.id, codeCancel)
		c.forget(s)
	}
}

func (c *Conn) forget(s *Stream) {
	delete(c.streams, s.id)
	c.spare = append(c.spare, s)
}

func (c *Conn) reset(id, code uint32) { c.out = appendWord(c.out, frameReset, id, code) }

// end ends a request. A service that has answered need not read the rest of a request.
func (c *Conn) end(s *Stream, how Ending) {
	c.forget(s)
	if how == Whole && !s.done {
		c.reset(s.id, codeCancel)
	}
	c.taker.End(s.key, how)
}

// malformed ends a request whose answer was not valid.
func (c *Conn) malformed(s *Stream) {
	c.reset(s.id, codeProtocol)
	c.end(s, Malformed)
}

// fields takes the fields of one header block.
type fields struct {
	status  int // 0: none, -1: not valid
	length  int64
	size    int
	code    int // grpc-status; -1: none
	text    string
	pushes  bool // grpc-retry-pushback-ms
	regular bool // a field that is no pseudo-header field has come
	wrong   bool
}

func (f *fields) take(h hpack.HeaderField) {
	if f.wrong {
		return
	}
	if f.size += len(h.Name) + len(h.Value) + 32; f.size > MaxHead {
		f.wrong = true
	}
	if h.IsPseudo() {
		if h.Name != ":status" || f.status != 0 || f.regular {
			f.wrong = true
			return
		}
		f.status = status(h.Value)
		return
	}
	f.regular = true
	switch h.Name {
	case "content-length":
		n := length(h.Value)
		if n < 0 || f.length >= 0 && n != f.length {
			f.wrong = true
		}
		f.length = n
	case "grpc-status":
		if f.code = int(length(h.Value)); f.code < 0 || f.code > highestCode {
			f.code = unknownCode
		}
	case "grpc-message":
		f.text = h.Value
	case "grpc-retry-pushback-ms":
		f.pushes = true
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		f.wrong = true
	default:
		if h.Name == "" || bytes.ContainsFunc([]byte(h.Name), func(r rune) bool { return 'A' <= r && r <= 'Z' }) {
			f.wrong = true
		}
	}
}

// Codes of gRPC: the last one, and that of statuses which a client does not know.
const (
	unknownCode = 2
	highestCode = 16
)

// status parses three digits.
func status(text string) int {
	if len(text) != 3 {
		return -1
	}
	n := length(text)
	if n < 100 || n > 999 {
		return -1
	}
	return int(n)
}

// length parses a number without a sign; -1: it is none.
func length(text string) (n int64) {
	if text == "" || len(text) > 18 {
		return -1
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

func word(p []byte) uint32 { return binary.BigEndian.Uint32(p) }
