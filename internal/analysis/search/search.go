// Package search finds the breaking point: the highest load whose steady windows meet
// the objective. It is a pure state machine over noisy observations: Next returns a
// load to hold and a window to measure, Saw takes what the window showed, and Result
// is the answer. It knows no clock, no service and no unit of load. The same
// observations always lead to the same steps, so a search can be replayed from its
// record.
//
// [curve] decides how much a window shows; stages.go, where to look next; ends.go, how
// a search ends.
package search

import (
	"math"
	"time"

	"github.com/millicore/millicore/internal/analysis/cost"
	"github.com/millicore/millicore/internal/analysis/finding"
)

// Config is what to search for.
type Config struct {
	First float64 // load to start with
	Most  float64 // highest load allowed; 0: no bound
	Whole bool    // loads are whole numbers (users)

	// The objective as shares of requests, 0..1. Negative: not part of it.
	AllowedLate float64 // may be late: 0.01 for a p99
	AllowedBad  float64 // may end without a good answer: 0.001 for 99.9%

	// Late is the objective's latency, beyond which a request is late; 0: unknown, and
	// 100 ms is assumed. It determines how long an overload takes to show, and how
	// long a burst has an effect.
	Late time.Duration

	Block  time.Duration // settle and window are whole multiples of it
	Budget time.Duration // highest traffic: settling and windows together
	// Patience is the highest traffic of steps that others disturbed before the
	// bracket was found. These steps are repeated and do not count for Budget, because
	// nothing is known yet that they could make less certain. 0: as much as Budget.
	Patience time.Duration
	// After is the highest traffic of the stages after the answer, which test how the
	// service recovers from an overload. 0: there are none.
	After time.Duration
	// Timeout is how long a client waits for an answer; a request from the overload may
	// stay in flight as long.
	Timeout time.Duration
}

// Stage of the search.
type Stage string

const (
	Bracket Stage = "bracket" // double until the objective is missed
	Narrow  Stage = "narrow"
	Test    Stage = "test"    // longer windows at the answer
	Recover Stage = "recover" // at a load that it handled before: does the service still work?

	// After the answer:
	Sustain  Stage = "sustain"  // a little below the tested load, without draining
	Overload Stage = "overload" // above the answer
	Descend  Stage = "descend"  // lower and lower loads, until the objective is met again
)

// Step is a load to hold.
type Step struct {
	Number int // from 0
	Stage  Stage
	Load   float64
	Drain  bool          // first wait until no request is in flight and every replica is up
	Settle time.Duration // how long to hold the load before the window
	Window time.Duration
	Pauses bool // the windows so far show pauses: it looks for them, and needs more than the budget
}

// Block is what one part of a window showed.
type Block struct {
	Requests int64 // that ended, and those that are overdue at the window's end
	Late     int64 // of those, without a good answer within the objective's latency; includes the bad ones
	Bad      int64 // of those, without a good answer
	Overdue  int64 // of those that are not bad: still in flight
}

// Observation is what a step's window showed, in blocks of Config.Block, in order. A
// window that was cut short has fewer blocks.
type Observation struct {
	Blocks []Block
	// Limited means that the generator or the host was the limit, not the service. A
	// miss then says nothing about the service.
	Limited bool
	// Disturbed is who else took CPU in the window.
	Disturbed finding.Source
	Costs     []cost.Block // of the same blocks
	// Gone explains why the service can no longer be measured: it died and did not come
	// back. It ends the search.
	Gone string
}

// Result is the answer. Load, Low and High are zero if nothing was found.
type Result struct {
	Load    float64
	Low     float64 // of the 95% interval
	High    float64 // of the 95% interval; +Inf if AtLeast
	Tested  float64 // the highest load whose test windows met the objective; 0: none
	AtLeast bool    // a lower bound: the service was not seen to break
	Ended   Ended
	// Why is why there is no answer, or why it is only a bound or wide; none otherwise.
	Why      finding.Finding
	Recovery Recovery
	Traffic  time.Duration // settling and windows
}

