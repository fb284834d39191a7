package live

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/signals"
)

// maxLines is the approximate maximum number of plain lines of a run.
const maxLines = 30

// unknownStep is the step of a run whose length is not known.
const unknownStep = 5 * time.Second

// step is the time that a plain line covers.
func (p *Plan) step() time.Duration {
	if p.Requests > 0 {
		return unknownStep
	}
	whole := p.Warmup + p.Length
	for _, s := range []time.Duration{1, 2, 5, 10, 30, 60, 120} {
		if s *= time.Second; whole <= maxLines*s {
			return s
		}
	}
	return 5 * time.Minute
}

// Line returns a line about the time since the previous one, if a step has passed or it is
// the end.
func (s *State) Line(end bool) (text string, ok bool) {
	enough := s.plan.step().Seconds()
	if end {
		enough = 0
	}
	const slack = 0.95 // intervals are accurate to about a millisecond
	if s.since.seconds == 0 || s.since.seconds < enough*slack {
		return "", false
	}
	text = s.line()
	s.since.used = usage{}
	s.since.resetClient()
	return text, true
}

func (s *State) line() string {
	seen := &s.since
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s  p50%s  p99%s  highest%s  errors%s  in flight%s", right(display.Clock(time.Duration(s.until-s.began)), 7),
		right(perSecond(seen), 11), right(seen.shown(seen.p50), 9), right(seen.shown(seen.p99), 9), right(seen.shown(seen.highest), 9),
		right(display.Grouped(seen.bad), 6), right(display.Grouped(s.inFlight), 6))
	if s.waiting > 0 {
		fmt.Fprintf(&b, "  waiting%s", right(display.Grouped(s.waiting), 6))
	}
	switch {
	case s.plan.Stages && s.plan.Open:
		fmt.Fprintf(&b, "  target rate%s/s", right(display.Grouped(int64(math.Round(s.rate))), 7))
	case s.plan.Stages:
		fmt.Fprintf(&b, "  users%s", right(display.Grouped(int64(math.Round(s.users))), 6))
	}
	if s.plan.Target != "" {
		b.WriteString(s.targetLine())
	}
	if s.phase == signals.Warmup {
		b.WriteString("  warm-up")
	}
	return b.String()
}

// targetLine is the part of a line about the observed process.
func (s *State) targetLine() string {
	u := &s.since.used
	if s.ended > 0 {
		return fmt.Sprintf("  %s ended at %s", s.plan.Target, display.Clock(s.ended))
	}
	text := "  CPU" + right(cores(u), 12)
	if u.limit != nil {
		text = "  CPU" + right(ofLimit(u), 6)
	}
	if u.periods != nil {
		text += "  throttled" + right(display.Share(u.throttledShare()), 6)
	}
	return text + "  memory" + right(display.Maybe(u.memory, bytes), 9)
}
