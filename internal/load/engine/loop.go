package engine

import (
	"math/rand/v2"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/port"
	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/slow"
	"github.com/millicore/millicore/internal/load/wire"
)

const (
	never      = time.Duration(1<<63 - 1)
	maxEvents  = 512
	bufferSize = 64 << 10
	// maxReads is how often one connection is read before it is the others' turn.
	maxReads = 16
)

// loop is one event loop: a share of the load on a share of the connections. All its
// times are on the engine's clock.
//
// The present time, l.now, is updated by tick after each call that takes time. tick
// also processes everything up to that time: requests that have become due, and ends
// of intervals. So every time stamp is within the open interval, except the kernel's
// stamps; see answered.
type loop struct {
	poller        poller
	plan          *Plan
	share, shares int
	mayWait       int           // maximum number of waiting requests
	spare         <-chan *tally // empty tallies from the collector
	full          chan<- handover

	targets  []Target
	present  []int32 // indices of the targets that have not gone
	sites    []site  // by target
	whose    int     // the target whose turn it is, an index into present
	slots    []slot
	from     int                 // index of the first slot among all agents' connections
	wanted   int                 // number of slots that the load may need
	wait     ring[time.Duration] // intended times of requests without a target yet
	inFlight list                // slots with a request under way, by the moment it was sent
	dialing  list                // slots whose connection is being made, by the moment that began
	free     int                 // slots that are ready or cold
	colds    int                 // of those, the cold ones
	conns    int                 // connections that have been made and have not ended
	shared   bool                // the poller counts connections, which slots share
	dials    int                 // begun since the loop last looked what has come
	again    []int32             // slots with more to read
	before   []int32             // the previous again, whose memory is reused
	events   []event
	buffer   []byte

	now    time.Duration
	away   time.Duration // when the first bytes of the last request left; 0: when it was sent
	last   time.Duration // the previous now
	awaits time.Duration // the deadline of the present wait
	stall  stall
	stale  bool          // time has passed since now was read
	obeyed *posted       // the last order that was executed
	zero   time.Duration // start of the trial; never until it is known

	source
	mix       mix
	heads     []wire.LastHead    // of answers, by kind of request
	intervals schedule.Intervals // since zero
	period
	past     []period // that have ended, the earliest first; see handOn
	bar      slow.Bar
	random   *rand.Rand // of the sample of slow requests
	seq      int
	dropAt   time.Duration // when requests that wait after the end are dropped
	bound    int           // requests that wait for a new connection
	held     bool          // requests wait for the next turn to start connections
	unread   bool          // events that came while the loop rested are not handled yet
	watches  bool          // answers are read as they come; see watch
	promised bool          // a connection is ready, and requests of its target wait for a new one
	moved    time.Duration // when the targets were last replaced
	portsAt  time.Duration // when a connection is tried after one had no port; 0: it had
	over     bool
}

// newLoop makes the loop of one share, which executes the orders after the given one.
func newLoop(p poller, plan *Plan, share int, after *posted, spare <-chan *tally, full chan<- handover) *loop {
	l := &loop{
		poller: p, plan: plan, share: share, shares: plan.shares(), mayWait: plan.mayWait(share),
		obeyed: after, spare: spare, full: full,
		mix:      newMix(plan, share),
		heads:    make([]wire.LastHead, len(plan.Kinds)),
		random:   rand.New(rand.NewPCG(plan.Seed, ^uint64(share))),
		inFlight: newList(),
		dialing:  newList(),
		events:   make([]event, maxEvents),
		buffer:   make([]byte, bufferSize),
		period:   period{tally: <-spare, boundary: never},
		zero:     never,
		dropAt:   never,
	}
	if p, ok := p.(port.Sharing); ok {
		l.shared = true
		p.Counted(l.opened, l.closed, l.received)
	}
	l.targets, l.present = plan.Targets, present(plan.Targets)
	l.source.due = never
	l.source.thinks = schedule.NewThinks(plan.Think, plan.Seed, share)
	l.from, l.wanted = plan.place(plan.Load, share)
	for range plan.Targets {
		l.sites = append(l.sites, newSite())
	}
	l.whose = l.from % len(l.present)
	return l
}

