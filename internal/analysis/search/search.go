// Package search finds the breaking point: the highest load whose steady
// windows meet the objective. It is a pure state machine over noisy
// observations: Next names a load to hold and a window to measure, Saw takes
// what the window showed, Result is the answer. It knows no clock, no service
// and no unit of load, and the same observations always lead to the same steps,
// so that a search can be replayed from its record.
//
// How much a window tells is the business of [curve]; where to look next, of
// stages.go; how a search ends, of ends.go.
package search

import (
	"math"
	"time"
)

// Config says what is searched.
type Config struct {
	First float64 // load to begin with
	Most  float64 // highest load that may be asked for; 0: no bound
	Whole bool    // loads are whole numbers (users)

	// The objective as shares of requests, 0..1. Negative: not asked.
	AllowedLate float64 // may be late: 0.01 for a p99
	AllowedBad  float64 // may end without a good answer: 0.001 for 99.9%

	// Late is the objective's latency, beyond which a request is late; 0: not
	// known, and taken for 100 ms. It tells how long an overload takes until it
	// shows, and how long a burst is remembered.
	Late time.Duration

	Block  time.Duration // settle and window are whole multiples of it
	Budget time.Duration // most traffic: settling and windows together
	// Patience is the most traffic of steps that others disturbed before the
	// bracket was found. They are made again, and Budget does not pay for them, as
	// nothing is known yet that they could make less sure. 0: as much as Budget.
	Patience time.Duration
}

// Stage of the search.
type Stage string

const (
	Bracket Stage = "bracket" // double until the objective is missed
	Narrow  Stage = "narrow"
	Test    Stage = "test"    // longer windows at the answer
	Recover Stage = "recover" // at a load that was held before: does it still work?
)

// Step is a load to hold.
type Step struct {
	Number int // from 0
	Stage  Stage
	Load   float64
	Drain  bool          // first wait until no request is under way and every replica is up
	Settle time.Duration // hold the load so long before the window
	Window time.Duration
}

// Block is what one piece of a window showed.
type Block struct {
	Requests int64 // that ended, plus those that are overdue at the window's end
	Late     int64 // of those, later than the objective's latency
	Bad      int64 // of those, without a good answer
	Overdue  int64 // of those that are not bad: still under way
}

// Observation is what a step's window showed, in blocks of Config.Block in
// their order. A window that was cut short has fewer of them.
type Observation struct {
	Blocks []Block
	// Limited is that the generator or the host, not the service, was the
	// limit: a missed objective then says nothing about the service.
	Limited bool
	// Disturbed is who else took CPU in the window.
	Disturbed Disturber
	// Gone is that the service can no longer be measured, in words: it died and
	// did not come back. It ends the search.
	Gone string
}

// Result is the answer. Load, Low and High are zero where nothing was found.
type Result struct {
	Load    float64
	Low     float64 // of the 95% interval
	High    float64 // of the 95% interval; +Inf where AtLeast
	Tested  float64 // the load of the last test window that was held; 0: none
	AtLeast bool    // a lower bound: the service was not seen to break
	Limited bool    // because the generator or the host was the limit
	// Reason says in words why there is no answer, or why it is only a bound or
	// wide; "" where nothing is to be said.
	Reason  string
	Traffic time.Duration // settling and windows
}

// Search is one search under way.
type Search struct {
	config Config
	late   *curve // nil: not asked
	bad    *curve

	stage   Stage
	step    Step // the last one given
	given   bool // and not yet seen
	steps   int
	traffic time.Duration // that Budget pays for
	wasted  time.Duration // that Patience pays for
	load    float64       // of the next step
	drain   bool          // before it

	met             []float64 // loads whose windows met the objective
	failed          []float64 // loads whose windows missed it
	missed          float64   // bracket: the lowest load that clearly missed; 0: none
	lowest, highest float64   // loads that were looked at
	ceiling         float64   // no higher load is asked for
	limited         bool      // the ceiling is the generator's
	limit           float64   // the lowest load that it could not make
	between         int       // loads tried between the ceiling and that one
	narrowed        int       // windows of the stage Narrow
	misses          []float64 // loads that clearly missed, once the bracket was found
	confirmed       int       // of them, tried again
	before          look      // the last one
	longest         float64   // s for which one load, or loads near one another, were held
	posteriors      []posterior
	tested          float64
	again           repeats
	doubt           suspicion

	done   bool
	result Result
}

