package engine

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/port"
	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
)

// world is a simulated poller: a clock that advances while a loop waits and by the
// configured cost of calls, and a service whose answers arrive at the times that a test
// sets.
type world struct {
	tb      testing.TB
	service service
	size    int // bytes of a request

	clock  time.Duration
	conns  []conn
	coming happenings
	order  int // makes what falls on the same moment happen in order
	failed error
	sent   []time.Duration // when each whole request was received
	last   []string        // what was written last of each
	waits  int             // calls of Wait
}

// service is the behaviour of the simulated service. A nil dial accepts at once.
type service struct {
	dial   func(at time.Duration, target int) (after time.Duration, out outcome)
	answer func(at time.Duration, target int) []piece
	admits func(at time.Duration) time.Duration // when a request may be written that the loop writes now; nil: at once
	cost   time.Duration                        // of each call on a connection
	shakes time.Duration                        // the last part of each dial
}

// piece is an event on a connection, a time after the previous piece or after the
// request: bytes arrive, or the connection ends.
type piece struct {
	after time.Duration
	bytes string
	end   outcome // ended, broken, or succeeded for none
}

type conn struct {
	generation int32
	target     int
	open       bool
	dialed     outcome
	made       time.Duration // when its dial ends
	got        int           // bytes of the present request
	inbox      string
	came       time.Duration // when the last of it did
	received   time.Duration // when the last request was received
	end        outcome
}

// happening is an event at a time: a piece on a connection, the end of a dial, or an
// action of the test.
type happening struct {
	at         time.Duration
	order      int
	slot       int32
	generation int32
	piece      piece
	dialed     bool
	do         func()
}

type happenings []happening

func (h happenings) Len() int { return len(h) }
func (h happenings) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].order < h[j].order
}
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *happenings) Push(x any)   { *h = append(*h, x.(happening)) }
func (h *happenings) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

func (w *world) expect(h happening) {
	w.order++
	h.order = w.order
	heap.Push(&w.coming, h)
}

// at schedules an action of the test.
func (w *world) at(at time.Duration, do func()) { w.expect(happening{at: at, do: do}) }

func (w *world) Now() time.Duration  { return w.clock }
func (w *world) Wake()               {}
func (w *world) Left() time.Duration { return 0 }
func (w *world) Shook(slot int32) port.Handshake {
	return port.Handshake{Began: w.conns[slot].made - w.service.shakes, Ended: w.conns[slot].made}
}
func (w *world) Move([]Target) {}
func (w *world) Err() error    { return w.failed }
func (w *world) Release()      {}

func (w *world) Wait(events []event, until time.Duration, how port.Waiting) int {
	w.waits++
	n := 0
	for n < len(events) {
		if len(w.coming) == 0 || w.coming[0].at > max(w.clock, until) {
			break
		}
		if w.coming[0].at > w.clock && n > 0 && how != port.Resting {
			break
		}
		h := heap.Pop(&w.coming).(happening)
		w.clock = max(w.clock, h.at)
		if h.do != nil {
			h.do()
			return n
		}
		if ev, ok := w.happen(h); ok {
			n = merge(events, n, ev)
		}
	}
	if n == 0 && len(w.coming) == 0 && until == never {
		w.tb.Fatal("the loop waits for ever")
	}
	if n == 0 || how == port.Resting {
		w.clock = max(w.clock, until)
	}
	return n
}

// merge adds an event to the first n, as epoll does: there is one for each connection.
func merge(events []event, n int, ev event) int {
	for i := range events[:n] {
		if e := &events[i]; e.Slot == ev.Slot && e.Generation == ev.Generation {
			e.Readable, e.Writable, e.Ended = e.Readable || ev.Readable, e.Writable || ev.Writable, e.Ended || ev.Ended
			return n
		}
	}
	events[n] = ev
	return n + 1
}

func (w *world) happen(h happening) (event, bool) {
	c := &w.conns[h.slot]
	if !c.open || c.generation != h.generation {
		return event{}, false
	}
	ev := event{Slot: h.slot, Generation: h.generation}
	if h.dialed {
		ev.Writable = true
		return ev, true
	}
	c.inbox += h.piece.bytes
	c.came = h.at
	if h.piece.end != succeeded {
		c.end, ev.Ended = h.piece.end, true
	}
	ev.Readable = true
	return ev, true
}