// run runs until the trial is over or the engine is closed.
func (l *loop) run() {
	l.extend()
	l.tick()
	for !l.over && l.mix.values.Err == nil && l.poller.Err() == nil {
		past := len(l.past)
		l.awaits = l.wakeAt()
		l.dials, l.held = 0, false
		how := l.waiting()
		n := l.poller.Wait(l.events, l.awaits, how)
		l.tick()
		// Closed connections come first, so that no request is assigned to one of
		// them.
		for i := range n {
			if ev := l.events[i]; ev.Ended && l.slots[ev.Slot].state == ready {
				l.handle(ev)
				l.events[i].Slot = -1
			}
		}
		for i := range n {
			if l.events[i].Slot >= 0 {
				l.handle(l.events[i])
			}
			l.unread = how == port.Resting && i+1 < n
			l.dispatch()
		}
		l.readOn()
		l.dispatch()
		l.expire()
		l.extend()
		l.dispatch()
		l.finish()
		l.handOn(past)
	}
	l.leave()
}

// waiting is how the loop waits until awaits.
func (l *loop) waiting() port.Waiting {
	switch {
	case l.awaits != l.source.next():
		return port.Roughly
	case l.rests():
		return port.Resting
	}
	return port.Exactly
}

// rests reports whether the kernel can keep answers until the next request is due, which
// saves half of the wake-ups: a connection is ready for it, and nothing waits for an
// answer.
func (l *loop) rests() bool {
	if !l.plan.Load.Open || l.plan.Transport.HTTP2 || l.plan.Waiting != nil || l.watches ||
		l.wait.len() > 0 || l.bound > 0 || l.dialing.n > 0 {
		return false
	}
	_, stands := l.room()
	return stands
}

// longMessage is a size in bytes that is less than the smallest buffer of a connection.
const longMessage = 16 << 10

// watch makes the loop read answers as they come from now on. Those that are long or come in
// parts, and long requests, are read and written together with the other side, which waits for
// the loop, or for the kernel's acknowledgement of a part. One that is as rare as a request of
// another kind every few seconds would be read up to 10 ms late, and its latency be the loop's.
func (l *loop) watch() { l.watches = true }

// wakeAt is the time at which the loop has to run even without an event.
func (l *loop) wakeAt() time.Duration {
	if len(l.again) > 0 || l.held || len(l.past) > 0 {
		return 0
	}
	at := l.next()
	if l.now < l.portsAt && l.wait.len() > 0 {
		at = min(at, l.portsAt)
	}
	if l.inFlight.head >= 0 {
		at = min(at, l.slots[l.inFlight.head].sent+l.plan.Timeout)
	}
	if l.dialing.head >= 0 {
		at = min(at, l.slots[l.dialing.head].began+l.plan.Timeout)
	}
	return at
}

// tick reads the clock and processes everything that is due by then.
func (l *loop) tick() {
	was := max(l.now, l.awaits)
	l.last, l.now = l.now, l.poller.Now()
	l.awaits, l.stale = 0, false
	if l.now-was > longPause && l.free > 0 && l.wait.len() == 0 {
		l.stall = stall{was, l.now}
	}
	for at := l.next(); at <= l.now; at = l.next() {
		l.step(at)
	}
}

// stall is a time in which the loop had room for a request but did not run: its
// process was stopped, throttled, or waited for a CPU.
type stall struct{ begin, end time.Duration }

// longPause is longer than any work of the loop.
const longPause = time.Millisecond

// lag is the send lag of a request that is sent now: the time since it was due and a
// connection was free. If many requests became due during a stall, some of them wait
// for connections after it. They were delayed by the stall too, so their lag includes
// it.
func (l *loop) lag(intended, freed time.Duration) time.Duration {
	freed = max(freed, l.moved) // before that, the request may have had another target
	lag := l.now - max(intended, freed)
	switch held := intended >= l.stall.begin && intended < l.stall.end; {
	case held && freed >= l.stall.end:
		lag += l.stall.end - intended
	case held && freed >= l.stall.begin: // without the stall, the loop would have used this connection
		lag = l.now - intended
	}
	return lag
}