// repeats counts windows that said nothing.
type repeats struct {
	empty     int       // without a request, one after the other
	limited   int       // missed while the generator was the limit, one after the other
	disturbed int       // once the bracket was found
	clean     int       // not disturbed, once the bracket was found
	by        Disturber // once the bracket was found
	early     Disturber // before
}

// New begins a search.
func New(c Config) *Search {
	c = c.sane()
	s := &Search{config: c, stage: Bracket, load: c.First, ceiling: c.Most}
	if missable(c.AllowedLate) {
		s.late = &curve{allowed: clamp(c.AllowedLate), latency: c.Late.Seconds(), users: c.Whole}
	}
	if missable(c.AllowedBad) {
		s.bad = &curve{allowed: clamp(c.AllowedBad)}
	}
	if s.late == nil && s.bad == nil {
		s.fail("no objective was asked that a load could miss; name a latency or an availability")
	}
	return s
}

// Missed reports whether the requests of some blocks together miss the
// objective: more of them are late, or have no good answer, than may be.
func (c Config) Missed(blocks []Block) bool {
	var all, late, bad float64
	for _, b := range blocks {
		x, y, z := b.counts()
		all, late, bad = all+x, late+y, bad+z
	}
	return above(late, all, c.AllowedLate) || above(bad, all, c.AllowedBad)
}

// missable reports whether a load could miss an objective that allows this share
// of the requests to fail: all of them may always, and a negative one was not
// asked.
func missable(allowed float64) bool { return allowed >= 0 && allowed < 1 }

// above reports whether k of n requests are more than an objective allows.
func above(k, n, allowed float64) bool { return missable(allowed) && k > clamp(allowed)*n }

// clamp keeps an allowed share where a curve can cross it.
func clamp(share float64) float64 { return min(max(share, 1e-5), 0.99) }

// highestLoad is where a search ends that has no bound of its own.
const highestLoad = 1e9

// sane replaces what makes no sense by what does, so that a search always ends.
func (c Config) sane() Config {
	if !(c.Most > 0 && c.Most <= highestLoad) {
		c.Most = highestLoad
	}
	if !(c.First > 0) {
		c.First = 1
	}
	if c.Whole {
		c.First, c.Most = math.Max(1, math.Floor(c.First)), math.Max(1, math.Floor(c.Most))
	}
	c.First = max(min(c.First, c.Most), 1e-6)
	c.Most = max(c.Most, c.First)
	if c.Block <= 0 {
		c.Block = 500 * time.Millisecond
	}
	if c.Budget <= 0 {
		c.Budget = 58 * time.Second
	}
	if c.Late <= 0 {
		c.Late = 100 * time.Millisecond
	}
	if c.Patience <= 0 {
		c.Patience = c.Budget
	}
	if math.IsNaN(c.AllowedLate) {
		c.AllowedLate = -1
	}
	if math.IsNaN(c.AllowedBad) {
		c.AllowedBad = -1
	}
	return c
}

// Next gives the next step, or false where the search has ended. Asked again
// before Saw, it gives the same step.
func (s *Search) Next() (Step, bool) {
	if s.done {
		return Step{}, false
	}
	if s.given {
		return s.step, true
	}
	settle, window := s.lengths()
	step, ok := s.recovery(window <= 0)
	if !ok {
		step = Step{Stage: s.stage, Load: s.load, Drain: s.drain, Settle: settle, Window: window}
	}
	if step.Window <= 0 || s.steps >= mostSteps {
		s.finish()
		return Step{}, false
	}
	step.Number = s.steps
	s.step, s.given = step, true
	s.steps++
	return s.step, true
}

