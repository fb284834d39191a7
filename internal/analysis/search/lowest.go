package search

import (
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
)

// The first load may be far above what a service can do. Then the load falls until the
// objective is met, or until the lowest load misses it.

// lowerBracket halves the load. If no request has had a good answer yet, it lowers the load
// faster: a service that the first loads overloaded still works on what the clients have
// given up, and may miss the lowest load, too, until that is done. So it gets time for that.
func (s *Search) lowerBracket(w window) {
	load, lowest := s.step.Load, s.lowestLoad()
	switch {
	case load > lowest && !s.answered:
		s.load = s.fit(max(load/8, lowest))
	case load > lowest:
		s.load = s.fit(max(load/2, lowest))
	case !s.answered && s.spare(w.took):
		s.retried = true
	case !s.answered:
		s.unanswered(load)
	default:
		s.fail(Lowest, finding.Finding{Kind: finding.MissedAtLowest, Load: load, Because: w.misses(s)})
	}
}

// unanswered ends a search in which requests ended, and none of them with a good answer.
func (s *Search) unanswered(load float64) {
	s.fail(Lowest, finding.Finding{Kind: finding.NothingAnswered, Load: load})
}

// lowestLoad is the lowest load that is tried.
func (s *Search) lowestLoad() float64 {
	lowest := s.config.First * lowestShare
	if s.config.Whole {
		lowest = max(lowest, 1)
	}
	return lowest
}

// empty takes a window in which no request ended. The first loads may be too high for the
// service: a lower one is tried, as long as nothing was answered. Otherwise the load is
// held until a request ends, or is late.
func (s *Search) empty(w window) {
	r, load, seconds := &s.again, s.step.Load, s.step.Window.Seconds()
	if !s.answered {
		s.spare(w.took)
	}
	if s.stage == Bracket && !s.answered && load*seconds >= enoughDue && load > s.lowestLoad() {
		s.lowerBracket(w)
		return
	}
	r.empty++
	r.waited += seconds
	// The last requests may still be in time, and at less than a request a second none may
	// have been due.
	due := load * (r.waited - s.config.Late.Seconds())
	if r.empty < mostEmpty || !s.config.Whole && due < enoughDue {
		return
	}
	if len(s.met) > 0 {
		s.gone(load, finding.Finding{Kind: finding.NoRequestEnded, N: r.empty})
		return
	}
	if s.ended && !s.answered { // errors, or timeouts, at higher loads: few requests are due here
		s.unanswered(load)
		return
	}
	s.fail(Silent, finding.Finding{Kind: finding.NothingEnded, N: r.empty, Load: load})
}

// spare counts the traffic of a step for Patience instead of Budget, and reports whether
// some of that was left.
func (s *Search) spare(took time.Duration) bool {
	if s.wasted+took > s.config.Patience {
		return false
	}
	s.traffic -= took
	s.wasted += took
	return true
}
