package causes

import (
	"cmp"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/data/signals"
)

// drained is how many requests in a row must have been due at a replica, without a
// slow one among them, for its queue to have drained. While a queue stands, all
// requests are slow. Otherwise one in twenty is kept as slow, so ten in a row without
// one are common.
const drained = 10

// never is a time after all others.
const never = math.MaxInt64

// queue follows what the episodes of one cause leave behind at one replica.
//
// An episode is a stretch in which the replica could not serve, or received no
// requests. Requests that are in flight or overdue at its end wait in a queue, and so
// do those that arrive while the queue stands. The queue stands until the last request
// in it is done, or until a gap between slow requests shows that it drained earlier.
// An episode that begins while the queue of another stands lengthens that queue:
// together they are a chain.
type queue struct {
	episodes times
	// period is that of the CPU limit, for throttling, and 0 otherwise. A replica that
	// is throttled in every period never empties its queue, because work was left at
	// the end of each period. If it was not throttled in a period, it emptied the
	// queue; otherwise it would have used up its quota again.
	period int64
	// bar is the latency in nanoseconds from which a request counts as slow. Agents
	// also keep faster ones, from before they know what is slow.
	bar int64
	// due returns how many requests were due at the replica between two times.
	due func(from, to int64) float64
	// came is when a request came to the queue.
	came func(*signals.SlowLine) int64
}

// intended and sent are when a request came to the queue of all replicas, and to that of
// one.
func intended(r *signals.SlowLine) int64 { return r.Intended }
func sent(r *signals.SlowLine) int64     { return r.Sent }

// waited returns, for each slow request of the replica in the order in which they came, since
// when it waits in a queue that an episode built: the start of the first episode of
// the chain, or never. weights is how many slow requests a kept one stands for at its
// time.
func (q *queue) waited(requests []signals.SlowLine, weights []float64) []int64 {
	since := make([]int64, len(requests))
	for i := range since {
		since[i] = never
	}
	c := chain{requests: requests, weights: weights, due: q.due, came: q.came, since: since}
	var inFlight []int // requests that came before the present episode's end and perhaps not done at its beginning
	next := 0          // the first request not looked at yet
	for k, e := range q.episodes {
		if !c.stands(e.from) && (k == 0 || e.from-q.episodes[k-1].to > q.period) {
			c.start, c.end = e.from, e.to
		}
		c.standing, c.end, c.last, c.weight = true, max(c.end, e.to), e.to, 1
		for ; next < len(requests) && q.came(&requests[next]) < e.to; next++ {
			inFlight = append(inFlight, next)
		}
		still := inFlight[:0]
		for _, i := range inFlight {
			if requests[i].Done > e.from {
				c.join(i)
				still = append(still, i)
			}
		}
		inFlight = still

		until := int64(never)
		if q.period > 0 {
			until = e.to + q.period
		}
		if k+1 < len(q.episodes) {
			until = min(until, q.episodes[k+1].from)
		}
		for ; next < len(requests) && q.came(&requests[next]) < until; next++ {
			if latency(&requests[next]) >= q.bar && c.follows(next) {
				c.join(next)
				c.last, c.weight = q.came(&requests[next]), weights[next]
			}
			inFlight = append(inFlight, next)
		}
	}
	return since
}

// atReplica does the same as waited for one of several replicas. A request joins its queue
// when it is sent. It takes and returns them in the order of intended.
func (q *queue) atReplica(requests []signals.SlowLine, weights []float64) []int64 {
	order := make([]int, len(requests))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(requests[a].Sent, requests[b].Sent) })
	came, stand := make([]signals.SlowLine, len(order)), make([]float64, len(order))
	for k, i := range order {
		came[k], stand[k] = requests[i], weights[i]
	}
	there := *q
	there.came = sent
	since := make([]int64, len(order))
	for k, at := range there.waited(came, stand) {
		since[order[k]] = at
	}
	return since
}

// slowed does the same as waited for episodes that do not stop the replica but slow it
// down, so that its queue may drain within one. A chain begins with a slow request that follows no
// other. The one before it was not slow, so the queue that it found is no longer than
// the bar, and nothing that it waits for came earlier than that.
func (q *queue) slowed(requests []signals.SlowLine, weights []float64) []int64 {
	since := make([]int64, len(requests))
	c := chain{requests: requests, weights: weights, due: q.due, came: q.came, since: since}
	for i := range requests {
		since[i] = never
		at := q.came(&requests[i])
		if !c.follows(i) {
			k := q.episodes.after(at)
			if k == len(q.episodes) || q.episodes[k].from >= requests[i].Done {
				continue
			}
			c.start, c.end = max(q.episodes[k].from, at-q.bar), at
		}
		c.join(i)
		if latency(&requests[i]) >= q.bar {
			c.standing, c.last, c.weight = true, at, weights[i]
		}
	}
	return since
}

// chain is a queue that stands, and the episodes that built it.
type chain struct {
	requests []signals.SlowLine
	weights  []float64
	due      func(from, to int64) float64
	came     func(*signals.SlowLine) int64
	since    []int64

	start    int64 // of its first episode
	end      int64 // when the last request in it is done
	last     int64 // when the last request in it came, or its last episode ended
	weight   float64
	standing bool
}

// join adds request i to the queue.
func (c *chain) join(i int) {
	c.since[i] = min(c.since[i], c.start)
	c.end = max(c.end, c.requests[i].Done)
}

// follows reports whether request i arrived while the queue stood.
func (c *chain) follows(i int) bool {
	at := c.came(&c.requests[i])
	c.standing = c.standing && at < c.end && c.due(c.last, at) <= drained*max(c.weight, c.weights[i])
	return c.standing
}

// stands reports whether the queue still stands at a time.
func (c *chain) stands(at int64) bool {
	return c.standing && at < c.end && c.due(c.last, at) <= drained*c.weight
}
