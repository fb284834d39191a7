package causes

import (
	"math"

	"github.com/millicore/millicore/internal/signals"
)

// drained is how many requests in a row must have been due at a replica,
// without a slow one among them, for its queue to have drained. While a queue
// stands all requests are slow; otherwise one in twenty is kept as slow, and ten
// in a row without one are common.
const drained = 10

// never is a moment after all others.
const never = math.MaxInt64

// queue follows what the episodes of one cause leave behind at one replica.
//
// An episode is a stretch in which the replica could not serve, or was not
// asked. What is in flight or overdue at its end waits in a queue, and so does
// what comes while the queue stands. It stands until the last request that was
// in it is done, or until a gap in the row of slow requests shows that it
// drained earlier. An episode that begins while the queue of another stands
// lengthens that one: together they are a chain.
type queue struct {
	episodes times
	// period is that of the CPU limit, for throttling, and 0 otherwise. A replica
	// throttled in every period has never emptied its queue: it had work left
	// when each ended. One not throttled in a period has emptied it, or it would
	// have used up its quota again.
	period int64
	// bar is the latency in nanoseconds from which a request counts as slow. The
	// agents keep faster ones too, before they know what is slow.
	bar int64
	// due is how many requests were due at the replica between two moments.
	due func(from, to int64) float64
}

// waited gives, for each slow request of the replica in the order of intended,
// since when it stands in a queue that an episode built: the beginning of the
// first episode of the chain; or never. thinned is how many slow requests a kept
// one stands for at its time.
func (q *queue) waited(requests []signals.SlowLine, thinned []float64) []int64 {
	since := make([]int64, len(requests))
	for i := range since {
		since[i] = never
	}
	c := chain{requests: requests, thinned: thinned, due: q.due, since: since}
	var flying []int // requests intended before the present episode's end and perhaps not done at its beginning
	next := 0        // the first request not looked at yet
	for k, e := range q.episodes {
		if !c.stands(e.from) && (k == 0 || e.from-q.episodes[k-1].to > q.period) {
			c.start, c.end = e.from, e.to
		}
		c.standing, c.end, c.last, c.thin = true, max(c.end, e.to), e.to, 1
		for ; next < len(requests) && requests[next].Intended < e.to; next++ {
			flying = append(flying, next)
		}
		still := flying[:0]
		for _, i := range flying {
			if requests[i].Done > e.from {
				c.join(i)
				still = append(still, i)
			}
		}
		flying = still

		until := int64(never)
		if q.period > 0 {
			until = e.to + q.period
		}
		if k+1 < len(q.episodes) {
			until = min(until, q.episodes[k+1].from)
		}
		for ; next < len(requests) && requests[next].Intended < until; next++ {
			if latency(&requests[next]) >= q.bar && c.follows(next) {
				c.join(next)
				c.last, c.thin = requests[next].Intended, thinned[next]
			}
			flying = append(flying, next)
		}
	}
	return since
}

// chain is a queue that stands, and the episodes that built it.
type chain struct {
	requests []signals.SlowLine
	thinned  []float64
	due      func(from, to int64) float64
	since    []int64

	start    int64 // of its first episode
	end      int64 // when the last request in it is done
	last     int64 // when the last request in it was intended, or its last episode ended
	thin     float64
	standing bool
}

// join puts request i into the queue.
func (c *chain) join(i int) {
	c.since[i] = min(c.since[i], c.start)
	c.end = max(c.end, c.requests[i].Done)
}

// follows tells whether request i came while the queue stood.
func (c *chain) follows(i int) bool {
	at := c.requests[i].Intended
	c.standing = c.standing && at < c.end && c.due(c.last, at) <= drained*max(c.thin, c.thinned[i])
	return c.standing
}

// stands tells whether the queue still stands at a moment.
func (c *chain) stands(at int64) bool {
	return c.standing && at < c.end && c.due(c.last, at) <= drained*c.thin
}
