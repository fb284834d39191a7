package engine

import (
	"math/rand/v2"
	"time"

	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
	"github.com/millicore/millicore/internal/signals"
)

const (
	never      = time.Duration(1<<63 - 1)
	maxEvents  = 512
	bufferSize = 64 << 10
	// maxReads is how often one connection is read before the others get
	// their turn.
	maxReads = 16
)

// loop is one event loop: a share of the load on a share of the connections.
// All its moments are on the engine's clock.
//
// The present moment, l.now, is read anew by tick after each call that takes
// time, and tick first brings the books up to that moment: requests that have
// come due, and the ends of intervals. So every stamp falls into the interval
// that is open; for what the kernel stamped before, see answered.
type loop struct {
	port          port
	plan          *Plan
	share, shares int
	mayWait       int           // requests that are due and have no connection
	spare         <-chan *tally // empty tallies that the collector gave back
	full          chan<- handover
	settled       func() // called once, when the first dials have ended

	targets []Target
	present []int32 // indexes of the targets that have not gone
	slots   []slot
	from    int                 // place of the first slot among all agents' connections
	wanted  int                 // slots, once all have been added
	nextAt  time.Duration       // when the next of them is added
	free    ring[int32]         // slots without a request, the longest idle first
	wait    ring[time.Duration] // when the waiting requests were intended
	flying  list                // slots with a request under way, by the moment it was sent
	dialing list                // slots whose connection is being made, by the moment that began
	again   []int32             // slots with more to read
	before  []int32             // memory of an earlier again
	events  []event
	buffer  []byte

	now    time.Duration
	last   time.Duration // what now was before
	awaits time.Duration // when the present wait was to end at the latest
	stall  stall
	stale  bool          // time has gone by since now was read
	obeyed *posted       // the last order that was obeyed
	zero   time.Duration // start of the trial; never before it is known

	source
	mix       mix
	heads     []wire.LastHead    // of answers, by kind of request
	intervals schedule.Intervals // since zero
	tally     *tally
	bar       bar
	random    *rand.Rand // of the sample of slow requests
	seq       int
	begun     time.Duration // start of the present interval
	boundary  time.Duration // its end
	phase     signals.Phase
	counted   time.Duration // requests intended before are carried, not counted
	dropAt    time.Duration // when requests that still wait after the end are dropped
	bound     int           // requests that wait for a connection of their own to be made
	over      bool
}

// newLoop makes the loop of one share, which obeys the orders after one.
func newLoop(p port, plan *Plan, share int, after *posted, spare <-chan *tally, full chan<- handover, settled func()) *loop {
	l := &loop{
		port: p, plan: plan, share: share, shares: plan.shares(), mayWait: plan.mayWait(share),
		obeyed: after, spare: spare, full: full, settled: settled,
		mix:      newMix(plan, share),
		heads:    make([]wire.LastHead, len(plan.Kinds)),
		random:   rand.New(rand.NewPCG(plan.Seed, ^uint64(share))),
		flying:   list{head: -1, tail: -1},
		dialing:  list{head: -1, tail: -1},
		events:   make([]event, maxEvents),
		buffer:   make([]byte, bufferSize),
		tally:    <-spare,
		zero:     never,
		boundary: never,
		dropAt:   never,
	}
	l.targets, l.present = plan.Targets, present(plan.Targets)
	l.source.due = never
	l.source.thinks = thinker{mean: plan.Think, random: rand.New(rand.NewPCG(plan.Seed^ofThought, uint64(share)))}
	l.from, _ = plan.place(plan.Load, share)
	return l
}

// run works until the trial is over or quit.
func (l *loop) run() {
	l.tick()
	for !l.over && l.port.err() == nil {
		if l.dialing.n == 0 {
			l.settle()
		}
		l.awaits = l.wakeAt()
		n := l.port.wait(l.events, l.awaits, l.awaits == l.source.next())
		l.tick()
		// Connections that have closed come first, so that no request is
		// given to one that is known to be gone.
		for i := range n {
			if ev := l.events[i]; ev.ended && l.slots[ev.slot].state == ready {
				l.handle(ev)
				l.events[i].slot = -1
			}
		}
		for i := range n {
			if l.events[i].slot >= 0 {
				l.handle(l.events[i])
			}
			l.dispatch()
		}
		l.readOn()
		l.dispatch()
		l.expire()
		l.dispatch()
		l.extend()
		l.finish()
	}
	l.leave()
}

// wakeAt is the moment at which the loop has to work even if nothing comes.
func (l *loop) wakeAt() time.Duration {
	if len(l.again) > 0 {
		return 0
	}
	at := min(l.next(), l.extendAt())
	if l.flying.head >= 0 {
		at = min(at, l.slots[l.flying.head].sent+l.plan.Timeout)
	}
	if l.dialing.head >= 0 {
		at = min(at, l.slots[l.dialing.head].began+l.plan.Timeout)
	}
	return at
}

// tick reads the clock and brings the books up to it.
func (l *loop) tick() {
	was := max(l.now, l.awaits)
	l.last, l.now = l.now, l.port.now()
	l.awaits, l.stale = 0, false
	if l.now-was > longPause && l.free.len() > 0 && l.wait.len() == 0 {
		l.stall = stall{was, l.now}
	}
	for at := l.next(); at <= l.now; at = l.next() {
		l.step(at)
	}
}

// stall is a time in which the loop had connections free and did not run: its
// process was stopped, throttled, or found no CPU.
type stall struct{ begin, end time.Duration }

