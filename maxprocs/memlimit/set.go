package memlimit

import (
	"context"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/maxprocs"
)

// host is where a process looks for its limit.
type host struct {
	fs       cgroup.FS
	interval time.Duration // between two looks while the limit is followed
}

var thisHost = host{fs: cgroup.Host(), interval: 500 * time.Millisecond}

// relocate is after how many looks the group is located again: 10 s.
const relocate = 20

// Set sets Go's memory limit to the container's limit without the headroom. It returns
// what it did, and an undo function, which ends following and restores the previous limit
// unless the program has set another one since.
//
// Only the last Set is in force: it ends the following of an earlier one, whose undo
// then has no effect.
//
// Set does not fail: see [Result.Err] for a limit that could not be read.
func Set(opts ...Option) (Result, func()) { return thisHost.set(optionsOf(opts)) }

// setting is a Set in force. mu guards what follows options.
type setting struct {
	options options

	before int64 // Go's memory limit, which the undo restores
	now    int64 // the one that this package left
	ended  bool
	timer  *time.Timer // while the limit is followed
	forget func() bool // the context's

	interval time.Duration
	looking  bool // a look is under way: only then tracker is not guarded
	tracker  *cgroup.Tracker
}

// inForce is the last Set that was not undone. mu also guards Go's memory limit from
// being changed by two of them.
var (
	mu      sync.Mutex
	inForce *setting
)

func (h host) set(o options) (Result, func()) {
	if _, ok := os.LookupEnv("GOMEMLIMIT"); ok {
		now := debug.SetMemoryLimit(-1)
		r := Result{Before: now, After: now, Why: Environment}
		o.log(r)
		return r, func() {}
	}
	o.logBad()
	limit, groups := h.limit()

	mu.Lock()
	s := &setting{options: o, before: None, now: None, interval: h.interval, tracker: h.fs.Track(cgroup.Memory, relocate)}
	if inForce != nil {
		s.before, s.now = inForce.before, inForce.now
		inForce.end()
	}
	inForce = s
	r := s.apply(limit)
	if o.follow != nil && o.follow.Err() == nil && groups && r.Why != Program {
		s.timer = time.AfterFunc(h.interval, s.lookAgain)
		s.forget = context.AfterFunc(o.follow, func() {
			mu.Lock()
			defer mu.Unlock()
			s.stop()
		})
	}
	r.Following = s.timer != nil
	mu.Unlock()

	o.log(r)
	return r, s.undo
}

// limit is the container's limit, and whether this host has control groups.
func (h host) limit() (limit Limit, groups bool) {
	self, err := h.fs.Self(cgroup.Memory)
	return limitOf(self, err), self.Place(cgroup.Memory).State() != cgroup.Absent
}

// limitOf is the limit of the process's group, or of the failure to locate it.
func limitOf(self cgroup.Group, err error) Limit {
	if err != nil {
		return Limit{Err: err}
	}
	l := self.MemoryLimit()
	limit := Limit{Bytes: l.Bytes, Dir: l.Dir, Hidden: l.Hidden, Err: l.Err}
	switch l.State {
	case cgroup.Limited:
		limit.State = maxprocs.Limited
	case cgroup.Unlimited:
		limit.State = maxprocs.Unlimited
	}
	return limit
}

// plan is the value that Go's memory limit should have when it is now, and the reason.
func (o options) plan(limit Limit, now int64) (int64, Why) {
	switch limit.State {
	case maxprocs.Unknown:
		return now, LimitUnknown
	case maxprocs.Unlimited:
		return None, NoLimit
	}
	planned := int64(float64(limit.Bytes) * (1 - o.headroom))
	if limit.Err != nil && planned > now {
		planned = now // a group that cannot be read may still have the lower limit
	}
	return planned, FromLimit
}

// apply changes Go's memory limit as planned, unless the program has. The caller must hold
// mu.
func (s *setting) apply(limit Limit) Result {
	now := debug.SetMemoryLimit(-1)
	if now != s.now {
		return Result{Before: now, After: now, Why: Program, Limit: limit}
	}
	planned, why := s.options.plan(limit, now)
	if planned != now {
		debug.SetMemoryLimit(planned)
		s.now = planned
	}
	return Result{Before: now, After: planned, Why: why, Limit: limit}
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
	self, changed, err := s.tracker.Look()
	var limit Limit
	if changed {
		limit = limitOf(self, err)
	}

	mu.Lock()
	s.looking = false
	if s.timer == nil {
		s.tracker.Close()
		mu.Unlock()
		return
	}
	var r Result
	if changed {
		r = s.apply(limit)
	}
	if r.Why == Program && changed {
		s.stop() // also if the program removes its limit later
	} else {
		s.timer.Reset(s.interval)
	}
	r.Following = s.timer != nil
	mu.Unlock()
	if r.Before != r.After {
		s.options.log(r)
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
		s.tracker.Close()
	}
}

// end deactivates s. The caller must hold mu.
func (s *setting) end() {
	s.stop()
	s.ended = true
	inForce = nil
}

// undo ends s and restores the previous limit.
func (s *setting) undo() {
	mu.Lock()
	if s.ended {
		mu.Unlock()
		return
	}
	s.end()
	now := debug.SetMemoryLimit(-1)
	changed := now == s.now && now != s.before
	if changed {
		debug.SetMemoryLimit(s.before)
	}
	mu.Unlock()

	if changed {
		s.options.logUndo(now, s.before)
	}
}
