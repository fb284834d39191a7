package wire

import (
	"bytes"
	"errors"
)

// MaxHead is the maximum size in bytes of an answer's head, of its trailers, and of a
// chunk's line.
const MaxHead = 64 << 10

// Errors of an answer. All but ErrCut mean that it was not valid HTTP.
var (
	ErrCut        = errors.New("the connection ended before the answer was complete")
	errStatusLine = errors.New("malformed status line")
	errField      = errors.New("malformed header line")
	errLength     = errors.New("malformed Content-Length")
	errEncoding   = errors.New("unsupported Transfer-Encoding")
	errChunk      = errors.New("malformed chunk")
	errHead       = errors.New("headers larger than 64 KiB")
	errSwitch     = errors.New("switched to a protocol that was not requested")
)

// Answer parses one answer after another from the bytes of a connection, in pieces of
// any size; call Begin before each answer. It keeps no bytes except a line that is
// split between two pieces.
type Answer struct {
	state    state
	head     bool  // the request was HEAD: no body follows
	minor    uint8 // HTTP/1.minor
	seen     bool  // a byte of this answer has come
	closes   bool  // Connection: close
	keeps    bool  // Connection: keep-alive
	chunked  bool
	pushback bool // of a gRPC call
	coded    bool // there was a Transfer-Encoding
	folds    bool // the previous line may be continued by one that begins with a space
	status   int
	length   int64 // Content-Length; -1: none
	remain   int64 // bytes of the body, or of the chunk, to come
	size     int   // bytes of the head, of a chunk's line or of the trailers so far
	held     []byte
	text     []byte  // of a gRPC call's status
	needle   *Needle // the text to search for in the body
	matched  int     // matched bytes of it
	call     *Call   // the request is a gRPC call
	messages Messages
}

// state is what is expected next.
type state uint8

const (
	inStatus state = iota
	inFields
	inBody  // remain bytes
	inRest  // until the connection ends
	inSize  // a chunk's line
	inChunk // remain bytes
	inCR    // the line end after a chunk
	inLF
	inTrailers
	whole
)

// Begin prepares for the next answer; head reports whether the request was HEAD. If
// needle is not nil, it is searched for in the body.
func (a *Answer) Begin(head bool, needle *Needle) {
	*a = Answer{head: head, length: -1, held: a.held[:0], text: a.text[:0], needle: needle}
}

// Calls declares, after Begin, that the request is a gRPC call, unless call is nil.
func (a *Answer) Calls(call *Call) { a.call = call }

// Found reports whether the body so far contains the needle, or there is no needle.
func (a *Answer) Found() bool { return a.needle == nil || a.needle.Found(a.matched) }

// Status is the answer's status code, 0 before it is known.
func (a *Answer) Status() int { return a.status }

// Begun reports whether any byte of the answer has arrived.
func (a *Answer) Begun() bool { return a.seen }

// Reusable reports whether the answer is complete and the connection may carry another
// request.
func (a *Answer) Reusable() bool {
	if a.state != whole || a.closes {
		return false
	}
	return a.minor >= 1 || a.keeps
}

// Read parses the next bytes of the connection. It returns how many of them belong to
// the answer, and whether the answer is complete; further bytes have no request. After
// an error the connection must not be used.
func (a *Answer) Read(p []byte) (n int, done bool, err error) {
	total := len(p)
	if total > 0 {
		a.seen = true
	}
	for len(p) > 0 && a.state != whole {
		switch a.state {
		case inBody, inChunk:
			step := min(int64(len(p)), a.remain)
			a.look(p[:step])
			p = p[step:]
			if a.remain -= step; a.remain == 0 {
				a.state = after(a.state)
			}
		case inRest:
			a.look(p)
			p = p[len(p):]
		case inCR:
			if p[0] != '\r' {
				return total - len(p), false, errChunk
			}
			p, a.state = p[1:], inLF
		case inLF:
			if p[0] != '\n' {
				return total - len(p), false, errChunk
			}
			p, a.state = p[1:], inSize
		default:
			used, err := a.readLine(p)
			p = p[used:]
			if err != nil {
				return total - len(p), false, err
			}
		}
	}
	return total - len(p), a.state == whole, nil
}

// inHead reports whether the head has not ended.
func (a *Answer) inHead() bool { return a.state == inStatus || a.state == inFields }