// longPause is what no work of the loop takes.
const longPause = time.Millisecond

// lag is for how long the loop failed to send a request that was due while a
// connection was free. Behind a stall many requests may have come due, and those
// that then queue for connections were held up by it all the same.
func (l *loop) lag(intended, freed time.Duration) time.Duration {
	lag := l.now - max(intended, freed)
	switch held := intended >= l.stall.begin && intended < l.stall.end; {
	case held && freed >= l.stall.end:
		lag += l.stall.end - intended
	case held && freed >= l.stall.begin: // the loop would have found that, and sent what came due before
		lag = l.now - intended
	}
	return lag
}

// next is the moment of the next thing that happens by itself.
func (l *loop) next() time.Duration {
	at := min(l.boundary, l.source.next(), l.dropAt)
	if o := l.obeyed.next.Load(); o != nil {
		at = min(at, o.at)
	}
	return at
}

// step does the one thing that falls on the moment at. Orders come first, then
// the end of an interval, so that a request due at that end belongs to the next.
func (l *loop) step(at time.Duration) {
	switch o := l.obeyed.next.Load(); {
	case o != nil && o.at <= at:
		l.obeyed = o
		l.obey(&o.order)
	case l.boundary <= at:
		l.turn()
	case l.dropAt <= at:
		l.drop()
	default:
		l.admit(at)
	}
}

// obey does what an order says, as of its moment; where that was told too late,
// as of the last one, since what has been stamped meanwhile stands.
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
		l.targets, l.present = o.targets, present(o.targets)
		l.port.move(o.targets)
	case l.zero == never: // a trial that has not begun is only ended
		l.over = l.over || o.stop || o.quit
	case o.quit:
		l.over = true
	case l.phase == signals.Drain:
	case o.stop:
		l.drop()
		l.intervals.End = max(at, l.begun) - l.zero
		if at > l.begun {
			l.boundary = min(l.boundary, at)
			return
		}
		l.endLoad(l.begun)
		l.open(l.begun)
	case o.load != nil && at-l.zero < l.intervals.End:
		l.intervals.End = at - l.zero + o.load.Curve.Length()
		l.boundary = l.zero + first(l.intervals.After(l.begun-l.zero))
		l.replaceLoad(*o.load, o.drop, at)
	}
}

// replaceLoad makes the load another one. Users whose requests are dropped go on
// as if those had ended.
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
	l.nextAt = at
	l.bar.reset()
}

// open begins an interval at a moment.
func (l *loop) open(at time.Duration) {
	end, phase := l.intervals.After(at - l.zero)
	l.begun, l.boundary, l.phase = at, l.zero+end, phase
	if phase != signals.Warmup {
		l.counted = l.zero + l.plan.Warmup
	}
}

// turn ends the present interval at its boundary and begins the next.
func (l *loop) turn() {
	end := l.boundary
	l.tally.InFlight = int64(l.flying.n)
	l.tally.Waiting = int64(l.wait.len() + l.bound)
	if l.phase != signals.Drain {
		l.source.report(l.tally, end)
	}
	if end-l.zero >= l.intervals.End {
		if l.phase != signals.Drain {
			l.endLoad(end)
		}
		l.over = l.idle()
	}
	l.handOver(end, l.over)
	if !l.over {
		l.open(end)
	} else {
		l.boundary, l.dropAt = never, never
	}
}

// endLoad makes no more requests due after a moment. Those that still wait are
// sent if a connection becomes free within the timeout.
func (l *loop) endLoad(at time.Duration) {
	l.source.end()
	l.wanted = 0
	l.dropAt = at + l.plan.Timeout
}

// idle tells whether no request is under way or waits.
func (l *loop) idle() bool { return l.flying.n == 0 && l.bound == 0 && l.wait.len() == 0 }

// finish ends the trial where nothing is left to be done.
func (l *loop) finish() {
	if l.over || l.zero == never {
		return
	}
	if done := l.source.exhausted(); !done && (l.phase != signals.Drain || !l.idle()) {
		return
	}
	l.over = true
	if l.phase != signals.Drain {
		l.source.report(l.tally, l.now)
	}
	l.handOver(max(l.now, l.begun+1), true) // no interval is empty
}

// handOver gives the present tally away and takes an empty one.
func (l *loop) handOver(end time.Duration, last bool) {
	l.full <- handover{
		seq: l.seq, start: l.begun - l.zero, end: end - l.zero,
		phase: l.phase, tally: l.tally, last: last,
	}
	l.seq++
	l.bar.turn()
	select {
	case l.tally = <-l.spare:
	default:
		l.tally = newTally() // the collector is behind
	}
}

// drop gives up the requests that are due and were not sent, and returns how
// many they are.
func (l *loop) drop() (n int) {
	l.dropAt = never
	n = l.wait.len() + l.bound
	for l.wait.len() > 0 {
		l.discard(l.wait.pop())
	}
	for i := l.dialing.head; i >= 0; i = l.slots[i].next {
		if s := &l.slots[i]; s.bound {
			s.bound = false
			l.bound--
			l.discard(s.intended)
		}
	}
	return n
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
			l.port.close(int32(i), s.state != ready)
			s.state = cold
		}
	}
	l.settle()
	close(l.full)
}

func (l *loop) settle() {
	if l.settled != nil {
		l.settled()
		l.settled = nil
	}
}

func first[A, B any](a A, _ B) A { return a }
