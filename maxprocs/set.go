package maxprocs

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"
)

// Set sets GOMAXPROCS from the CPU limit, rounded down and at least 1 unless
// options say otherwise. It returns what it did, and an undo, which ends
// following and makes GOMAXPROCS what it was before; where that was the
// runtime's own default, the runtime updates it again.
//
// Only the last Set is in force: it ends the following of an earlier one, whose
// undo does nothing from then on.
//
// Where GOMAXPROCS is in the environment, where there is no limit and where the
// limit is not known, Set leaves GOMAXPROCS as it is. It also does not touch it
// if it has the right value already, so that a runtime that updates it goes on
// to do so; without Follow it may then come to round as the runtime does.
//
// Set does not fail: see [Result.Err] for a limit that could not be read.
func Set(opts ...Option) (Result, func()) { return thisHost.set(optionsOf(opts)) }

// setting is a Set in force. mu guards what follows host and options.
type setting struct {
	host    host
	options options

	state  state
	before int  // GOMAXPROCS
	found  view // at that time
	last   int  // GOMAXPROCS after the last look
	ended  bool
	timer  *time.Timer // while the limit is followed
	forget func() bool // the context's
}

// inForce is the last Set that was not undone. mu also guards GOMAXPROCS from
// being changed by two of them.
var (
	mu      sync.Mutex
	inForce *setting
)

func (h host) set(o options) (Result, func()) {
	if _, ok := os.LookupEnv("GOMAXPROCS"); ok {
		procs := runtime.GOMAXPROCS(0)
		r := Result{Before: procs, After: procs, Why: Environment, CPUs: h.numCPU}
		o.log(r)
		return r, func() {}
	}
	v := h.lookPatiently()
	planned, why := o.plan(v)

	mu.Lock()
	s := &setting{host: h, options: o, before: runtime.GOMAXPROCS(0), found: v}
	if inForce != nil {
		s.state.ours = inForce.state.ours
		inForce.end()
	}
	inForce = s
	r := s.apply(planned, why, v)
	s.last = r.After
	if o.follow != nil && v.groups {
		s.followUntil(o.follow)
	}
	r.Following = s.timer != nil
	mu.Unlock()

	o.log(r)
	return r, s.undo
}

// apply does what is to be done under what is seen and planned. Its caller holds
// mu.
func (s *setting) apply(planned int, why Why, v view) Result {
	now := runtime.GOMAXPROCS(0)
	if v.limit.Err != nil && s.state.planned != 0 && planned > s.state.planned {
		planned = s.state.planned // a group that cannot be read may still have the lower limit
	}
	move := s.state.next(planned, why, now, v, v.isDefault)
	if move.procs != 0 {
		s.state.ours = setProcs(move)
		s.state.changed = true
	}
	if why != LimitUnknown {
		s.state.planned = planned
	}
	return Result{Before: now, After: runtime.GOMAXPROCS(0), Why: why, Limit: v.limit, CPUs: v.cpus}
}

// setProcs makes a move, and reports whether it ended the runtime's own updates.
func setProcs(m move) (ours bool) {
	if m.byDefault {
		setDefault()
		if runtime.GOMAXPROCS(0) == m.procs {
			return false
		}
	}
	runtime.GOMAXPROCS(m.procs)
	return true
}

// followUntil has the limit looked at until ctx ends. Its caller holds mu.
func (s *setting) followUntil(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	s.timer = time.AfterFunc(s.host.interval, s.lookAgain)
	s.forget = context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		s.stop()
	})
}

// lookAgain is one look while the limit is followed. The look itself is not
// under mu: it can hang, and neither an undo nor another Set waits for it.
func (s *setting) lookAgain() {
	v := s.host.look()
	planned, why := s.options.plan(v)

	mu.Lock()
	if s.timer == nil {
		mu.Unlock()
		return
	}
	r := s.apply(planned, why, v)
	r.Before, s.last = s.last, r.After // also what the runtime has changed
	r.Following = true
	mu.Unlock()

	if r.Before != r.After {
		s.options.log(r)
		if s.options.onChange != nil {
			s.options.onChange(r)
		}
	}

	mu.Lock()
	defer mu.Unlock()
	if s.timer != nil {
		s.timer.Reset(s.host.interval)
	}
}

// stop ends following. Its caller holds mu.
func (s *setting) stop() {
	if s.timer == nil {
		return
	}
	s.timer.Stop()
	s.timer = nil
	s.forget()
}

// end makes s have no effect any more. Its caller holds mu.
func (s *setting) end() {
	s.stop()
	s.ended = true
	inForce = nil
}

// undo ends s and makes GOMAXPROCS what it was before.
func (s *setting) undo() {
	mu.Lock()
	if s.ended {
		mu.Unlock()
		return
	}
	s.end()
	now, changed := runtime.GOMAXPROCS(0), s.state.changed
	if changed {
		s.restore()
	}
	after := runtime.GOMAXPROCS(0)
	mu.Unlock()

	if changed && s.options.printf != nil {
		s.options.printf("maxprocs: undone, %s", change(now, after))
	}
}

// restore gives GOMAXPROCS back to the runtime if it had its own default before
// (which may be another by now), and else sets the value that it had.
func (s *setting) restore() {
	if s.found.isDefault(s.before) {
		setDefault()
		return
	}
	runtime.GOMAXPROCS(s.before)
}