// readHead reads up to the end of the head.
func (a *Answer) readHead(p []byte) (n int, err error) {
	if len(p) > 0 {
		a.seen = true
	}
	for n < len(p) && a.inHead() {
		used, err := a.readLine(p[n:])
		n += used
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// look searches bytes of the body for the needle, and counts messages.
func (a *Answer) look(p []byte) {
	if a.call != nil {
		a.messages.Read(p, a.call)
	}
	if a.needle != nil {
		a.matched = a.needle.Feed(a.matched, p)
	}
}

// after is the state after the bytes of a body or a chunk.
func after(s state) state {
	if s == inBody {
		return whole
	}
	return inCR
}

// End handles the end of the connection. It returns nil if that ends the answer, as for
// a body without a length, and ErrCut if the answer was not complete.
func (a *Answer) End() error {
	if a.state != inRest {
		return ErrCut
	}
	a.state = whole
	a.closes = true
	return nil
}

// readLine reads bytes up to a line's end, and parses the line if it is complete.
func (a *Answer) readLine(p []byte) (used int, err error) {
	end := bytes.IndexByte(p, '\n')
	if end < 0 {
		if a.size += len(p); a.size > MaxHead {
			return len(p), errHead
		}
		a.held = append(a.held, p...)
		return len(p), nil
	}
	line := p[:end]
	if a.size += end + 1; a.size > MaxHead {
		return end + 1, errHead
	}
	if len(a.held) > 0 {
		a.held = append(a.held, line...)
		line = a.held
	}
	err = a.takeLine(line)
	a.held = a.held[:0]
	return end + 1, err
}

// takeLine parses a line without its LF.
func (a *Answer) takeLine(line []byte) error {
	bare := true
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line, bare = line[:n-1], false
	}
	switch a.state {
	case inStatus:
		a.state = inFields
		return a.takeStatus(line)
	case inSize:
		// Here and in trailers a line must end with CRLF: leniency would allow
		// request smuggling (RFC 9112, errata 7633).
		if bare {
			return errChunk
		}
		return a.takeSize(line)
	case inTrailers:
		if bare {
			return errChunk
		}
		if len(line) == 0 {
			a.state = whole
			return nil
		}
		name, value, err := a.splitField(line)
		if err == nil {
			a.takeTrailer(name, value)
		}
		return err
	}
	if len(line) == 0 {
		return a.takeHeadEnd()
	}
	return a.takeField(line)
}

// takeStatus parses "HTTP/1.1 200 OK"; the reason may be missing.
func (a *Answer) takeStatus(line []byte) error {
	const form = "HTTP/1.1 200"
	if len(line) < len(form) || string(line[:7]) != "HTTP/1." || line[8] != ' ' {
		return errStatusLine
	}
	minor := line[7] - '0'
	if minor > 9 || len(line) > len(form) && line[len(form)] != ' ' {
		return errStatusLine
	}
	status := 0
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return errStatusLine
		}
		status = status*10 + int(c-'0')
	}
	if status < 100 {
		return errStatusLine
	}
	a.minor, a.status = minor, status
	return nil
}

// takeHeadEnd determines what follows the head's empty line (RFC 9112, 6.3).
func (a *Answer) takeHeadEnd() error {
	a.size = 0
	switch {
	case a.status == 101:
		return errSwitch
	case a.status < 200: // an interim answer: the real one follows
		seen, call := a.seen, a.call
		a.Begin(a.head, a.needle)
		a.seen, a.call = seen, call
	case a.head || a.status == 204 || a.status == 304:
		a.state = whole
	case a.chunked:
		a.state = inSize
	case a.length > 0:
		a.state, a.remain = inBody, a.length
	case a.length == 0:
		a.state = whole
	default:
		a.state, a.closes = inRest, true
	}
	return nil
}

// takeSize parses a chunk's line: its size in hex, then optional extensions.
func (a *Answer) takeSize(line []byte) error {
	if bytes.IndexByte(line, '\r') >= 0 {
		return errChunk
	}
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimRight(line, " \t")
	if len(line) == 0 || len(line) > 15 {
		return errChunk
	}
	size := int64(0)
	for _, c := range line {
		digit := hexDigit(c)
		if digit > 15 {
			return errChunk
		}
		size = size<<4 | int64(digit)
	}
	a.size = 0
	if size == 0 {
		a.state, a.folds = inTrailers, false
		return nil
	}
	a.state, a.remain = inChunk, size
	return nil
}

func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
