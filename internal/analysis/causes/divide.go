package causes

import "github.com/millicore/millicore/internal/signals"

// division divides one request's time, from intended to done, in nanoseconds.
type division struct {
	request *signals.SlowLine
	ground  *ground
	since   [causes]int64 // it stands in a queue that the cause built; or never

	free     times // moments for which there is no direct evidence
	left     int64 // not given to a cause yet; in the end the rest
	held     [causes]int64
	directly int64 // throttled, within windows
}

// direct gives away the moments for which there is direct evidence: the lag of
// the generator, then windows of the replica. What happened in a moment is known
// for these, and only guessed for all that comes later.
func (d *division) direct() {
	r := d.request
	d.free = union(stretch{r.Intended, r.Done})
	d.hold(generator, union(stretch{r.Sent - r.Lag, r.Sent}))
	d.hold(throttling, d.ground.throttled.during(r.Intended, r.Done))
	d.hold(restart, d.down())
	d.directly = d.held[throttling]
	d.left = d.free.long()
}

// down is when the replica was down. A request that timed out and was under way
// in a down window was lost with the process: nothing worked at it from then on.
func (d *division) down() times {
	r := d.request
	windows := d.ground.down.during(r.Intended, r.Done)
	if r.TimedOut {
		if lost := d.ground.down.during(r.Sent, r.Done); len(lost) > 0 {
			return union(append(windows, stretch{lost[0].from, r.Done})...)
		}
	}
	return windows
}

// hold gives the free moments among some to a cause.
func (d *division) hold(c cause, moments times) {
	before := d.free.long()
	d.free = d.free.without(moments)
	d.held[c] += before - d.free.long()
}

// queued gives to a cause what the request waited in the queue that it built:
// its free time there, above the own time that a request takes in any case, and
// at most as long as the cause's episodes in that chain lasted. A queue delays
// no request by more than the pause that built it: where a service has other
// work queued anyway, the rest of the wait is not the cause's.
func (d *division) queued(c cause, own int64) {
	since := d.since[c]
	if since == never {
		return
	}
	r := d.request
	pause := d.ground.lost(c, since, r.Intended)
	for _, s := range d.free {
		pause += d.ground.lost(c, max(s.from, since), s.to)
	}
	d.take(c, min(d.free.within(since, r.Done), d.left-own, pause))
}

func (d *division) take(c cause, amount int64) {
	amount = min(max(amount, 0), d.left)
	d.held[c] += amount
	d.left -= amount
}

// before gives away what comes before the dependency. own is the least that a
// request of the cell takes, of done - sent.
func (d *division) before(own int64) {
	d.queued(generator, own)
	d.queued(throttling, own)
}

// after gives away the rest: to the dependency, and to what comes after it.
// typical is what a request took before the neighbours came, of done - sent. What
// it usually waits for the dependency is part of both.
func (d *division) after(own, typical int64, calls *calls) {
	waited, usual := calls.match(d)
	d.take(dependency, min(waited, d.free.within(d.request.Sent, d.request.Done)))
	usual = min(usual, d.held[dependency])
	d.queued(restart, own-usual)
	d.queued(neighbours, typical-usual)
	d.held[rest] = d.left
}