// Search is a search in progress.
type Search struct {
	config Config
	late   *curve // nil: no latency objective
	bad    *curve

	stage   Stage
	step    Step // the last one given
	given   bool // and no observation yet
	steps   int
	traffic time.Duration // that counts for Budget
	wasted  time.Duration // that counts for Patience
	elapsed float64       // s of all steps
	load    float64       // of the next step
	drain   bool          // before it

	met             []float64 // loads whose windows met the objective
	failed          []float64 // loads whose windows missed it
	missed          float64   // bracket: the lowest load that clearly missed; 0: none
	lowest, highest float64   // loads that were tried
	ceiling         float64   // highest load allowed now
	limited         bool      // the ceiling is the generator's
	limit           float64   // the lowest load that it could not generate
	between         int       // loads tried between the ceiling and that one
	retried         bool      // the first loads missed, and the lowest of them was tried again
	answered        bool      // a request had a good answer
	ended           bool      // a request ended, well or not
	narrowed        int       // windows of the stage Narrow
	misses          []float64 // loads that clearly missed after the bracket was found
	confirmed       int       // how many of them were tried again
	before          look      // the last one
	longest         float64   // s for which one load, or nearby loads, were held
	posteriors      []posterior
	tests           []tested
	kept            []answered
	steady          answered // of the last windows, while one load is held and meets the objective
	unsure          float64  // the lowest load that missed beside others, if a lower bound is looked for; 0: none is
	held            answered // the lower bound so far
	again           repeats
	doubt           suspicion
	bursts          bursts
	full            fullWindows  // in the order of their time
	cost            cost.Windows // likewise, of those that met the objective
	after           *aftermath   // nil: the answer is not known yet, or the search has ended

	done   bool
	result Result
}

// repeats counts windows without information.
type repeats struct {
	empty     int            // without a request, in a row
	waited    float64        // s of these windows
	limited   int            // missed while the generator was the limit, in a row
	disturbed int            // after the bracket was found
	clean     int            // not disturbed, after the bracket was found
	weak      int            // missed while the generator was the limit, after the bracket was found
	missed    float64        // the lowest load that missed beside others after the bracket was found; 0: none
	by        finding.Source // after the bracket was found
	early     finding.Source // before
}

// New returns a search at its first step.
func New(c Config) *Search {
	c = c.withDefaults()
	s := &Search{config: c, stage: Bracket, load: c.First, ceiling: c.Most}
	if missable(c.AllowedLate) {
		s.late = &curve{allowed: clamp(c.AllowedLate), latency: c.Late.Seconds(), users: c.Whole}
	}
	if missable(c.AllowedBad) {
		s.bad = &curve{allowed: clamp(c.AllowedBad)}
	}
	if s.late == nil && s.bad == nil {
		s.fail(NoObjective, finding.Finding{Kind: finding.NothingToMiss})
	}
	return s
}

// Missed reports whether the requests of some blocks together miss the objective: more
// of them are late, or without a good answer, than allowed.
func (c Config) Missed(blocks []Block) bool {
	var all, late, bad float64
	for _, b := range blocks {
		x, y, z := b.counts()
		all, late, bad = all+x, late+y, bad+z
	}
	return missable(c.AllowedLate) && Exceeds(late, all, c.AllowedLate) ||
		missable(c.AllowedBad) && Exceeds(bad, all, c.AllowedBad)
}

// missable reports whether a load can miss an objective that allows this share of the
// requests to fail. If all of them may fail, none can; a negative share means no
// objective.
func missable(allowed float64) bool { return allowed >= 0 && allowed < 1 }

// Exceeds reports whether k of n requests are more than an allowed share of them,
// 0..1. It is the only comparison of requests with an objective. A share like 1 - 0.95
// is not exact in binary. Without slack, whether exactly 5% of late requests miss a
// p95 would depend on how the share was computed. The slack is less than one request
// in a billion.
func Exceeds(k, n, allowed float64) bool { return k > allowed*n*(1+1e-9) }

// clamp keeps an allowed share where a curve can cross it.
func clamp(share float64) float64 { return min(max(share, 1e-5), 0.99) }

// highestLoad bounds a search without a bound of its own.
const highestLoad = 1e9