// next is the time of the next scheduled action.
func (l *loop) next() time.Duration {
	at := min(l.boundary, l.source.next(), l.dropAt)
	if o := l.obeyed.next.Load(); o != nil {
		at = min(at, o.at)
	}
	return at
}

// step executes the scheduled action at the time at. The end of an interval comes
// first, then orders, so that a request that is due at that time belongs to the next
// interval, even if an order makes it due.
func (l *loop) step(at time.Duration) {
	switch o := l.obeyed.next.Load(); {
	case l.boundary <= at:
		l.turn()
	case o != nil && o.at <= at:
		l.obeyed = o
		l.obey(&o.order)
	case l.dropAt <= at:
		l.drop()
	default:
		l.admit(at)
	}
}

// obey executes an order as of its time. If the order arrived late, it takes effect as
// of the previous now, because later time stamps cannot be changed.
func (l *loop) obey(o *order) {
	at := max(o.at, l.last)
	switch {
	case o.start:
		l.zero, l.counted = o.at, o.at
		l.intervals = schedule.Intervals{
			Warmup: l.plan.Warmup,
			End:    l.plan.Load.Curve.Length() + l.plan.Warmup,
			Every:  l.plan.Interval,
		}
		l.source.begin(l.plan.Load, l.plan.Load.Curve.After(l.plan.Warmup), l, o.at)
		l.open(o.at)
	case o.targets != nil:
		l.move(o.targets, at)
	case l.zero == never: // a trial that has not started can only be ended
		l.over = l.over || o.stop || o.quit
	case o.quit:
		l.over = true
	case l.phase == signals.Drain, l.over: // the load has ended, perhaps at this very time
	case o.stop:
		l.intervals.End = max(at, l.begun) - l.zero
		if at > l.begun {
			l.drop()
			l.boundary = min(l.boundary, at)
			return
		}
		l.endLoad(l.begun)
		l.open(l.begun)
		l.drop() // in the drain: it does not count what was intended in the warm-up
	case o.load != nil && at-l.zero < l.intervals.End:
		l.intervals.End = at - l.zero + o.load.Curve.Length()
		l.boundary = l.zero + first(l.intervals.After(l.begun-l.zero))
		l.replaceLoad(*o.load, o.drop, at)
	}
}

// replaceLoad replaces the load. Users whose requests are dropped continue as if the
// requests had ended.
func (l *loop) replaceLoad(load Load, drop bool, at time.Duration) {
	dropped := 0
	if drop {
		dropped = l.drop()
	}
	l.source.begin(load, load.Curve, l, at)
	for range dropped {
		l.goOn(at, 0)
	}
	_, l.wanted = l.plan.place(load, l.share)
	l.bar.Reset()
}

// drop drops the waiting requests, and returns their number. Requests that are sent again
// are not among them: they were sent, and are awaited as those in flight.
func (l *loop) drop() (n int) {
	l.dropAt = never
	n = l.wait.len() + l.bound
	l.bound = 0
	for l.wait.len() > 0 {
		l.discard(l.wait.pop())
	}
	for i := l.dialing.head; i >= 0; i = l.slots[i].next {
		switch s := &l.slots[i]; {
		case s.bound && s.resent:
			l.bound++
		case s.bound:
			s.bound = false
			l.mix.giveBack(s, l.now)
			l.sites[s.target].dialing++ // for any request
			l.discard(s.intended)
		}
	}
	for t := range l.sites {
		for due := &l.sites[t].due; due.len() > 0; {
			l.discard(due.pop().intended)
		}
	}
	return n - l.bound
}

func (l *loop) discard(intended time.Duration) {
	if intended >= l.counted {
		l.tally.Dropped++
	}
}

// leave closes all connections.
func (l *loop) leave() {
	for i := range l.slots {
		if s := &l.slots[i]; s.state != cold {
			l.poller.Close(int32(i), s.state != ready)
			s.state = cold
		}
	}
	l.handOn(len(l.past))
	if err := l.mix.values.Err; err != nil {
		l.full <- handover{err: err}
	}
	close(l.full)
}

func first[A, B any](a A, _ B) A { return a }
