// Package slow keeps a sample of a loop's slow requests in bounded memory, and decides which
// are slow. It is pure, and allocates nothing for a request.
package slow

import (
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// Request is one slow request. Its times are relative to the trial's start.
type Request struct {
	Intended, Sent, Done time.Duration
	Lag                  time.Duration // as in signals.Slow
	Target               int32
	TimedOut             bool
}

func (r *Request) latency() time.Duration { return r.Done - r.Intended }

// The number of slow requests that a loop keeps of an interval: the slowest, and a
// sample of the others. A fast service has thousands of requests above the p95.
const (
	keptSlowest = 32
	keptOthers  = 224
	// Kept is the maximum number of both.
	Kept = keptSlowest + keptOthers
)

// Sample is a sample of the slow requests of one loop over one interval, in bounded
// memory. The slowest are all kept, with a weight of 1. Each of the others is kept
// with the same probability (Vitter's algorithm R), with a weight of others seen
// over others kept. So sums of weights over the sample are unbiased estimates of the
// numbers of all slow requests, and their total is exact.
//
// A request that is no longer among the slowest joins the others at that time. Which
// requests do is not random, so the probabilities of the others stay equal.
type Sample struct {
	slowest [keptSlowest]Request // a heap, the least slow first
	others  [keptOthers]Request
	seen    int64
}

// Add adds a slow request.
func (s *Sample) Add(one Request, random *rand.Rand) {
	s.seen++
	switch {
	case s.seen <= keptSlowest:
		s.rise(int(s.seen)-1, one)
		return
	case one.latency() > s.slowest[0].latency():
		one, s.slowest[0] = s.slowest[0], one
		s.sink()
	}
	n := s.seen - keptSlowest // others seen, this one included
	if n <= keptOthers {
		s.others[n-1] = one
	} else if place := random.Int64N(n); place < keptOthers {
		s.others[place] = one
	}
}

// Reset empties a sample, and keeps its memory.
func (s *Sample) Reset() { s.seen = 0 }

// rise puts a request into the heap at its end, place i.
func (s *Sample) rise(i int, one Request) {
	for i > 0 {
		up := (i - 1) / 2
		if s.slowest[up].latency() <= one.latency() {
			break
		}
		s.slowest[i] = s.slowest[up]
		i = up
	}
	s.slowest[i] = one
}

// sink moves the first request of a full heap to its place.
func (s *Sample) sink() {
	one := s.slowest[0]
	i := 0
	for {
		down := 2*i + 1
		if down >= keptSlowest {
			break
		}
		if down+1 < keptSlowest && s.slowest[down+1].latency() < s.slowest[down].latency() {
			down++
		}
		if one.latency() <= s.slowest[down].latency() {
			break
		}
		s.slowest[i] = s.slowest[down]
		i = down
	}
	s.slowest[i] = one
}

// AppendTo appends the sample in the form of a frame; start is the trial's start.
func (s *Sample) AppendTo(all []signals.Slow, start time.Time) []signals.Slow {
	zero := start.UnixNano()
	put := func(kept []Request, stands float64) {
		for i := range kept {
			k := &kept[i]
			all = append(all, signals.Slow{
				Replica:  int(k.Target),
				Intended: zero + int64(k.Intended),
				Sent:     zero + int64(k.Sent),
				Done:     zero + int64(k.Done),
				Lag:      int64(k.Lag),
				TimedOut: k.TimedOut,
				For:      stands,
			})
		}
	}
	put(s.slowest[:min(s.seen, keptSlowest)], 1)
	if others := s.seen - keptSlowest; others > 0 {
		kept := min(others, keptOthers)
		put(s.others[:kept], float64(others)/float64(kept))
	}
	return all
}

// Bar is the running p95 of one loop; requests of at least that latency are slow. It
// is the lowest of the p95 since the last change of the load and the p95s of the last
// intervals. The first is that of the load under test. The others follow a load that
// changes over time, and one bad second does not raise the lowest of several. A bar
// that is too low only makes the sample coarser, but a bar that is too high makes it
// wrong. So the lowest is used, and 0 until there are enough requests.
type Bar struct {
	height  time.Duration // minimum latency of a slow request
	present counts        // of the present interval
	all     counts        // of the intervals before it, since the last change of the load
	recent  [4]time.Duration
	turns   int
}

// enough is the minimum number of requests whose p95 is not simply the slowest.
const enough = 20

// Clears reports whether a request of this latency is slow.
func (b *Bar) Clears(latency time.Duration) bool { return latency >= b.height }

// Add adds the latency of a request, slow or not.
func (b *Bar) Add(latency time.Duration) { b.present.add(latency) }

// Reset clears the bar after a change of the load. Until the interval's end every
// request counts as slow.
func (b *Bar) Reset() { *b = Bar{} }

// Turn raises or lowers the bar at the end of an interval.
func (b *Bar) Turn() {
	if b.present.n == 0 {
		return
	}
	b.all.merge(&b.present)
	b.recent[b.turns%len(b.recent)] = b.present.p95()
	b.turns++
	b.present = counts{}
	b.height = b.all.p95()
	for _, p95 := range b.recent {
		if p95 > 0 { // 0: not known
			b.height = min(b.height, p95)
		}
	}
}

// counts is a histogram of latencies with a resolution of better than 1%. It is coarser
// than those of the frames, and small enough to be scanned at the end of an interval
// without delaying a request.
type counts struct {
	n  int64
	of [(longest-stepBits)<<stepBits + 1<<stepBits]int64
}

// A latency in microseconds has at most longest bits, of which a step keeps the highest
// stepBits+1.
const (
	stepBits = 7
	longest  = 26 // 67 s
)

func (c *counts) add(d time.Duration) {
	c.n++
	c.of[step(d)]++
}

func (c *counts) merge(o *counts) {
	c.n += o.n
	for i, n := range o.of {
		c.of[i] += n
	}
}

// p95 returns the lower bound of the step that contains the 95th percentile, and 0 if
// there are fewer than enough requests.
func (c *counts) p95() time.Duration {
	if c.n < enough {
		return 0
	}
	above := c.n / 20
	for i := len(c.of) - 1; ; i-- {
		if above -= c.of[i]; above < 0 {
			return least(i)
		}
	}
}

// step is the index of the step that contains a latency.
func step(d time.Duration) int {
	us := min(uint64(max(d, 0)/time.Microsecond), 1<<longest-1)
	shift := max(bits.Len64(us)-stepBits-1, 0)
	return shift<<stepBits + int(us>>shift)
}

// least is the lower bound of a step.
func least(i int) time.Duration {
	shift := max(i>>stepBits-1, 0)
	return time.Duration(i-shift<<stepBits) << shift * time.Microsecond
}
