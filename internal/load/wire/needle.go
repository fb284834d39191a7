package wire

import "bytes"

// Needle finds a text in a body that comes in pieces and is kept nowhere. It is
// compiled once and shared; where it is in a body is the caller's number to keep.
type Needle struct {
	text  []byte
	again []int // how much of the text is matched still, where the byte after i of them is another
}

// NewNeedle compiles a text; nil for an empty one, which is in every body.
func NewNeedle(text string) *Needle {
	if text == "" {
		return nil
	}
	n := &Needle{text: []byte(text), again: make([]int, len(text)+1)}
	for i, matched := 1, 0; i < len(text); i++ {
		matched = n.step(matched, text[i])
		n.again[i+1] = matched
	}
	return n
}

// Feed takes the next bytes of a body of which matched bytes of the text had been
// found (0 at first), and returns how many are now: len(text) once it was found,
// which stays so.
func (n *Needle) Feed(matched int, p []byte) int {
	for len(p) > 0 && matched < len(n.text) {
		if matched == 0 {
			i := bytes.IndexByte(p, n.text[0])
			if i < 0 {
				return 0
			}
			p = p[i:]
		}
		matched, p = n.step(matched, p[0]), p[1:]
	}
	return matched
}

// Found tells whether so many matched bytes are the whole text.
func (n *Needle) Found(matched int) bool { return matched == len(n.text) }

// step is the way of Knuth, Morris and Pratt over one byte.
func (n *Needle) step(matched int, c byte) int {
	for matched > 0 && (matched == len(n.text) || n.text[matched] != c) {
		matched = n.again[matched]
	}
	if n.text[matched] == c {
		matched++
	}
	return matched
}
