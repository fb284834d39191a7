package engine

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// lead is how far ahead an order is dated, so that all loops know of it before
// its moment comes.
const lead = 2 * time.Millisecond

// latestStart is how long after its moment a trial may still be started: what
// was due meanwhile is sent at once, and stamped as late as it is.
const latestStart = time.Second

// connectWithin is how long Open waits for connections. Those that take longer
// are made while the trial runs.
const connectWithin = 3 * time.Second

// Engine makes the traffic of one trial. It is opened, run once, and closed.
type Engine struct {
	plan    Plan
	zero    time.Time // of the engine's clock
	orders  *orders
	ports   []port
	full    []chan handover
	spare   []chan *tally
	done    sync.WaitGroup
	size    int
	targets int // how many are known
}

// Open checks the plan, starts the loops and makes the connections. It returns
// when each is made or refused, or has taken too long; a service that refuses is
// no error, since that is what a trial may find.
func Open(plan Plan) (*Engine, error) {
	if err := plan.settle(); err != nil {
		return nil, err
	}
	e := &Engine{plan: plan, zero: time.Now(), orders: newOrders(), targets: len(plan.Targets)}
	for i := range plan.Threads {
		_, n := e.plan.place(plan.Load, e.share(i))
		e.size += n
	}
	if err := allowFiles(e.size); err != nil {
		return nil, err
	}
	for range plan.Threads {
		p, err := newPort(e.zero, &e.plan)
		if err != nil {
			e.release()
			return nil, err
		}
		e.ports = append(e.ports, p)
	}
	makeRoom(plan.Threads)
	var settled sync.WaitGroup
	for i := range plan.Threads {
		full, spare := make(chan handover, 64), make(chan *tally, 64)
		e.full, e.spare = append(e.full, full), append(e.spare, spare)
		spare <- newTally()
		settled.Add(1)
		l := newLoop(e.ports[i], &e.plan, e.share(i), e.orders.newest(), spare, full, settled.Done)
		e.done.Go(func() {
			defer makeRoom(-1)
			runtime.LockOSThread() // for good: the thread ends with the loop
			enter()
			l.connect()
			l.run()
		})
	}
	connected := make(chan struct{})
	go func() {
		settled.Wait()
		close(connected)
	}()
	select {
	case <-connected:
	case <-time.After(connectWithin):
	}
	for _, p := range e.ports {
		if err := p.err(); err != nil {
			e.Close()
			return nil, err
		}
	}
	return e, nil
}

func (e *Engine) share(thread int) int { return e.plan.Agent*e.plan.Threads + thread }

// Threads is the number of event loops.
func (e *Engine) Threads() int { return e.plan.Threads }

// Connections is the number of connections of this agent.
func (e *Engine) Connections() int { return e.size }

// Run is Start and Follow in one.
func (e *Engine) Run(at time.Time, take func(*Interval) error) error {
	if err := e.Start(at); err != nil {
		return err
	}
	return e.Follow(at, take)
}

// Start starts the trial at a moment of the wall clock; Follow gives what comes
// of it. A Stop that follows is obeyed after it.
func (e *Engine) Start(at time.Time) error {
	late := time.Since(at)
	if late > latestStart {
		return fmt.Errorf("start: the moment to start at was %v ago; set the clocks of lab and agent, or start later", late.Round(time.Millisecond))
	}
	e.order(order{start: true, at: time.Since(e.zero) - late})
	return nil
}

// Follow gives each interval of a trial that was started at a moment to take,
// in order, which must not keep its histograms and slow requests. It returns
// after the last interval, or with an error that ended the trial, take's among
// them.
func (e *Engine) Follow(at time.Time, take func(*Interval) error) error { return e.collect(at, take) }

// Change replaces the load from now on; its curve's time begins anew. Requests
// that are due and not sent by then stay, or are dropped if that is asked for;
// those under way are awaited. A load of zero is one: it lets a service recover,
// and the next change ends it. In the last moments of a trial a change comes too
// late and changes nothing.
func (e *Engine) Change(load Load, drop bool) error {
	switch {
	case load.Curve == nil:
		return errors.New("change: no load")
	case load.Open != e.plan.Load.Open:
		return errors.New("change: a closed loop and an open loop cannot replace one another; prepare a new trial")
	case load.Requests > 0 || e.plan.Load.Requests > 0:
		return errors.New("change: a load by a number of requests cannot be changed nor changed to")
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
	if err := allowFiles(size); err != nil {
		return fmt.Errorf("change: %w", err)
	}
	e.order(order{load: &load, drop: drop, at: time.Since(e.zero) + lead})
	return nil
}

// Move replaces the targets from now on: one that was known keeps its place, also
// once it has gone, and new ones stand behind. A connection
// that is to go to another target than it does is closed after its next answer,
// and made anew; one to a target that has gone takes no more requests.
func (e *Engine) Move(targets []Target) error {
	switch {
	case len(present(targets)) == 0:
		return errors.New("move: no targets: name at least one replica")
	case len(targets) < e.targets:
		return fmt.Errorf("move: %d targets, and %d are known: those keep their places", len(targets), e.targets)
	}
	if err := e.plan.settleTargets(targets); err != nil {
		return fmt.Errorf("move: %w", err)
	}
	e.targets = len(targets)
	e.order(order{targets: targets, at: time.Since(e.zero) + lead})
	return nil
}

// Stop ends the load. Run returns when what is in flight has ended or timed out.
func (e *Engine) Stop() { e.order(order{stop: true, at: time.Since(e.zero) + lead}) }

// Close ends all traffic at once and waits for the loops to end; a Run under
// way returns. Nothing may be asked of the engine afterwards.
func (e *Engine) Close() {
	e.order(order{quit: true, at: time.Since(e.zero)})
	for _, full := range e.full {
		for range full { // of use to nobody any more
		}
	}
	e.done.Wait()
	e.release()
}

func (e *Engine) release() {
	for _, p := range e.ports {
		p.release()
	}
}

func (e *Engine) order(o order) {
	e.orders.add(o)
	for _, p := range e.ports {
		p.wake()
	}
}

// room counts the loops of this process.
var room struct {
	sync.Mutex
	loops int
}

// makeRoom gives the Go scheduler a processor for each loop, which keeps it even
// while it waits, and one for all else.
func makeRoom(loops int) {
	room.Lock()
	defer room.Unlock()
	room.loops += loops
	if runtime.GOMAXPROCS(0) < room.loops+1 {
		runtime.GOMAXPROCS(room.loops + 1)
	}
}
