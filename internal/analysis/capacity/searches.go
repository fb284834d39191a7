package capacity

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
)

// Searches are the searches of a cell's trials, and what they found.
type Searches struct {
	Goal    objective.Goal
	All     []*Replayed
	Users   bool // the load is a number of users, not a rate
	Skipped bool // the service was not available
}

// BreakingPoint combines the searches, each of its own start of the service. The answer
// is the median over starts. One that missed the objective at every load, or whose
// service died, counts as a start that breaks below all others, and a lower bound as one
// that breaks above it. Searches that could not determine either are left out.
//
// The reason, the limit and the evidence rest on the searches that saw the service
// break, if any did; or else on those that gave a lower bound; or else on the others.
func (s *Searches) BreakingPoint() *summary.BreakingPoint {
	b := s.breakingPoint()
	if !b.AtLeast {
		b.FirstKind, b.FirstKindShare = s.firstKind()
	}
	return b
}

func (s *Searches) breakingPoint() *summary.BreakingPoint {
	b := &summary.BreakingPoint{}
	var broke, bounds, below, none, changed []*Replayed
	for _, one := range s.All {
		r := one.Result()
		b.TrafficS = max(b.TrafficS, r.Traffic.Seconds())
		switch _, known := one.bracket(); {
		case r.Load > 0 && r.AtLeast:
			bounds = append(bounds, one)
		case r.Load > 0:
			broke = append(broke, one)
		case known:
			below = append(below, one)
		default:
			none = append(none, one)
		}
		if r.Ended.Changed() {
			changed = append(changed, one)
		}
	}
	found := len(broke) + len(bounds)
	switch {
	case len(changed) > 0 && 2*len(changed) >= len(s.All): // the others are starts that do it later, or earlier
		b.Why, b.Ended = reason(changed[0].Result()), string(changed[0].Result().Ended)
		return b
	case found == 0 && len(below)+len(none) > 0:
		s.unfound(b, append(below, none...))
		return b
	case found == 0 && s.Skipped:
		b.Why = []finding.Finding{{Kind: finding.ServiceSkipped}}
		return b
	case found == 0:
		b.Why = []finding.Finding{{Kind: finding.NoSearch}}
		return b
	}
	b.Searches = found + len(below)
	switch median := s.median(b, broke, bounds, below); {
	case math.IsInf(median.High, -1):
		s.unfound(b, below)
		b.Searches, b.Why = 0, nil
		s.note(b, below, finding.SomeFoundNoLoad)
		s.note(b, slices.Concat(broke, bounds), finding.SomeFoundLoads)
		return b
	case len(broke) == 0:
		s.bound(b, bounds)
	case math.IsInf(median.High, 1):
		r := bounds[0].Result()
		b.AtLeast, b.Why = true, reason(r)
		if r.Ended.Generator() {
			b.LimitedBy, b.Shown = bounds[0].bounded()
		}
		b.Ended = endedBy(r.Ended, b.LimitedBy)
		bounds[0].shown(b)
		recovered(b, slices.Concat(broke, bounds))
	default:
		b.Why = firstReason(broke)
		b.LimitedBy, b.Shown = limitedBy(broke)
		untested := func(one *Replayed) bool { return one.Result().Tested < median.Low*(1-near) }
		nearest := slices.MinFunc(broke, func(x, y *Replayed) int {
			switch { // one whose window confirms the median shows it best
			case untested(x) != untested(y) && untested(y):
				return -1
			case untested(x) != untested(y):
				return 1
			}
			return cmp.Compare(math.Abs(x.Result().Load-median.Low), math.Abs(y.Result().Load-median.Low))
		})
		b.Ended = string(nearest.Result().Ended)
		nearest.shown(b)
		b.Untested = untested(nearest)
		recovered(b, broke)
	}
	s.note(b, bounds, finding.SomeGaveBounds)
	s.note(b, below, finding.SomeFoundNoLoad)
	s.note(b, none, finding.SomeLeftOut)
	return b
}

// nearBelow is how far below its answer a window of a search may be to show what is late there.
const nearBelow = 0.8

