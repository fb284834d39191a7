package wire

import "bytes"

// LastHead caches the last head of an answer. A service sends the same head repeatedly,
// except for a date that changes once a second, and a comparison costs a twentieth of
// parsing. The zero value is an empty cache.
type LastHead struct {
	text []byte // from the first byte of the answer, including interim answers
	said Answer // the state after parsing text
}

// longestHead is the maximum size of a cached head in bytes, because each new head is
// copied.
const longestHead = 4 << 10

// Read is equivalent to a.Read for the next bytes of an answer: the state after a head
// depends on its bytes only.
func (h *LastHead) Read(a *Answer, p []byte) (n int, done bool, err error) {
	switch {
	case a.seen: // not the beginning of the answer
		return a.Read(p)
	case len(h.text) > 0 && h.said.head == a.head && bytes.HasPrefix(p, h.text):
		held, text, needle, call := a.held, a.text, a.needle, a.call
		*a = h.said
		a.held, a.text, a.needle, a.call = held, text, needle, call
		n = len(h.text)
	default:
		if n, err = a.readHead(p); err != nil {
			return n, false, err
		}
		h.remember(a, p[:n])
	}
	more, done, err := a.Read(p[n:])
	return n + more, done, err
}

// remember caches a head that was just parsed, if it is complete.
func (h *LastHead) remember(a *Answer, text []byte) {
	if a.inHead() || len(text) > longestHead {
		return
	}
	h.text = append(h.text[:0], text...)
	h.said = *a
	h.said.held, h.said.text, h.said.needle, h.said.call = nil, nil, nil, nil
}
