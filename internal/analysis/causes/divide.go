package causes

import "github.com/millicore/millicore/internal/data/signals"

// division divides one request's time, from intended to done, among causes, in
// nanoseconds.
type division struct {
	request  *signals.SlowLine
	evidence *evidence
	since    [causes]int64 // start of the queue built by the cause in which it waited; or never
	unsent   [causes]int64 // the same before it was sent, for a queue of all replicas

	free     times // times without direct evidence of a cause
	left     int64 // not attributed to a cause yet; in the end the rest
	held     [causes]int64
	directly int64 // throttled, within windows
	byAgents int64 // of the neighbours' time, due to the CPU of the agents

	within         bool  // in contended times alone
	shared, atMost int64 // how long many of those that came beside it took, and some
	throttledHigh  int64 // what the limit may have taken at most
}

// direct attributes the times with direct evidence: the lag of the generator, then the
// windows of the replica (evidence.during). That the replica stood still is known; that the
// request wanted its CPU then is not: throttling is an upper bound. All later attributions
// are estimates.
func (d *division) direct() {
	r := d.request
	d.free = union(stretch{r.Intended, r.Done})
	d.hold(generator, union(stretch{r.Sent - r.Lag, r.Sent}))
	d.hold(throttling, d.evidence.during(d.evidence.throttled, r))
	d.hold(restart, d.down())
	d.directly = d.held[throttling]
	d.left = d.free.long()
}

// down returns when the replica was down. A request that timed out and was in flight
// in a down window was lost with the process: nothing worked on it from then on.
func (d *division) down() times {
	r := d.request
	windows := d.evidence.during(d.evidence.down, r)
	if r.TimedOut {
		if lost := d.evidence.down.during(r.Sent, r.Done); len(lost) > 0 {
			return union(append(windows, stretch{lost[0].from, r.Done})...)
		}
	}
	return windows
}

// hold attributes to a cause those of the given times that are still free.
func (d *division) hold(c cause, moments times) {
	before := d.free.long()
	d.free = d.free.without(moments)
	d.held[c] += before - d.free.long()
}

// queued attributes to a cause the wait in the queue that it built: the free time
// there, beyond the time that a request takes anyway, and at most as long as the
// cause's episodes in that chain. A queue delays no request by more than the pause
// that built it. If a service has other work queued anyway, the rest of the wait does
// not belong to the cause.
//
// The generator takes no time from the service. It only sends requests later, by at most
// the longest lag L in the chain. If all requests came L later, all would be done L
// later, so the lag of a request and its wait in the generator's queue together are at
// most L.
func (d *division) queued(c cause, own int64) { d.take(c, d.waited(c, own)) }

// waited is how long it waited in the queue that a cause built.
func (d *division) waited(c cause, own int64) int64 {
	since, r := min(d.since[c], d.unsent[c]), d.request
	if since == never {
		return 0
	}
	pause := d.evidence.maxDelay(c, since, r.Intended)
	for _, s := range d.free {
		pause += d.evidence.maxDelay(c, max(s.from, since), s.to)
	}
	if c == generatorQueue {
		pause = d.evidence.longestLag(since, r.Sent) - r.Lag
	}
	queued := d.free.within(since, r.Done)
	if d.evidence.shared && ofReplica(c) {
		queued = d.free.within(max(d.since[c], r.Sent), r.Done) +
			min(d.free.within(d.unsent[c], r.Sent), d.evidence.common[c].within(d.unsent[c], r.Intended))
	}
	return max(0, min(queued, d.left-own, pause))
}

// besideNeighbours attributes to neighbours the wait in the queue that they built.
// typical is the service time before they came. If they were there from the beginning,
// it is not known, and the median of the cell includes their effect. Then at least
// their share of the CPU time is attributed to them, of the time above own.
func (d *division) besideNeighbours(own, typical int64, known bool) {
	wait := d.waited(neighbours, typical)
	if since, r := d.since[neighbours], d.request; !known && since != never {
		if busy := d.evidence.episodes[neighbours].within(since, r.Done); busy > 0 {
			share := float64(d.evidence.maxDelay(neighbours, since, r.Done)) / float64(busy)
			wait = max(wait, int64(share*float64(d.waited(neighbours, own))))
		}
	}
	before := d.held[neighbours]
	d.take(neighbours, wait)
	if held := d.held[neighbours] - before; held > 0 {
		d.byAgents = int64(d.evidence.agents(d.since[neighbours], d.request.Done) * float64(held))
	}
}

func (d *division) take(c cause, amount int64) {
	amount = min(max(amount, 0), d.left)
	d.held[c] += amount
	d.left -= amount
}

// before attributes to the causes that come before the dependency. own is the shortest
// service time of the cell's requests.
func (d *division) before(own int64) {
	d.queued(generatorQueue, own)
	d.queued(throttling, own)
}

// after attributes to the dependency and to the causes after it, and then the rest.
// typical is the service time before the neighbours came, if that is known. Both own
// and typical include the usual wait for the dependency.
func (d *division) after(own, typical int64, known bool, calls *calls) {
	waited, usual := calls.match(d)
	d.take(dependency, min(waited, d.free.within(d.request.Sent, d.request.Done)))
	usual = min(usual, d.held[dependency])
	d.queued(restart, own-usual)
	d.besideNeighbours(own-usual, typical-usual, known)
	d.held[rest] = d.left
}
