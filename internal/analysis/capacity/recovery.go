package capacity

import (
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
)

// near is how far below an answer, as a share, a load may be whose test window met the
// objective for the answer to count as tested. It is the error of the answer: 90% of
// the answers are within 13% of the truth for the worst of the simulated services, and
// within 5% for most.
const near = 0.1

// shown sets what the windows of a search showed about its answer: the highest load
// that was tested and met the objective, and the lowest above it that missed.
func (s *Replayed) shown(b *summary.BreakingPoint) {
	r := s.Result()
	goal := objective.Of(s.exp, s.plan)
	if t := s.Tested(); t != nil && t.Client.Seconds() > 0 {
		step := goal.Step(r.Tested, t)
		b.Held = &step
	}
	b.Untested = r.Tested < r.Load*(1-near)
	byLoad, seen := map[float64]*sums.Total{}, map[float64][]search.Block{}
	// Near the answer, every second window misses. One that missed below it is part of
	// the interval, and not what was missed above the answer.
	lowest, above := 0.0, max(r.Tested, r.Load)
	if r.Tested == 0 {
		above = r.Low
	}
	for i := range s.steps {
		step := &s.steps[i]
		if !step.used || !step.measured() || step.after() || step.Load <= above {
			continue
		}
		if byLoad[step.Load] == nil {
			byLoad[step.Load] = sums.New()
		}
		byLoad[step.Load].Merge(step.window.Sums)
		seen[step.Load] = append(seen[step.Load], step.window.Blocks()...)
	}
	for load, blocks := range seen {
		if (lowest == 0 || load < lowest) && s.config().Missed(blocks) {
			lowest = load
		}
	}
	if t := byLoad[lowest]; t != nil && t.Client.Seconds() > 0 && !r.AtLeast {
		step := goal.Step(lowest, t)
		b.Missed = &step
	}
}

// recovered sets what followed the answers of searches: of all that measured it, the
// one that recovered at the lowest load, relative to the one that it held before.
func recovered(b *summary.BreakingPoint, of []*Replayed) {
	var worst search.Recovery
	n := [2]int{}
	for i, one := range of {
		r := one.Result().Recovery
		if r.Why.None() {
			n[1]++
		}
		if r.Hysteresis() {
			n[0]++
		}
		if i == 0 || worseThan(r, worst) {
			worst = r
		}
	}
	b.Recovery = &summary.Recovery{SustainedAt: some(worst.SustainedAt), Overload: some(worst.Overload), NotAt: some(worst.NotAt),
		Lost: worst.Lost, Why: worst.Why, Searches: n}
	if worst.Sustained != "" {
		met := worst.Sustained == search.SustainedMet
		b.Recovery.Sustained = &met
	}
	b.RecoversAt = some(worst.At)
}

// worseThan orders recoveries: one that was not measured is the best.
func worseThan(a, b search.Recovery) bool {
	share := func(r search.Recovery) float64 {
		if !r.Why.None() {
			return 2
		}
		return r.At / r.Reference
	}
	return share(a) < share(b)
}

// some is a load that was reached; nil: 0.
func some(load float64) *float64 {
	if load == 0 {
		return nil
	}
	return &load
}
