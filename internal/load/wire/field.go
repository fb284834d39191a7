package wire

import (
	"bytes"
	"encoding/binary"
)

// takeField reads a header line and keeps what decides where the answer ends.
func (a *Answer) takeField(line []byte) error {
	name, value, err := a.splitField(line)
	if err != nil || name == nil {
		return err
	}
	// The lengths of the names sort out nearly all headers at once.
	switch len(name) {
	case len("Connection"):
		if equalFold(name, "connection") {
			a.folds = false
			a.takeConnection(value)
		}
	case len("Content-Length"):
		if equalFold(name, "content-length") {
			a.folds = false
			return a.takeLength(value)
		}
	case len("Transfer-Encoding"):
		if equalFold(name, "transfer-encoding") {
			a.folds = false
			return a.takeEncoding(value)
		}
	}
	return nil
}

// takeLength reads Content-Length. A length given twice must be the same.
func (a *Answer) takeLength(value []byte) error {
	value = trim(value)
	if len(value) == 0 || len(value) > 18 {
		return errLength
	}
	length := int64(0)
	for _, c := range value {
		if c < '0' || c > '9' {
			return errLength
		}
		length = length*10 + int64(c-'0')
	}
	if a.length >= 0 && a.length != length {
		return errLength
	}
	a.length = length
	return nil
}

// takeEncoding reads Transfer-Encoding, of which only "chunked" is known. It
// wins over Content-Length, and HTTP/1.0 does not have it.
func (a *Answer) takeEncoding(value []byte) error {
	if a.minor == 0 {
		return nil
	}
	if a.coded || !equalFold(trim(value), "chunked") {
		return errEncoding
	}
	a.coded, a.chunked = true, true
	return nil
}

// takeConnection reads the tokens of Connection.
func (a *Answer) takeConnection(value []byte) {
	for len(value) > 0 {
		token := value
		if i := bytes.IndexByte(value, ','); i >= 0 {
			token, value = value[:i], value[i+1:]
		} else {
			value = nil
		}
		switch token = trim(token); {
		case equalFold(token, "close"):
			a.closes = true
		case equalFold(token, "keep-alive"):
			a.keeps = true
		}
	}
}

// splitField splits "Name: value", the space about the value included. A line that begins with
// a space continues the value before it, an obsolete form that a user agent
// still has to take (RFC 9112, 5.2): it has no name. Where the value before it
// decides how the answer ends, the form is refused.
func (a *Answer) splitField(line []byte) (name, value []byte, err error) {
	if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		if !a.folds || !validValue(line) {
			return nil, nil, errField
		}
		return nil, nil, nil
	}
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return nil, nil, errField
	}
	name, value = line[:colon], line[colon+1:]
	for _, c := range name {
		if !tokenByte[c] {
			return nil, nil, errField
		}
	}
	if !validValue(value) {
		return nil, nil, errField
	}
	a.folds = true
	return name, value, nil
}

// validValue tells whether a value has no control characters but tabs. It looks
// at eight bytes at a time, since values are most of what a small answer is.
func validValue(value []byte) bool {
	for len(value) >= 8 {
		if suspicious(binary.LittleEndian.Uint64(value)) && !validBytes(value[:8]) {
			return false
		}
		value = value[8:]
	}
	return validBytes(value)
}

func validBytes(value []byte) bool {
	for _, c := range value {
		if !valueByte(c) {
			return false
		}
	}
	return true
}

// suspicious tells whether one of eight bytes is below a space or is DEL, by
// the usual trick: subtracting from a byte that is too small borrows into its
// highest bit, which is then set though it was not before.
func suspicious(v uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	del := v ^ ones*0x7f
	return ((v-ones*' ')&^v|(del-ones)&^del)&tops != 0
}

// trim takes spaces and tabs off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// equalFold compares with lower, which is in lower case, without regard to
// ASCII case.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