// withDefaults replaces invalid values, so that a search always ends.
func (c Config) withDefaults() Config {
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

// Next returns the next step, or false if the search has ended. It returns the same
// step until Saw is called.
func (s *Search) Next() (Step, bool) {
	if s.done {
		return Step{}, false
	}
	if s.given {
		return s.step, true
	}
	if s.after == nil {
		settle, window := s.lengths()
		step, ok := s.recovery(window <= 0)
		if !ok {
			step = Step{Stage: s.stage, Load: s.load, Drain: s.drain, Settle: settle, Window: window, Pauses: len(s.bursts.loads) > 0}
		}
		if step.Window > 0 && s.steps < mostSteps {
			return s.give(step)
		}
		if s.conclude(); s.after == nil && !s.done {
			return s.Next()
		}
	}
	if s.after != nil {
		if step, ok := s.afterwards(); ok {
			return s.give(step)
		}
	}
	return Step{}, false
}

func (s *Search) give(step Step) (Step, bool) {
	step.Number = s.steps
	s.step, s.given = step, true
	s.steps++
	return s.step, true
}

// Saw takes what the step that Next returned last has shown. It reports whether that
// is used for the answer. A window that was disturbed, or in which the generator was
// the limit, is left out, and its step is repeated. Windows of the stage Recover and of
// those after the answer are left out, too.
func (s *Search) Saw(o Observation) (used bool) {
	if s.done || !s.given {
		return false
	}
	s.given = false
	w := s.read(o)
	took := s.step.Settle + time.Duration(w.blocks)*s.config.Block
	w.took = took
	s.elapsed += took.Seconds()
	if !o.Limited && s.step.Stage != Descend { // which begins with a backlog
		s.fills(w)
		s.costs(o, w)
	}
	if s.after != nil {
		s.followed(o, w, took)
		return false
	}
	s.drain = w.backlog
	s.answered, s.ended = s.answered || w.n > w.silent, s.ended || w.n > 0
	if s.step.Stage == Recover && o.Gone == "" {
		s.recovered(o, w, took)
		return false
	}
	s.traffic += took
	if o.Gone != "" {
		load := s.step.Load
		if s.step.Stage == Recover {
			load, s.posteriors = s.doubt.load, nil // they include what was missed since then
		}
		s.gone(load, finding.Finding{Kind: finding.Recorded, Text: o.Gone})
		return false
	}
	s.keep(w, took.Seconds())
	if s.mustRepeat(o, w) {
		s.drain = w.n > 0 || s.load != s.step.Load // if no request ended, the load is held until one does, or is late
		return false
	}
	s.learn(w)
	s.suspect(w)
	s.decide(w)
	return true
}

// tested is a load with all that its test windows showed.
type tested struct {
	load float64
	seen []Block
}

// tested is the highest load whose test windows together met the objective, while those of no
// lower load missed it; 0: none.
func (s *Search) tested() (load float64) {
	missed := math.Inf(1)
	for _, t := range s.tests {
		if s.config.Missed(t.seen) {
			missed = min(missed, t.load)
		}
	}
	for _, t := range s.tests {
		if t.load < missed {
			load = max(load, t.load)
		}
	}
	return load
}

// testedRequests is how many requests the test windows at a load had.
func (s *Search) testedRequests(load float64) (n float64) {
	for _, t := range s.tests {
		if t.load == load {
			for _, b := range t.seen {
				n += float64(b.Requests)
			}
		}
	}
	return n
}

// window is the sum of an observation.
type window struct {
	seen         []Block
	blocks       int
	took         time.Duration // with its settling
	n, late, bad float64
	overdue      float64
	silent       float64 // requests at its end without a single good answer
	cut          bool
	beside       bool // others took CPU
	missed       bool // a share is above the allowed one
	clearly      bool // so far above that no longer window is needed
	backlog      bool // at its end most requests failed
}

func (s *Search) read(o Observation) window {
	planned := int(s.step.Window / s.config.Block)
	blocks := o.Blocks[:min(len(o.Blocks), planned)]
	w := window{seen: blocks, blocks: len(blocks), cut: len(blocks) < planned, beside: o.Disturbed != 0}
	for _, b := range blocks {
		n, late, bad := b.counts()
		w.n, w.late, w.bad = w.n+n, w.late+late, w.bad+bad
		w.overdue += min(max(float64(b.Overdue), 0), n-bad)
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

// far is a share far above the allowed one.
func far(allowed float64) float64 { return min(5*allowed, (1+allowed)/2) }

// counts returns a block's figures, made consistent.
func (b Block) counts() (n, late, bad float64) {
	n = max(float64(b.Requests), 0)
	return n, min(max(float64(b.Late), 0), n), min(max(float64(b.Bad), 0), n)
}

// Hopeless reports, while a window is measured, whether its blocks so far decide that
// it misses the objective: even if all further requests were good, the share would be
// far too high, and the last block shows no improvement. Such a window may be cut
// short, which spares the service a backlog. Saw treats it as a clear miss that says
// little about the shares nearer to the breaking point.
func (s *Search) Hopeless(blocks []Block) bool {
	if len(blocks) < 2 || !s.given || s.step.Stage.After() { // an overload lasts its time
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

// Result is how the search ended; the zero Result before the answer is known.
func (s *Search) Result() Result { return s.result }
