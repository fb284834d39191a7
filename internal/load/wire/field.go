package wire

import (
	"bytes"
	"encoding/binary"
)

// takeField parses a header line and keeps what determines the end of the answer.
func (a *Answer) takeField(line []byte) error {
	name, value, err := a.splitField(line)
	if err != nil || name == nil {
		return err
	}
	// The lengths of the names exclude nearly all headers cheaply.
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

// takeLength parses Content-Length. Repeated lengths must be equal.
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

// takeEncoding parses Transfer-Encoding, of which only "chunked" is supported. It
// overrides Content-Length; HTTP/1.0 does not have it.
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

// takeConnection parses the tokens of Connection.
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

// splitField splits "Name: value"; the value includes surrounding space. A line that
// begins with a space continues the previous value, an obsolete form that user agents
// must still accept (RFC 9112, 5.2); then name is nil. It is an error if the previous
// value determines the end of the answer.
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

// validValue reports whether a value has no control characters except tabs. It checks
// eight bytes at a time, because values are most of a small answer.
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

// suspicious reports whether one of eight bytes is below a space or is DEL. The method
// is the usual one: a subtraction from a byte that is too small borrows, which sets the
// byte's highest bit.
func suspicious(v uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	del := v ^ ones*0x7f
	return ((v-ones*' ')&^v|(del-ones)&^del)&tops != 0
}

// trim removes spaces and tabs from both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// equalFold compares with lower, which must be in lower case, ignoring ASCII case.
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
