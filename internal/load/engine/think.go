package engine

import (
	"math/rand/v2"
	"time"
)

// thinker draws users' think times between an answer and the next request. They are
// constant, or else exponentially distributed, so that users who started together do
// not stay synchronized.
type thinker struct {
	mean   time.Duration // 0: they do not think
	even   bool
	random *rand.Rand
}

// ofThought makes these random numbers independent of others from the same seed: when
// they are drawn depends on the answers, and that must not affect what is sent.
const ofThought = 0x7468696e6b

// longestThought bounds a think time, in multiples of the mean: the exponential
// distribution is unbounded, and one time in a million exceeds 14 means.
const longestThought = 20

func (t *thinker) next() time.Duration {
	if t.mean == 0 || t.even {
		return t.mean
	}
	return time.Duration(min(t.random.ExpFloat64(), longestThought) * float64(t.mean))
}