func (w *world) Dial(slot, generation int32, target int) outcome {
	for int(slot) >= len(w.conns) {
		w.conns = append(w.conns, conn{})
	}
	if w.conns[slot].open {
		w.tb.Fatalf("slot %d is dialed while its connection is open", slot)
	}
	w.clock += w.service.cost
	after, out := time.Duration(0), succeeded
	if w.service.dial != nil {
		after, out = w.service.dial(w.clock, target)
	}
	w.conns[slot] = conn{generation: generation, target: target, open: true, dialed: out, made: w.clock + after}
	if after == 0 {
		return out
	}
	w.expect(happening{at: w.clock + after, slot: slot, generation: generation, dialed: true})
	return wouldBlock
}

func (w *world) Dialed(slot int32) outcome { return w.conns[slot].dialed }

func (w *world) Write(slot int32, p []byte) (int, outcome) {
	c := &w.conns[slot]
	switch {
	case !c.open:
		w.tb.Fatalf("slot %d is written to while it is closed", slot)
	case c.end == broken:
		return 0, broken
	}
	if w.service.admits != nil && c.got == 0 {
		if at := w.service.admits(w.clock); at > w.clock {
			w.expect(happening{at: at, slot: slot, generation: c.generation, dialed: true}) // writable
			return 0, wouldBlock
		}
	}
	c.got += len(p)
	if c.got < w.size {
		return len(p), succeeded
	}
	c.got = 0
	w.clock += w.service.cost
	c.received = w.clock
	w.sent = append(w.sent, w.clock)
	w.last = append(w.last, string(p))
	at := w.clock
	for _, piece := range w.service.answer(w.clock, c.target) {
		at += piece.after
		w.expect(happening{at: at, slot: slot, generation: c.generation, piece: piece})
	}
	return len(p), succeeded
}

func (w *world) Read(slot int32, p []byte) (int, time.Duration, outcome) {
	c := &w.conns[slot]
	if !c.open {
		w.tb.Fatalf("slot %d is read while it is closed", slot)
	}
	w.clock += w.service.cost
	if c.inbox != "" {
		n := copy(p, c.inbox)
		c.inbox = c.inbox[n:]
		return n, c.came, succeeded
	}
	if c.end != succeeded {
		return 0, c.came, c.end
	}
	return 0, c.came, wouldBlock
}

func (w *world) Close(slot int32, _ bool) {
	if !w.conns[slot].open {
		w.tb.Fatalf("slot %d is closed twice", slot)
	}
	w.clock += w.service.cost
	w.conns[slot].open = false
}

func (w *world) Part(slot int32) { w.Close(slot, false) }

