package engine

import "time"

// pauses are the times at which pausing users continue: a binary heap, the earliest
// first.
type pauses []time.Duration

func (p pauses) first() time.Duration {
	if len(p) == 0 {
		return never
	}
	return p[0]
}

func (p *pauses) push(at time.Duration) {
	h := append(*p, at)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up] <= h[i] {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	*p = h
}

func (p *pauses) pop() time.Duration {
	h := *p
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down+1] < h[down] {
			down++
		}
		if h[i] <= h[down] {
			break
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
	*p = h
	return first
}
