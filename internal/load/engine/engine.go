package engine

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// lead is how far in the future an order takes effect, so that all loops receive it
// before that time.
const lead = 2 * time.Millisecond

// latestStart is how late a trial may start: requests that are already due are sent at
// once, and their lateness is recorded.
const latestStart = time.Second

// earliestStart is how far in the future a trial may start: much longer than a lab needs for
// its agents. A later start is on a clock that is ahead of this one, such as this one before
// it was set back.
const earliestStart = time.Minute

// Engine makes the traffic of one trial. It is opened, run once, and closed.
type Engine struct {
	plan    Plan
	zero    time.Time // origin of the engine's clock
	orders  *orders
	pollers []poller
	full    []chan handover
	spare   []chan *tally
	done    sync.WaitGroup
	size    int
	targets int // number of targets so far
}

// Open checks the plan and starts the loops. Connections are opened when requests need
// them. A service that refuses connections is not an error, because a trial measures
// that; a service that does not speak the requested TLS or HTTP/2 is an error.
func Open(plan Plan) (*Engine, error) {
	if err := plan.settle(); err != nil {
		return nil, err
	}
	e := &Engine{plan: plan, zero: time.Now(), orders: newOrders(), targets: len(plan.Targets)}
	for i := range plan.Threads {
		_, n := e.plan.place(plan.Load, e.share(i))
		e.size += n
	}
	if err := allowFiles(e.size, plan.Threads); err != nil {
		return nil, err
	}
	if err := e.plan.Transport.Fit(e.plan.Targets); err != nil {
		return nil, err
	}
	for i := range plan.Threads {
		p, err := newPoller(e.zero, &e.plan, e.share(i))
		if err != nil {
			e.release()
			return nil, err
		}
		e.pollers = append(e.pollers, p)
	}
	makeRoom(plan.Threads)
	for i := range plan.Threads {
		full, spare := make(chan handover, 64), make(chan *tally, 64)
		e.full, e.spare = append(e.full, full), append(e.spare, spare)
		spare <- newTally()
		l := newLoop(e.pollers[i], &e.plan, e.share(i), e.orders.newest(), spare, full)
		e.done.Go(func() {
			defer makeRoom(-1)
			runtime.LockOSThread() // never unlocked: the thread ends with the loop
			enter()
			l.run()
		})
	}
	return e, nil
}

func (e *Engine) share(thread int) int { return e.plan.Agent*e.plan.Threads + thread }

// Threads is the number of event loops.
func (e *Engine) Threads() int { return e.plan.Threads }

// Connections is the maximum number of connections of this agent.
func (e *Engine) Connections() int { return e.size }

// Run starts the load and follows it.
func (e *Engine) Run(at time.Time, take func(*Interval) error) error {
	if err := e.Start(at); err != nil {
		return err
	}
	return e.Follow(at, take)
}

// Start starts the trial at a wall-clock time; Follow returns its intervals. A later
// Stop takes effect after the start.
func (e *Engine) Start(at time.Time) error {
	late := time.Since(at)
	switch {
	case late < -earliestStart:
		return fmt.Errorf("start: the start time is in %v; synchronize the clocks of lab and agent, and do not set them back while a load begins", (-late).Round(time.Millisecond))
	case late > latestStart:
		return fmt.Errorf("start: the start time was %v ago; synchronize the clocks of lab and agent, or start later", late.Round(time.Millisecond))
	}
	e.order(order{start: true, at: time.Since(e.zero) - late})
	return nil
}

// Follow calls take with each interval, in order, of a trial that was started at the
// given time. take must not keep the histograms and slow requests. Follow returns
// after the last interval, or with the error that ended the trial, such as take's.
func (e *Engine) Follow(at time.Time, take func(*Interval) error) error { return e.collect(at, take) }

// Change replaces the load from now on; the new curve starts at zero. Waiting requests
// stay, or are dropped if drop is set; requests in flight are awaited. The load may be
// zero, so that a service can recover, until the next change. A change just before the
// end of a trial may have no effect.
func (e *Engine) Change(load Load, drop bool) error {
	switch {
	case load.Curve == nil:
		return errors.New("change: no load")
	case load.Open != e.plan.Load.Open:
		return errors.New("change: a closed loop cannot become an open loop, nor the reverse; prepare a new trial")
	case load.Requests > 0 || e.plan.Load.Requests > 0:
		return errors.New("change: a load of a number of requests can neither be changed nor replace another load")
	}
	next := e.plan
	next.Load = load
	if err := next.settleLoad(); err != nil {
		return fmt.Errorf("change: %w", err)
	}
	size := 0
	for i := range e.plan.Threads {
		_, n := e.plan.place(load, e.share(i))
		size += n
	}
	if err := allowFiles(size, e.plan.Threads); err != nil {
		return fmt.Errorf("change: %w", err)
	}
	e.order(order{load: &load, drop: drop, at: time.Since(e.zero) + lead})
	return nil
}

// Move replaces the targets from now on. Known targets keep their indices, even after
// they have gone; new ones are appended. A connection that now belongs to another
// target is closed, at once or after the answer that it waits for.
func (e *Engine) Move(targets []Target) error {
	switch {
	case len(present(targets)) == 0:
		return errors.New("move: no targets: name at least one replica")
	case len(targets) < e.targets:
		return fmt.Errorf("move: %d targets, but %d are known: known targets keep their indices", len(targets), e.targets)
	}
	if err := e.plan.settleTargets(targets); err != nil {
		return fmt.Errorf("move: %w", err)
	}
	e.targets = len(targets)
	e.order(order{targets: targets, at: time.Since(e.zero) + lead})
	return nil
}

// Stop ends the load. Run returns when all requests in flight have ended or timed out.
func (e *Engine) Stop() { e.order(order{stop: true, at: time.Since(e.zero) + lead}) }

// Close ends all traffic at once and waits for the loops to end; a running Run returns.
// The engine must not be used afterwards.
func (e *Engine) Close() {
	e.order(order{quit: true, at: time.Since(e.zero)})
	for _, full := range e.full {
		for range full { // discard
		}
	}
	e.done.Wait()
	e.release()
}

func (e *Engine) release() {
	for _, p := range e.pollers {
		p.Release()
	}
}

func (e *Engine) order(o order) {
	e.orders.add(o)
	for _, p := range e.pollers {
		p.Wake()
	}
}

// room counts the loops of this process.
var room struct {
	sync.Mutex
	loops int
}

// makeRoom raises GOMAXPROCS so that each loop has a processor, which it keeps even
// while it waits, and everything else has one.
func makeRoom(loops int) {
	room.Lock()
	defer room.Unlock()
	room.loops += loops
	if runtime.GOMAXPROCS(0) < room.loops+1 {
		runtime.GOMAXPROCS(room.loops + 1)
	}
}
