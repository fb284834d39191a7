package engine

import (
	"time"

	"github.com/millicore/millicore/internal/load/session"
)

// giveBack ends a slot's part in a session whose request was not sent.
func (m *mix) giveBack(s *slot, now time.Duration) {
	if s.session != nil {
		m.turns.Return(s.session, now)
		s.session = nil
	}
}

// stepped ends a request of a session that ended at done. It reports whether a good answer had
// all that the session needs.
//
// In a closed loop the user and its session pause together, so that a user who goes on finds the
// session that it left.
func (l *loop) stepped(s *slot, how ending, done time.Duration, in *period) (captured bool) {
	good := how == answered && l.mix.check(s).Wants(s.answer.Status()) && s.answer.Found()
	var missing []string
	if good {
		missing = l.mix.turns.Capture(s.session, done)
	}
	captured = len(missing) == 0
	first := s.session.Step() == 0
	var ended session.Ending
	ended, s.think = l.mix.turns.End(s.session, good && captured, done)
	s.session = nil
	if s.intended >= in.counted {
		in.tally.SessionStepped(first, ended == session.Whole, ended == session.Broken, missing)
	}
	return captured
}
