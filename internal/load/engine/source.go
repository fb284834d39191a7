package engine

import (
	"time"

	"github.com/millicore/millicore/internal/load/schedule"
)

// source generates the requests of one loop: from arrivals in an open loop, from users
// in a closed loop. The users of a closed loop are only counted, in active: those that
// wait for an answer, for a connection or for the end of a pause. A user's next
// request is intended when the previous one ended or, with a think time, after that.
type source struct {
	curve  *schedule.Curve
	shares int
	began  time.Duration // start of the curve

	arrivals func() (time.Duration, bool) // next one of an open loop, else nil
	users    *schedule.Users              // closed loop, else nil
	due      time.Duration                // next arrival, or next user to become active

	active int // users
	pauses pauses
	thinks schedule.Thinks
	quota  int64 // closed loop with a number of requests: those to generate; else -1
	left   int64 // of all those requests, the number that has not ended
}

// begin replaces the load by one whose curve starts at the time at.
func (s *source) begin(load Load, curve *schedule.Curve, l *loop, at time.Duration) {
	s.curve, s.shares, s.began = curve, l.shares, at
	s.arrivals, s.users, s.quota, s.thinks.Even = nil, nil, -1, load.Even
	l.mix.weights.Follow(curve, at)
	switch {
	case load.Recorded != nil:
		l.mix.recorded = load.Recorded.ShareOf(l.share, l.shares, at)
		s.arrivals = l.mix.recorded.Next
	case load.Open && load.Even:
		s.arrivals = schedule.Even(curve, l.share, l.shares).Next
	case load.Open:
		s.arrivals = schedule.Poisson(curve, l.share, l.shares, l.plan.Seed+uint64(l.obeyed.number)).Next
	default:
		s.users = schedule.NewUsers(curve, l.share, l.shares)
	}
	if load.Requests > 0 {
		_, n := schedule.Share(int(load.Requests), l.share, l.shares)
		s.quota, s.left = int64(n), int64(n)
	}
	s.advance(at)
}

// end ends the load: no more requests become due.
func (s *source) end() {
	s.arrivals, s.users, s.due = nil, nil, never
	s.pauses = s.pauses[:0]
}

// next is the time at which the next request becomes due independently of answers.
func (s *source) next() time.Duration { return min(s.due, s.pauses.first()) }

// advance finds the next arrival, or the next time from at on when a user becomes
// active.
func (s *source) advance(at time.Duration) {
	var t time.Duration
	ok := false
	switch {
	case s.arrivals != nil:
		t, ok = s.arrivals()
	case s.users != nil && s.quota != 0:
		t, ok = s.users.Reach(s.active+1, at-s.began)
	}
	s.due = never
	if ok {
		s.due = s.began + t
	}
}

// intend makes a request due at the time at. It is dropped if the maximum number of
// requests waits, not counting those for which a connection is free or being made.
func (l *loop) intend(at time.Duration) {
	l.tally.Intended++
	if l.wait.len() >= l.mayWait+l.free+l.dialing.n-l.bound {
		l.tally.Dropped++
		return
	}
	l.wait.push(at)
}

// admit makes the request due that is scheduled for the time at.
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

// goOn continues a user whose request has ended, after its think time and at least
// after pause.
func (l *loop) goOn(at, pause time.Duration) { l.resume(at, max(pause, l.source.thinks.Next())) }

// resume continues a user after a pause, or removes the user if the load has fewer
// users now or no requests left.
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

// report records the load's value just before end.
func (s *source) report(t *tally, end time.Duration) {
	switch {
	case s.users != nil:
		t.Users = float64(s.users.Until(end - s.began))
	case s.arrivals != nil:
		t.Rate = s.curve.Until(end-s.began) / float64(s.shares)
	}
}

// exhausted reports whether the requested number of requests has ended.
func (s *source) exhausted() bool { return s.quota >= 0 && s.left == 0 }
