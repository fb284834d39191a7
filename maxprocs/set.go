package maxprocs

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"
)

// Set sets GOMAXPROCS from the CPU limit, rounded up and at least 2, where Go's own default
// does not see the limit; [OverrideDefault], [RoundQuotaFunc] and [Min] make it do so
// everywhere, with a minimum of 1. It returns what it did, and an undo function, which ends following and
// restores the previous GOMAXPROCS; if that was the runtime's default, the runtime updates
// it again.
//
// Only the last Set is in force: it ends the following of an earlier one, whose undo
// then has no effect.
//
// Set does not change GOMAXPROCS if the environment sets it, if there is no limit, or if
// the limit is not known. It also does not change a GOMAXPROCS that already has the
// right value, so that a runtime that updates it continues to do so; without Follow,
// later updates then round as the runtime does.
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

	looking bool // a look is under way: only then lookout is not guarded
	lookout *lookout
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
	s := &setting{host: h, options: o, before: runtime.GOMAXPROCS(0), found: v, lookout: h.lookout()}
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

// apply changes GOMAXPROCS as planned. The caller must hold mu.
func (s *setting) apply(planned int, why Why, v view) Result {
	now := runtime.GOMAXPROCS(0)
	if v.limit.Err != nil && s.state.planned != 0 && planned > s.state.planned {
		planned = s.state.planned // a group that cannot be read may still have the lower limit
	}
	m := s.state.next(planned, why, now, v, v.isDefault)
	if m != (move{}) {
		s.state.ours = setProcs(m)
		s.state.changed = true
	}
	if why != LimitUnknown {
		s.state.planned = planned
	}
	r := Result{Before: now, After: runtime.GOMAXPROCS(0), Why: why, Limit: limitOf(v.limit), CPUs: v.cpus}
	if s.options.request {
		r.Request = v.request
	}
	return r
}

// setProcs makes a move, and reports whether it ended the runtime's own updates.
func setProcs(m move) (ours bool) {
	if m.byDefault || m.giveBack {
		setDefault()
		if m.giveBack || runtime.GOMAXPROCS(0) == m.procs {
			return false
		}
	}
	runtime.GOMAXPROCS(m.procs)
	return true
}

// followUntil follows the limit until ctx ends. The caller must hold mu.
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

// lookAgain is one check while the limit is followed. It reads the limit without holding
// mu, because that can hang, and an undo or another Set must not wait for it.
func (s *setting) lookAgain() {
	mu.Lock()
	if s.timer == nil {
		mu.Unlock()
		return
	}
	s.looking = true
	mu.Unlock()
	v := s.lookout.look()
	planned, why := s.options.plan(v)

	mu.Lock()
	s.looking = false
	if s.timer == nil {
		s.lookout.tracker.Close()
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

// stop ends following. The caller must hold mu.
func (s *setting) stop() {
	if s.timer == nil {
		return
	}
	s.timer.Stop()
	s.timer = nil
	s.forget()
	if !s.looking {
		s.lookout.tracker.Close()
	}
}

// end deactivates s. The caller must hold mu.
func (s *setting) end() {
	s.stop()
	s.ended = true
	inForce = nil
}

// undo ends s and restores the previous GOMAXPROCS.
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

	if changed {
		s.options.logUndo(now, after)
	}
}

// restore gives GOMAXPROCS back to the runtime if it was the runtime's default, which
// may have changed since, and else sets the previous value.
func (s *setting) restore() {
	if s.found.isDefault(s.before) {
		setDefault()
		return
	}
	runtime.GOMAXPROCS(s.before)
}