// Saw takes what the step that Next gave last has shown. It reports whether that
// is used: a window that was disturbed, or in which the generator was the limit,
// is left out, and its step given again; one of the stage Recover is left out too.
func (s *Search) Saw(o Observation) (used bool) {
	if s.done || !s.given {
		return false
	}
	s.given = false
	w := s.read(o)
	took := s.step.Settle + time.Duration(w.blocks)*s.config.Block
	s.drain = w.backlog
	if s.step.Stage == Recover && o.Gone == "" {
		s.recovered(o, w, took)
		return false
	}
	s.traffic += took
	if o.Gone != "" {
		load := s.step.Load
		if s.step.Stage == Recover {
			load, s.posteriors = s.doubt.load, nil // they hold what was missed since
		}
		s.gone(load, o.Gone)
		return false
	}
	if s.mustRepeat(o, w, took) {
		s.drain = true
		return false
	}
	s.learn(w)
	s.suspect(w)
	s.decide(w)
	return true
}

// window is an observation, added up.
type window struct {
	blocks       int
	n, late, bad float64
	silent       float64 // requests at its end, of which not one had a good answer
	cut          bool
	missed       bool // a share is above the allowed one
	clearly      bool // so far above, that no longer window is needed to tell
	backlog      bool // at its end most requests failed
}

func (s *Search) read(o Observation) window {
	planned := int(s.step.Window / s.config.Block)
	blocks := o.Blocks[:min(len(o.Blocks), planned)]
	w := window{blocks: len(blocks), cut: len(blocks) < planned}
	for _, b := range blocks {
		n, late, bad := b.counts()
		w.n, w.late, w.bad = w.n+n, w.late+late, w.bad+bad
		if w.silent += n; bad+max(float64(b.Overdue), 0) < n {
			w.silent = 0
		}
		w.backlog = max(late, bad) > n/2
	}
	w.missed = s.config.Missed(blocks)
	for _, part := range []struct {
		curve *curve
		k     float64
	}{{s.late, w.late}, {s.bad, w.bad}} {
		if part.curve != nil {
			w.clearly = w.clearly || part.k >= 3 && part.k > far(part.curve.allowed)*w.n
		}
	}
	w.clearly = w.clearly || w.missed && w.cut
	w.backlog = w.backlog || w.missed && w.cut
	return w
}

// far is a share that is far above the allowed one.
func far(allowed float64) float64 { return min(5*allowed, (1+allowed)/2) }

// counts gives a block's figures, made to fit one another.
func (b Block) counts() (n, late, bad float64) {
	n = max(float64(b.Requests), 0)
	return n, min(max(float64(b.Late), 0), n), min(max(float64(b.Bad), 0), n)
}

// Hopeless tells, while a window is measured, whether its blocks so far decide
// that it is missed: even if all further requests were good, the share would be
// far too high, and at the end of what was seen it is not getting better. Such
// a window may be cut short, which spares the service a backlog; Saw takes it as
// a clear miss that says little of the shares nearer to the breaking point.
func (s *Search) Hopeless(blocks []Block) bool {
	if len(blocks) < 2 || !s.given {
		return false
	}
	var n, late, bad float64
	for _, b := range blocks {
		x, y, z := b.counts()
		n, late, bad = n+x, late+y, bad+z
	}
	whole := n * max(1, float64(s.step.Window/s.config.Block)/float64(len(blocks)))
	lastN, lastLate, lastBad := blocks[len(blocks)-1].counts()
	hopeless := func(c *curve, k, last float64) bool {
		return c != nil && last > lastN/2 && k > max(0.15, far(c.allowed))*whole
	}
	return hopeless(s.late, late, lastLate) || hopeless(s.bad, bad, lastBad)
}

// Result is how the search ended; the zero Result while it is under way.
func (s *Search) Result() Result { return s.result }