// firstKind is the kind of request that breaks first, and its share of the requests that are late or
// failed, by the windows from a little below the answers on; of a search without an answer by all.
// A descent begins with the backlog of an overload, so it shows none.
func (s *Searches) firstKind() (name string, share float64) {
	type level struct {
		load float64 // as a share of the answer
		sums *sums.Total
	}
	var levels []level
	for _, one := range s.All {
		answer := one.Result().Load
		for i := range one.steps {
			step := &one.steps[i]
			stage := search.Stage(step.Stage)
			left := stage == search.Descend || stage == search.Recover || !step.used && !step.after()
			if left || !step.measured() || step.Load < nearBelow*answer || step.window.Sums.Noise.Sources() != 0 || step.window.outside() != "" {
				continue
			}
			levels = append(levels, level{step.Load / cmp.Or(answer, 1), step.window.Sums})
		}
	}
	slices.SortStableFunc(levels, func(x, y level) int { return cmp.Compare(x.load, y.load) })
	all := make([]*sums.Total, len(levels))
	for i := range levels {
		all[i] = levels[i].sums
	}
	return s.Goal.FirstKind(all)
}

// Steps returns one entry per load that windows held, ascending.
func (s *Searches) Steps() (steps []summary.Step) {
	byLoad := map[float64]*sums.Total{}
	unanswered := map[float64]bool{}
	for _, one := range s.All {
		one.windows(byLoad, unanswered)
	}
	for _, load := range slices.Sorted(maps.Keys(byLoad)) {
		t := byLoad[load]
		if t.Client.Seconds() <= 0 {
			continue
		}
		step := s.Goal.Step(load, t)
		if unanswered[load] && step.Met != nil && *step.Met {
			step.Met = nil // the windows with answers do not decide it
		}
		steps = append(steps, step)
	}
	return steps
}

// note adds what some of the searches found instead of a breaking point.
func (s *Searches) note(b *summary.BreakingPoint, some []*Replayed, what finding.Kind) {
	if len(some) == 0 || len(some) == len(s.All) {
		return
	}
	r := some[0].Result()
	note := finding.Finding{Kind: what, N: len(some), Of: len(s.All), AtLeast: r.AtLeast, Because: []finding.Finding{r.Why}}
	if r.Load > 0 {
		note.Load = slices.MaxFunc(some, byLoad).Result().Load
	}
	b.Why = append(b.Why, note)
}

// firstReason is the first reason of searches; nil: none has one.
func firstReason(some []*Replayed) []finding.Finding {
	for _, one := range some {
		if why := one.Result().Why; !why.None() {
			return []finding.Finding{why}
		}
	}
	return nil
}

// median sets the load and its ends. Each search has its own interval, which is valid
// for one start of the service. From six searches on, their loads give an interval of
// the median over starts, which is wider if starts differ. With fewer, the interval
// spans from the lowest to the highest end. An end that a lower bound decides is not
// known. The median is that of Kaplan and Meier (Journal of the American Statistical
// Association 53, 1958): of two middle ones of which one is a bound, it is the other
// one. It returns the median: a High of -Inf means that it lies below all loads, and an
// infinite one that it is a lower bound.
func (s *Searches) median(b *summary.BreakingPoint, broke, bounds, below []*Replayed) stats.Observed {
	var loads, ends []stats.Observed
	for _, one := range slices.Concat(broke, bounds) {
		r := one.Result()
		load := stats.Known(r.Load)
		if r.AtLeast {
			load.High = math.Inf(1)
		}
		loads, ends = append(loads, load), append(ends, stats.Observed{Low: r.Low, High: max(r.High, load.High)})
	}
	for range below {
		least := stats.Known(math.Inf(-1))
		loads, ends = append(loads, least), append(ends, least)
	}
	median := stats.KaplanMeierMedian(loads)
	if math.IsInf(median.High, -1) {
		return median
	}
	if len(loads) >= summary.EnoughTrials {
		ends = loads
	}
	_, interval := stats.CensoredMedian(ends)
	s.at(b, median.Low, max(0, min(interval.Low, median.Low)))
	if high := max(interval.High, median.High); !math.IsInf(high, 1) {
		b.High = &high
	}
	return median
}

// bound sets the lower bound if no search saw the service break. It is the lowest of
// them, because every start of the service handled that load. The reason is that of
// the search that gave it.
func (s *Searches) bound(b *summary.BreakingPoint, bounds []*Replayed) {
	least, most := slices.MinFunc(bounds, byLoad), slices.MaxFunc(bounds, byLoad).Result()
	r := least.Result()
	s.at(b, r.Load, r.Low)
	b.AtLeast, b.Why = true, reason(r)
	if most.Load > r.Load {
		b.Why = append(b.Why, finding.Finding{Kind: finding.EachGaveBound, N: len(bounds), Load: most.Load})
	}
	if r.Ended.Generator() {
		b.LimitedBy, b.Shown = least.bounded()
	}
	b.Ended = endedBy(r.Ended, b.LimitedBy)
	least.shown(b)
	recovered(b, bounds)
}

