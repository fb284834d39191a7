package search

import (
	"container/heap"
	"math/rand/v2"

	"github.com/millicore/millicore/internal/analysis/finding"
)

// service is a simulated service. Its state persists from window to window, as a real
// one's does. Times are seconds since its start.
type service interface {
	offer(at float64, rng *rand.Rand)
	// collect returns every request that ended before a time, once, and shows those
	// that have not ended.
	collect(before float64, ended func(request), waiting func(at float64))
	empty() float64 // the time from which nothing is left to do, without new requests
}

// request is one that ended.
type request struct {
	at, end float64
	bad     bool
}

// servers are k equal servers that take requests first come, first served, with
// service times that are exponential (M/M/k), constant (M/D/k), or anything else.
type servers struct {
	free  []float64                    // when each is free
	work  func(rng *rand.Rand) float64 // service time, s
	queue int                          // most requests in the system; more are refused. 0: no bound
	open  []request
}

func (s *servers) offer(at float64, rng *rand.Rand) {
	if s.queue > 0 {
		in := 0
		for i := len(s.open) - 1; i >= 0 && in < s.queue && len(s.open)-i < 4*s.queue; i-- {
			if s.open[i].end > at {
				in++
			}
		}
		if in >= s.queue {
			s.open = append(s.open, request{at: at, end: at, bad: true})
			return
		}
	}
	first := 0
	for i, f := range s.free {
		if f < s.free[first] {
			first = i
		}
	}
	s.free[first] = max(at, s.free[first]) + s.work(rng)
	s.open = append(s.open, request{at: at, end: s.free[first]})
}

func (s *servers) collect(before float64, ended func(request), waiting func(float64)) {
	left := s.open[:0]
	for _, r := range s.open {
		if r.end < before {
			ended(r)
			continue
		}
		waiting(r.at)
		left = append(left, r)
	}
	s.open = left
}

func (s *servers) empty() float64 {
	last := 0.0
	for _, f := range s.free {
		last = max(last, f)
	}
	return last
}

func exponential(mean float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return mean * rng.ExpFloat64() }
}

func fixed(mean float64) func(*rand.Rand) float64 {
	return func(*rand.Rand) float64 { return mean }
}

// mixed is work that is long for a share of the requests: a multiple of the mean of
// the others.
func mixed(short, long, share float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 {
		if rng.Float64() < share {
			return long
		}
		return short * rng.ExpFloat64()
	}
}

func newServers(k int, work func(*rand.Rand) float64) *servers {
	return &servers{free: make([]float64, k), work: work}
}

// throttled is a service of some threads under a CFS quota. A request needs a fixed
// CPU time of one thread. When the threads together have used up the period's quota,
// all stop until the next period.
type throttled struct {
	threads       int
	work          func(*rand.Rand) float64
	quota, period float64 // s

	now     float64
	index   int64   // of the period
	used    float64 // of its quota
	running []job
	waiting []job
	ended   []request
}

type job struct{ at, left float64 }

const tiny = 1e-9

func (q *throttled) offer(at float64, rng *rand.Rand) {
	q.advance(at)
	q.waiting = append(q.waiting, job{at: at, left: q.work(rng)})
	q.fill()
}

func (q *throttled) fill() {
	for len(q.running) < q.threads && len(q.waiting) > 0 {
		q.running = append(q.running, q.waiting[0])
		q.waiting = q.waiting[1:]
	}
}

// advance moves the time forward, from event to event: a request ends, the quota is
// used up, the period ends.
func (q *throttled) advance(to float64) {
	for q.now < to {
		boundary := float64(q.index+1) * q.period
		if len(q.running) == 0 || q.used >= q.quota-tiny { // idle, or throttled
			if boundary > to {
				q.now = to
				return
			}
			q.nextPeriod(boundary)
			continue
		}
		k := float64(len(q.running))
		step := min(to-q.now, boundary-q.now, (q.quota-q.used)/k)
		for _, j := range q.running {
			step = min(step, j.left)
		}
		step = max(step, 0)
		q.now += step
		q.used += step * k
		left := q.running[:0]
		for _, j := range q.running {
			if j.left -= step; j.left > tiny {
				left = append(left, j)
			} else {
				q.ended = append(q.ended, request{at: j.at, end: q.now})
			}
		}
		q.running = left
		q.fill()
		if boundary-q.now < tiny {
			q.nextPeriod(boundary)
		}
	}
}

func (q *throttled) nextPeriod(boundary float64) {
	q.now = max(q.now, boundary)
	q.index++
	q.used = 0
}

