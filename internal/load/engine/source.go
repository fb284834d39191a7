package engine

import (
	"time"

	"github.com/millicore/millicore/internal/load/schedule"
)

// source makes the requests of one loop due: from arrivals in an open loop,
// from users in a closed one. A closed loop's users have no names: one that
// waits for an answer, for a connection or for the end of its pause is counted
// in active, and the next request of a user is intended the moment its last one
// ended or, with a think time, once it has thought.
type source struct {
	curve  *schedule.Curve
	shares int
	began  time.Duration // moment of the curve's zero

	arrivals *schedule.Arrivals // open loop, else nil
	users    *schedule.Users    // closed loop, else nil
	due      time.Duration      // next arrival, or next user to become active

	active int // users
	pauses pauses
	thinks thinker
	quota  int64 // closed loop by a number of requests: those to be made due; else -1
	left   int64 // of the quota, those that have not ended
}

// begin replaces the load by one whose curve begins at a moment.
func (s *source) begin(load Load, curve *schedule.Curve, l *loop, at time.Duration) {
	s.curve, s.shares, s.began = curve, l.shares, at
	s.arrivals, s.users, s.quota, s.thinks.even = nil, nil, -1, load.Even
	switch {
	case load.Open && load.Even:
		s.arrivals = schedule.Even(curve, l.share, l.shares)
	case load.Open:
		s.arrivals = schedule.Poisson(curve, l.share, l.shares, l.plan.Seed+uint64(l.obeyed.number))
	default:
		s.users = schedule.NewUsers(curve, l.share, l.shares)
	}
	if load.Requests > 0 {
		_, n := schedule.Share(int(load.Requests), l.share, l.shares)
		s.quota, s.left = int64(n), int64(n)
	}
	s.advance(at)
}

// end makes nothing due any more.
func (s *source) end() {
	s.arrivals, s.users, s.due = nil, nil, never
	s.pauses = s.pauses[:0]
}

// next is the moment at which the next request comes due by itself.
func (s *source) next() time.Duration { return min(s.due, s.pauses.first()) }

// advance finds the next arrival, or the next moment after at when a user
// becomes active.
func (s *source) advance(at time.Duration) {
	var t time.Duration
	ok := false
	switch {
	case s.arrivals != nil:
		t, ok = s.arrivals.Next()
	case s.users != nil && s.quota != 0:
		t, ok = s.users.Reach(s.active+1, at-s.began)
	}
	s.due = never
	if ok {
		s.due = s.began + t
	}
}

// intend makes a request due at a moment. It is dropped where as many wait as
// may, those aside that a free connection is about to take.
func (l *loop) intend(at time.Duration) {
	l.tally.Intended++
	if l.wait.len() >= l.mayWait+l.free.len() {
		l.tally.Dropped++
		return
	}
	l.wait.push(at)
}

// admit makes the request due that falls on the moment at.
func (l *loop) admit(at time.Duration) {
	s := &l.source
	switch {
	case s.pauses.first() <= at:
		s.pauses.pop()
		l.resume(at, 0)
	case s.users != nil:
		if s.quota != 0 {
			s.active++
			l.userIntends(at)
		}
		s.advance(at)
	default:
		l.intend(at)
		s.advance(at)
	}
}

// userIntends makes the next request of a user due.
func (l *loop) userIntends(at time.Duration) {
	if l.quota > 0 {
		l.quota--
	}
	l.intend(at)
}

// goOn says what a user does whose request has ended: think, and for as long as
// pause at least, and then go on.
func (l *loop) goOn(at, pause time.Duration) { l.resume(at, max(pause, l.source.thinks.next())) }

// resume lets a user go on after a pause, or leave, where fewer users are wanted
// by now or no request is left to be made.
func (l *loop) resume(at, pause time.Duration) {
	s := &l.source
	switch {
	case s.users == nil:
	case s.quota == 0:
		s.active--
	case s.active > s.users.Active(at-s.began):
		s.active--
		s.advance(at)
	case pause > 0:
		s.pauses.push(at + pause)
	default:
		l.userIntends(at)
	}
}

// report notes the load that was asked for as time came up to end.
func (s *source) report(t *tally, end time.Duration) {
	switch {
	case s.users != nil:
		t.Users = float64(s.users.Until(end - s.began))
	case s.arrivals != nil:
		t.Rate = s.curve.Until(end-s.began) / float64(s.shares)
	}
}

// loads tells whether requests may still come due.
func (s *source) loads() bool { return s.users != nil || s.arrivals != nil }

// exhausted tells whether the number of requests asked for has ended.
func (s *source) exhausted() bool { return s.quota >= 0 && s.left == 0 }
