package wire

import "bytes"

// Needle finds a text in a body that arrives in pieces and is not stored, by the
// algorithm of Knuth, Morris and Pratt. It is compiled once and shared; the caller
// keeps the number of matched bytes.
type Needle struct {
	text  []byte
	again []int // failure function: the matched bytes that remain after a mismatch at i
}

// NewNeedle compiles a text; nil for an empty text, which every body contains.
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

// Feed searches the next bytes of a body. matched is the number of matched bytes so far
// (0 at first), and the result is the new number. Once it is len(text), the text was
// found, and the number stays the same.
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

// Found reports whether matched is the length of the whole text.
func (n *Needle) Found(matched int) bool { return matched == len(n.text) }

// step advances the number of matched bytes over one byte.
func (n *Needle) step(matched int, c byte) int {
	for matched > 0 && (matched == len(n.text) || n.text[matched] != c) {
		matched = n.again[matched]
	}
	if n.text[matched] == c {
		matched++
	}
	return matched
}