func (q *throttled) collect(before float64, ended func(request), waiting func(float64)) {
	q.advance(before)
	for _, r := range q.ended {
		ended(r)
	}
	q.ended = q.ended[:0]
	for _, j := range q.running {
		waiting(j.at)
	}
	for _, j := range q.waiting {
		waiting(j.at)
	}
}

func (q *throttled) empty() float64 {
	for len(q.running) > 0 {
		q.advance(q.now + q.period)
	}
	return q.now
}

// failing answers immediately and fails a share of the requests that depends on the
// load.
type failing struct {
	share func(load float64) float64
	load  *float64
	ended []request
}

func (s *failing) offer(at float64, rng *rand.Rand) {
	s.ended = append(s.ended, request{at: at, end: at + 0.001, bad: rng.Float64() < s.share(*s.load)})
}

func (s *failing) collect(before float64, ended func(request), waiting func(float64)) {
	for _, r := range s.ended {
		ended(r)
	}
	s.ended = s.ended[:0]
}

func (s *failing) empty() float64 { return 0 }

// world drives a simulated service as the lab drives a real one.
type world struct {
	service service
	whole   bool // windows are never cut short
	users   bool // closed loop: load is users, who only wait for their answers
	rng     *rand.Rand
	now     float64
	load    float64
	limit   float64 // the objective's latency, s
	ends    ends    // closed loop: when each user's request ends
}

// ends is a heap of times.
type ends []float64

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i] < e[j] }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(float64)) }
func (e *ends) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// block offers requests for a time and counts those that end.
func (w *world) block(seconds float64) (b Block, overdue int64) {
	end := w.now + seconds
	if w.users {
		w.offerClosed(end)
	} else {
		for {
			w.now += w.rng.ExpFloat64() / w.load
			if w.now >= end {
				break
			}
			w.service.offer(w.now, w.rng)
		}
	}
	w.now = end
	w.service.collect(end, func(r request) {
		b.Requests++
		if r.bad || r.end-r.at > w.limit {
			b.Late++
		}
		if r.bad {
			b.Bad++
		}
	}, func(at float64) {
		if end-at > w.limit {
			overdue++
		}
	})
	return b, overdue
}

// offerClosed keeps w.load requests in the service; it needs a service whose ends are
// known immediately.
func (w *world) offerClosed(end float64) {
	s := w.service.(*servers)
	n := int(w.load)
	for w.ends.Len() < n {
		s.offer(w.now, w.rng)
		heap.Push(&w.ends, s.open[len(s.open)-1].end)
	}
	for w.ends[0] < end {
		at := heap.Pop(&w.ends).(float64)
		if w.ends.Len() >= n {
			continue // a user leaves
		}
		s.offer(at, w.rng)
		heap.Push(&w.ends, s.open[len(s.open)-1].end)
	}
}

// step executes one step, block by block, and cuts it short if the search reports that
// it is hopeless.
func (w *world) step(s *Search, step Step, block float64) Observation {
	if step.Drain {
		w.now = max(w.now, w.service.empty())
		w.ends = w.ends[:0]
	}
	w.load = step.Load
	for left := step.Settle.Seconds(); left > tiny; left -= block {
		w.block(block)
	}
	var o Observation
	for left := step.Window.Seconds(); left > tiny; left -= block {
		b, overdue := w.block(block)
		o.Blocks = append(o.Blocks, b)
		seen := append([]Block(nil), o.Blocks...)
		last := &seen[len(seen)-1]
		last.Requests += overdue
		last.Late += overdue
		last.Overdue = overdue
		if left-block <= tiny || !w.whole && s.Hopeless(seen) {
			o.Blocks = seen
			break
		}
	}
	return o
}

// run searches a simulated service.
func (w *world) run(c Config) Result {
	s := New(c)
	looked := false
	for step, ok := s.Next(); ok; step, ok = s.Next() {
		looked = looked || step.Pauses
		s.Saw(w.step(s, step, c.Block.Seconds()))
	}
	r := s.Result()
	if !looked && r.Why.Kind == finding.MissesInBursts {
		panic("it found pauses, and no step said that it looks for them")
	}
	return r
}

// longRun is the share of late and of bad requests at w.load in a steady state, by
// brute force.
func (w *world) longRun(seconds float64) (late, bad float64) {
	const blocks = 50
	w.block(seconds / blocks)
	var sum Block
	for range blocks {
		b, _ := w.block(seconds / blocks)
		sum.Requests, sum.Late, sum.Bad = sum.Requests+b.Requests, sum.Late+b.Late, sum.Bad+b.Bad
	}
	n := float64(max(sum.Requests, 1))
	return float64(sum.Late) / n, float64(sum.Bad) / n
}
