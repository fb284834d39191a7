package live

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/signals"
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
// the end. It leaves out fields that do not fit into the width; 0: no limit.
func (s *State) Line(end bool, width int) (text string, ok bool) {
	enough := s.plan.step().Seconds()
	if end {
		enough = 0
	}
	const slack = 0.95 // intervals are accurate to about a millisecond
	if s.since.seconds == 0 || s.since.seconds < enough*slack {
		return "", false
	}
	text = within(s.fields(), width)
	s.since.used = usage{}
	s.since.resetClient()
	return text, true
}

// lineField is a field of a line. The highest rank is left out first; 0 never.
type lineField struct {
	rank int
	text string
}

// within joins the fields that fit into a width.
func within(fields []lineField, width int) string {
	for {
		var b strings.Builder
		for _, f := range fields {
			b.WriteString(f.text)
		}
		least := slices.MaxFunc(fields, func(a, b lineField) int { return a.rank - b.rank }).rank
		if width <= 0 || least == 0 || display.Width(b.String()) <= width {
			return b.String()
		}
		fields = slices.DeleteFunc(fields, func(f lineField) bool { return f.rank == least })
	}
}

// fields are those of a line, in their order.
func (s *State) fields() []lineField {
	seen := &s.since
	fields := []lineField{
		{0, right(display.Clock(time.Duration(s.until-s.began)), 7) + right(perSecond(seen), 11)},
		{3, "  p50" + right(seen.shown(seen.p50), 9)},
		{0, "  p99" + right(seen.shown(seen.p99), 9)},
		{5, "  highest" + right(seen.shown(seen.highest), 9)},
		{0, "  errors" + right(display.Grouped(seen.bad), 6)},
		{2, "  in flight" + right(display.Grouped(s.inFlight), 6)},
	}
	if s.waiting > 0 {
		fields = append(fields, lineField{0, "  waiting" + right(display.Grouped(s.waiting), 6)})
	}
	switch {
	case s.plan.Stages && s.plan.Open:
		fields = append(fields, lineField{0, "  target rate" + right(display.Grouped(int64(math.Round(s.rate))), 7) + "/s"})
	case s.plan.Stages:
		fields = append(fields, lineField{0, "  users" + right(display.Grouped(int64(math.Round(s.users))), 6)})
	}
	if s.plan.Target != "" {
		fields = append(fields, s.targetFields()...)
	}
	if s.phase == signals.Warmup {
		fields = append(fields, lineField{0, "  warm-up"})
	}
	return fields
}

// targetFields are the fields about the observed process.
func (s *State) targetFields() []lineField {
	u := &s.since.used
	if s.ended > 0 {
		return []lineField{{0, fmt.Sprintf("  %s ended at %s", s.plan.Target, display.Clock(s.ended))}}
	}
	fields := []lineField{{0, "  CPU" + right(cores(u), 12)}}
	if u.limit != nil {
		fields[0].text = "  CPU" + right(ofLimit(u), 6)
	}
	if u.periods != nil {
		fields = append(fields, lineField{1, "  throttled" + right(display.Share(u.throttledShare()), 6)})
	}
	return append(fields, lineField{4, "  memory" + right(display.Maybe(u.memory, bytes), 9)})
}