// endedBy is why a search ended, with the one of generator and host that was the limit.
func endedBy(ended search.Ended, by string) string {
	if ended == search.Limited && by != "" {
		return by
	}
	return string(ended)
}

// unfound explains why there is no breaking point. A search limited by the service takes
// precedence over one limited by the generator.
func (s *Searches) unfound(b *summary.BreakingPoint, none []*Replayed) {
	of := slices.DeleteFunc(slices.Clone(none), func(one *Replayed) bool { return one.Result().Ended.Generator() })
	if len(of) == 0 {
		b.Why = reason(none[0].Result())
		b.LimitedBy, b.Shown = none[0].bounded()
		b.Ended = endedBy(none[0].Result().Ended, b.LimitedBy)
		return
	}
	b.Why, b.Ended = reason(of[0].Result()), string(of[0].Result().Ended)
	by, shown := limitedBy(of)
	broken := by == summary.ByMemory || by == summary.ByErrors && shown[0].Share == 1
	if !broken && slices.ContainsFunc(of, (*Replayed).otherwise) {
		return // a neighbour may have caused the miss, and errors of a full queue, but not all
	}
	b.LimitedBy, b.Shown = by, shown
}

// otherwise reports whether something may have made the service miss its objective that the
// windows with the highest overloads do not show: others, or bursts or single requests at loads
// that it keeps up with.
func (r *Replayed) otherwise() bool {
	switch r.Result().Why.Kind {
	case finding.MissesInBursts, finding.BurstsUndecided, finding.LateAtAnyLoad, finding.PerhapsLateAtAnyLoad:
		return true
	}
	return r.Sources() != 0
}

// at sets a breaking point and the lower end of its interval.
func (s *Searches) at(b *summary.BreakingPoint, load, low float64) {
	if s.Users {
		b.Users = &load
	} else {
		b.RateRPS = &load
	}
	b.Low = &low
}

func byLoad(a, b *Replayed) int { return cmp.Compare(a.Result().Load, b.Result().Load) }

// limitedBy returns what limited the service in the windows just above the answers of
// searches, and the figures that show it.
func limitedBy(searches []*Replayed) (by string, shown []finding.Finding) {
	var above *Stretch
	var blocks []search.Block
	for _, one := range searches {
		missed, bad := one.missed()
		if missed == nil {
			continue
		}
		if above == nil {
			above = new(stretchOf(one.exp, one.plan))
		}
		above.Sums.Merge(missed)
		above.over = append(above.over, one.overloads()...)
		blocks = append(blocks, bad...)
		if light := one.light(); light != nil {
			if above.below == nil {
				above.below = sums.New()
			}
			above.below.Merge(light)
		}
		if above.quiet == nil {
			above.quiet = sums.New()
		}
		one.quiet.Sum(above.quiet, one.plan.Service.Name)
	}
	if above == nil {
		return "", nil
	}
	if above.below == nil {
		above.kept = keptUp(searches, above)
	}
	return above.inside(blocks)
}

// Overloaded merges the windows above the answers that missed the objective, and the overloads
// that followed them; nil if there are none.
func (s *Searches) Overloaded() (all *sums.Total) {
	for _, one := range s.All {
		for _, o := range one.overloads() {
			if all == nil {
				all = sums.New()
			}
			all.Merge(o.sums)
		}
	}
	return all
}

// EvidenceAt returns the ends of the loads of the windows that limitedBy used for a
// breaking point: of the searches that found one, or of all if none did.
func (s *Searches) EvidenceAt(b *summary.BreakingPoint) []float64 {
	if b.LimitedBy == "" || b.AtLeast {
		return nil
	}
	var loads []float64
	for _, one := range s.All {
		if r := one.Result(); (r.Load > 0) != (b.Load() != nil) || r.AtLeast || r.Ended.Generator() {
			continue
		}
		for _, step := range one.missedSteps() {
			loads = append(loads, step.Load)
		}
	}
	if len(loads) == 0 {
		return nil
	}
	return []float64{slices.Min(loads), slices.Max(loads)}
}

// reason is why a search has no answer, or only a bound; nil: it has one.
func reason(r search.Result) []finding.Finding {
	if r.Why.None() {
		return nil
	}
	return []finding.Finding{r.Why}
}
