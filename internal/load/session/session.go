// Package session keeps the sessions of an event loop: who has sent which of the requests, and
// what the service gave them, as a token or a cookie. A session sends the requests of a load in
// their order, one after another. After the last one, or after one without a good answer, it is
// over, and another begins.
//
// The package opens no connection, and its times are the caller's.
package session

import (
	"container/heap"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/load/schedule"
)

// Plan is what the sessions of a load do. It is shared and not changed.
type Plan struct {
	steps []Step
	names []string // of the values, by their index
}

// NewPlan makes the plan of sessions with these steps.
func NewPlan(steps []Step) (*Plan, error) {
	p := &Plan{names: Names(nil)}
	for _, step := range steps {
		p.names = Names(p.names, step.Capture)
		for _, name := range slices.Sorted(maps.Keys(step.Capture)) {
			c, err := parseCapture(step.Capture[name])
			if err != nil {
				return nil, fmt.Errorf("capture: %s: %w", name, err)
			}
			c.index = slices.Index(p.names, name)
			step.captures = append(step.captures, c)
		}
		p.steps = append(p.steps, step)
	}
	return p, nil
}

// Len is the number of steps.
func (p *Plan) Len() int { return len(p.steps) }

// Names are the names of the values that a session has after the steps with these captures, in
// the order of their indices. The values of a session have the names after all steps; those after
// some of the steps are the first of them. Each session has a number, unique within a trial, and
// an id, unique among all runs.
func Names(before []string, captures ...map[string]string) []string {
	if before == nil {
		before = []string{"session", "session_id"}
	}
	for _, all := range captures {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if !slices.Contains(before, name) {
				before = append(before, name)
			}
		}
	}
	return before
}

// Step is what follows one request.
type Step struct {
	Think    time.Duration     // mean pause before the next request of the session
	Capture  map[string]string // from its answer: values by name, and where they are (see parseCapture)
	captures []capture
}

// Session is one session.
type Session struct {
	// Values are the session's values by the index of their names, "" before they are captured.
	Values  []string
	cookies []cookie
	step    int
	ready   time.Duration // when its next request may be sent
	most    int           // bytes of the answer to its request that are kept
	answer  []byte        // nil: the request is not under way
}

// Step is the index of the session's next request.
func (s *Session) Step() int { return s.step }

// Bounds of what is kept of an answer, in bytes: of one with values to capture, and of one that
// can have cookies only; and of a captured value.
const (
	mostKept   = 1 << 20
	mostOfHead = 16 << 10
	mostValue  = 16 << 10
)

// Keep keeps bytes of the answer.
func (s *Session) Keep(p []byte) {
	s.answer = append(s.answer, p[:min(len(p), s.most-len(s.answer))]...)
}

// Pool has the sessions that wait for their next request.
type Pool struct {
	plan   *Plan
	thinks []schedule.Thinks // by step
	idle   idle
	next   uint64 // number of the next session
	stride uint64
	spare  []*Session
	// buffers are of answers: as many as there are requests under way, not as sessions.
	buffers [][]byte
}

// NewPool makes the pool of one of several loops, which share the numbers. Pauses are constant if
// even is set, else drawn.
func NewPool(plan *Plan, even bool, seed uint64, share, shares int) *Pool {
	p := &Pool{plan: plan, next: uint64(share) + 1, stride: uint64(shares)}
	for i, step := range plan.steps {
		think := schedule.NewThinks(step.Think, seed+uint64(i)<<32, share)
		think.Even = even
		p.thinks = append(p.thinks, think)
	}
	return p
}

// Take takes the session that waits longest for its next request or, if none may send it at the
// time now, a new one.
func (p *Pool) Take(now time.Duration) *Session {
	s := p.waiting(now)
	if s == nil {
		s = p.begin()
	}
	s.expire(now)
	if s.most = mostKept; len(p.plan.steps[s.step].captures) == 0 {
		s.most = mostOfHead
	}
	if n := len(p.buffers); n > 0 {
		s.answer, p.buffers = p.buffers[n-1], p.buffers[:n-1]
	}
	return s
}

// waiting is the session whose next request may be sent since the longest time; nil: none may.
func (p *Pool) waiting(now time.Duration) *Session {
	if len(p.idle) == 0 || p.idle[0].ready > now {
		return nil
	}
	return heap.Pop(&p.idle).(*Session)
}

// begin is a new session.
func (p *Pool) begin() (s *Session) {
	if n := len(p.spare); n > 0 {
		s, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
		s = &Session{Values: make([]string, len(p.plan.names))}
	}
	s.Values[0] = strconv.FormatUint(p.next, 10)
	s.Values[1] = fmt.Sprintf("%016x", rand.Uint64()) // not from the seed: it differs from run to run
	p.next += p.stride
	return s
}

// Return gives back a session whose request was not sent.
func (p *Pool) Return(s *Session, now time.Duration) {
	p.reuse(s)
	s.ready = now
	heap.Push(&p.idle, s)
}

// Capture takes what the session needs from a good answer that ended at the time now, and returns
// the names of the values that the answer does not have: then it is not good.
func (p *Pool) Capture(s *Session, now time.Duration) (missing []string) {
	return s.take(&p.plan.steps[s.step], p.plan.names, now)
}

// Ending is what a request's end is for its session.
type Ending uint8

// The endings.
const (
	GoesOn Ending = iota // with the next request
	Whole                // it was the last one
	Broken               // it had no good answer
)

// End ends a session's request at the time done. It returns for how long the user pauses then,
// after which the session goes on.
func (p *Pool) End(s *Session, good bool, done time.Duration) (how Ending, pause time.Duration) {
	p.reuse(s)
	pause = p.thinks[s.step].Next()
	switch s.step++; {
	case !good:
		how = Broken
	case s.step == len(p.plan.steps):
		how = Whole
	default:
		p.Return(s, done+pause)
		return GoesOn, pause
	}
	clear(s.Values)
	s.step, s.cookies = 0, s.cookies[:0]
	p.spare = append(p.spare, s)
	return how, pause
}

// reuse takes a session's buffer.
func (p *Pool) reuse(s *Session) {
	if s.answer != nil {
		p.buffers, s.answer = append(p.buffers, s.answer[:0]), nil
	}
}

// idle is a heap, the session that is ready first on top.
type idle []*Session

func (q idle) Len() int           { return len(q) }
func (q idle) Less(i, j int) bool { return q[i].ready < q[j].ready }
func (q idle) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *idle) Push(s any)        { *q = append(*q, s.(*Session)) }
func (q *idle) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}
