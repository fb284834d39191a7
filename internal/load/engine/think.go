package engine

import (
	"math/rand/v2"
	"time"
)

// thinker draws the times for which users think between an answer and their next
// request: all the same where they are even, else exponentially distributed, so
// that users who began together do not stay together.
type thinker struct {
	mean   time.Duration // 0: they do not think
	even   bool
	random *rand.Rand
}

// ofThought sets what is drawn here apart from what else is drawn from the seed:
// when a user thinks depends on the answers, what is sent must not.
const ofThought = 0x7468696e6b

// longestThought bounds what is drawn, in means: the exponential distribution has
// no end, and one in a million is longer than 14 of them.
const longestThought = 20

func (t *thinker) next() time.Duration {
	if t.mean == 0 || t.even {
		return t.mean
	}
	return time.Duration(min(t.random.ExpFloat64(), longestThought) * float64(t.mean))
}