// good is an answer after a time.
func good(after time.Duration) []piece {
	return []piece{{after: after, bytes: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"}}
}

// lasts is a service that always answers after the same time.
func lasts(after time.Duration) service {
	return service{answer: func(time.Duration, int) []piece { return good(after) }}
}

const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// compiled and checked compile valid requests and checks.
func compiled(r wire.Request) *wire.Template {
	t, err := r.Compile()
	if err != nil {
		panic(err)
	}
	return t
}

func checked(c wire.Check) *wire.Checked {
	k, err := c.Compile()
	if err != nil {
		panic(err)
	}
	return k
}

// plan is a plan with the fields that tests rarely vary.
func plan(load Load) Plan {
	return Plan{
		Targets:  []Target{{Requests: []*wire.Template{compiled(wire.Request{Host: "x"})}}},
		Kinds:    []Kind{{Weight: 1, Check: checked(wire.Check{})}},
		Load:     load,
		Timeout:  time.Second,
		Interval: time.Second,
		Agents:   1,
		Seed:     1,
	}
}

func curve(tb testing.TB, stages ...schedule.Stage) *schedule.Curve {
	tb.Helper()
	c, err := schedule.NewCurve(stages)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// steady is one figure for a time.
func steady(tb testing.TB, figure float64, length time.Duration) *schedule.Curve {
	tb.Helper()
	return curve(tb, schedule.Stage{Length: length, From: figure, To: figure})
}

// startAt is when simulated trials start on the engine's clock; it is not 0, so that no
// test depends on the origin.
const startAt = 5 * time.Second

// epoch is when simulated trials start on the wall clock.
var epoch = time.Unix(1_700_000_000, 0)

// simulation is a trial in simulated worlds, one for each thread.
type simulation struct {
	plan   Plan
	worlds []*world
	engine *Engine
	loops  []*loop // once they have run
	first  *posted // before all orders
}

func simulate(tb testing.TB, p Plan, s service) *simulation {
	tb.Helper()
	if err := p.settle(); err != nil {
		tb.Fatal(err)
	}
	sim := &simulation{plan: p, engine: &Engine{plan: p, orders: newOrders()}}
	sim.first = sim.engine.orders.newest()
	for range p.Threads {
		w := &world{tb: tb, service: s, size: len(request)}
		sim.worlds = append(sim.worlds, w)
		sim.engine.pollers = append(sim.engine.pollers, w)
	}
	sim.engine.orders.add(order{start: true, at: startAt})
	return sim
}

// at issues an order for a time since the start, a lead ahead as the engine does.
func (s *simulation) at(at time.Duration, o order) {
	o.at = startAt + at
	var once bool
	for _, w := range s.worlds {
		w.at(o.at-lead, func() {
			if !once {
				s.engine.orders.add(o)
			}
			once = true
		})
	}
}

// interval is an Interval that may be kept.
type interval struct {
	seq        int
	start, end time.Duration
	phase      signals.Phase
	*signals.Client
}

// run runs the loops one after another and returns their intervals.
func (s *simulation) run(tb testing.TB) []interval {
	tb.Helper()
	for i, w := range s.worlds {
		full := make(chan handover, 10000)
		spare := make(chan *tally, 10000)
		spare <- newTally()
		s.engine.full, s.engine.spare = append(s.engine.full, full), append(s.engine.spare, spare)
		l := newLoop(w, &s.plan, s.engine.share(i), s.first, spare, full)
		l.run()
		s.loops = append(s.loops, l)
		for slot := range w.conns {
			if w.conns[slot].open {
				tb.Errorf("slot %d is open after the end", slot)
			}
		}
	}
	var all []interval
	err := s.engine.collect(epoch, func(i *Interval) error {
		c := *i.Client
		c.Latency, c.Service, c.SendLag = signals.NewHistogram(), signals.NewHistogram(), signals.NewHistogram()
		c.Latency.Merge(i.Client.Latency)
		c.Service.Merge(i.Client.Service)
		c.SendLag.Merge(i.Client.SendLag)
		if i.Client.FirstByte != nil {
			c.FirstByte = signals.NewHistogram()
			c.FirstByte.Merge(i.Client.FirstByte)
		}
		c.Slow = slices.Clone(i.Client.Slow)
		all = append(all, interval{seq: i.Seq, start: i.Start.Sub(epoch), end: i.End.Sub(epoch), phase: i.Phase, Client: &c})
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// total adds up intervals of some phases; all if none is named.
func total(all []interval, phases ...signals.Phase) *tally {
	sum := newTally()
	for _, i := range all {
		if len(phases) > 0 && !strings.Contains(joined(phases), string(i.phase)) {
			continue
		}
		t := tally{Client: *i.Client, first: signals.NewHistogram()}
		t.InFlight, t.Waiting, t.Users, t.Rate = 0, 0, 0, 0
		for code, n := range i.Status {
			t.status[number(code)] = n
		}
		sum.add(&t)
	}
	sum.client()
	return sum
}

func joined(phases []signals.Phase) string {
	var b strings.Builder
	for _, p := range phases {
		b.WriteString(string(p) + " ")
	}
	return b.String()
}

func number(code string) (n int) {
	for signals.StatusName(n) != code {
		n++
	}
	return n
}

// replicas are n targets that get the same request; those in gone have gone.
func replicas(n int, gone ...int) []Target {
	var all []Target
	for i := range n {
		t := Target{Requests: []*wire.Template{compiled(wire.Request{Host: "x"})}}
		if slices.Contains(gone, i) {
			t = Target{Gone: true}
		}
		all = append(all, t)
	}
	return all
}

// perSecond counts the requests of each target in each second of a trial.
type perSecond map[time.Duration][]int

func (a perSecond) service(after time.Duration) service {
	return service{answer: func(at time.Duration, target int) []piece {
		second := (at - startAt).Truncate(time.Second)
		for len(a[second]) <= target {
			a[second] = append(a[second], 0)
		}
		a[second][target]++
		return good(after)
	}}
}

func (a perSecond) check(t *testing.T, want map[time.Duration]string) {
	t.Helper()
	for second, counts := range want {
		if got := fmt.Sprint(a[second]); got != counts {
			t.Errorf("from %v on the targets got %s; want %s", second, got, counts)
		}
	}
}
