package schedule

import (
	"math/rand/v2"
	"time"
)

// Thinks draws users' think times between an answer and the next request. They are
// constant, or else exponentially distributed, so that users who started together do
// not stay synchronized.
type Thinks struct {
	Even   bool
	mean   time.Duration // 0: they do not think
	random *rand.Rand
}

// NewThinks makes the think times of one share of the users.
func NewThinks(mean time.Duration, seed uint64, share int) Thinks {
	return Thinks{mean: mean, random: rand.New(rand.NewPCG(seed^ofThought, uint64(share)))}
}

// ofThought makes these random numbers independent of others from the same seed: when
// they are drawn depends on the answers, and that must not affect what is sent.
const ofThought = 0x7468696e6b

// longestThought bounds a think time, in multiples of the mean: the exponential
// distribution is unbounded, and one time in a million exceeds 14 means.
const longestThought = 20

// Next draws a think time.
func (t *Thinks) Next() time.Duration {
	if t.mean == 0 || t.Even {
		return t.mean
	}
	return time.Duration(min(t.random.ExpFloat64(), longestThought) * float64(t.mean))
}
