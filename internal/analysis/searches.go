package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/sums"
)

// searches are the searches of a cell's trials, and what they found.
type searches struct {
	all     []*replayed
	users   bool // the load is a number of users, not a rate
	skipped bool // the service was not available
}

func (c *cell) searches() *searches {
	s := &searches{users: c.plan.Load.Users != nil, skipped: c.skipped != ""}
	for _, t := range c.trials {
		s.all = append(s.all, t.search)
	}
	return s
}

// breakingPoint combines the searches.
//
// The answer, its reason, its limit and the evidence all rest on one kind of search:
// on those that saw the service break, if any did; or else on those that gave a lower
// bound; or else on those that found nothing.
func (s *searches) breakingPoint() *BreakingPoint {
	b := &BreakingPoint{}
	var broke, bounds, none []*replayed
	for _, one := range s.all {
		r := one.result()
		b.TrafficS = max(b.TrafficS, r.Traffic.Seconds())
		switch {
		case r.Load == 0:
			none = append(none, one)
		case r.AtLeast:
			bounds = append(bounds, one)
		default:
			broke = append(broke, one)
		}
	}
	b.Searches = len(broke) + len(bounds)
	switch {
	case len(broke) > 0:
		s.broke(b, broke, bounds)
	case len(bounds) > 0:
		s.bound(b, bounds)
	case len(none) > 0:
		s.unfound(b, none)
		return b
	case s.skipped:
		b.Reason = "the service was skipped"
		return b
	default:
		b.Reason = "no search was possible"
		return b
	}
	if len(none) > 0 {
		b.Reason = joinNotes(b.Reason, fmt.Sprintf("%d of %d searches found no breaking point: %s", len(none), len(s.all), none[0].result().Reason))
	}
	return b
}

// broke sets the breaking point from the searches that found one. Searches that gave
// only a lower bound show that some starts of the service may handle more: they do not
// move the answer, but extend the interval.
func (s *searches) broke(b *BreakingPoint, broke, bounds []*replayed) {
	var loads, lows, highs []float64
	for _, one := range broke {
		r := one.result()
		loads, lows, highs = append(loads, r.Load), append(lows, r.Low), append(highs, r.High)
		b.Reason = cmp.Or(b.Reason, r.Reason)
	}
	load, low, high := combined(loads, lows, highs)
	if len(bounds) > 0 {
		most := slices.MaxFunc(bounds, byLoad).result()
		high = max(high, most.Load)
		b.Reason = joinNotes(b.Reason, fmt.Sprintf("%d of %d searches gave only a lower bound, at least %s, so some starts may handle more: %s",
			len(bounds), len(s.all), threeDigits(most.Load), most.Reason))
	}
	s.at(b, load, low)
	if !math.IsInf(high, 0) {
		b.High = &high
	}
	b.LimitedBy, b.Evidence = limitedBy(broke)
	nearest := slices.MinFunc(broke, func(x, y *replayed) int {
		return cmp.Compare(math.Abs(x.result().Load-load), math.Abs(y.result().Load-load))
	})
	b.Ended = string(nearest.result().Ended)
	nearest.shown(b)
	b.recovered(broke)
}

// bound sets the lower bound if no search saw the service break. It is the lowest of
// them, because every start of the service handled that load. The reason is that of
// the search that gave it.
func (s *searches) bound(b *BreakingPoint, bounds []*replayed) {
	least, most := slices.MinFunc(bounds, byLoad), slices.MaxFunc(bounds, byLoad).result()
	r := least.result()
	s.at(b, r.Load, r.Low)
	b.AtLeast, b.Reason = true, r.Reason
	if most.Load > r.Load {
		b.Reason = joinNotes(b.Reason, fmt.Sprintf("each of the %d searches gave only a lower bound, the highest at least %s", len(bounds), threeDigits(most.Load)))
	}
	if r.Ended.Generator() {
		b.LimitedBy, b.Evidence = least.bounded()
	}
	b.Ended = endedBy(r.Ended, b.LimitedBy)
	least.shown(b)
	b.recovered(bounds)
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
func (s *searches) unfound(b *BreakingPoint, none []*replayed) {
	of := slices.DeleteFunc(slices.Clone(none), func(one *replayed) bool { return one.result().Ended.Generator() })
	if len(of) == 0 {
		b.Reason = none[0].result().Reason
		b.LimitedBy, b.Evidence = none[0].bounded()
		b.Ended = endedBy(none[0].result().Ended, b.LimitedBy)
		return
	}
	b.Reason, b.Ended = of[0].result().Reason, string(of[0].result().Ended)
	by, evidence := limitedBy(of)
	if by != ByErrors && by != ByMemory && slices.ContainsFunc(of, func(one *replayed) bool { return one.sources() != 0 }) {
		return // a neighbour may have caused the miss, but never bad answers or OOM kills
	}
	b.LimitedBy, b.Evidence = by, evidence
}

// at sets a breaking point and the lower end of its interval.
func (s *searches) at(b *BreakingPoint, load, low float64) {
	if s.users {
		b.Users = &load
	} else {
		b.RateRPS = &load
	}
	b.Low = &low
}

func byLoad(a, b *replayed) int { return cmp.Compare(a.result().Load, b.result().Load) }

// combined returns one figure with its interval for several searches. Each search has
// its own interval, which is valid for one start of the service. From six searches on,
// their loads give an interval of the median over starts, which is wider if starts
// differ. With fewer, the interval spans from the lowest to the highest end.
func combined(loads, lows, highs []float64) (load, low, high float64) {
	slices.Sort(loads)
	load = loads[len(loads)/2]
	if len(loads)%2 == 0 {
		load = (loads[len(loads)/2-1] + load) / 2
	}
	if l, h, ok := medianInterval(len(loads)); ok {
		return load, loads[l], loads[h]
	}
	return load, slices.Min(lows), slices.Max(highs)
}

// limitedBy returns what limited the service in the windows just above the answers of
// searches, and the figures that show it.
func limitedBy(searches []*replayed) (by, evidence string) {
	var above *stretch
	var blocks []search.Block
	for _, one := range searches {
		missed, bad := one.missed()
		if missed == nil {
			continue
		}
		if above == nil {
			above = &stretch{goal: goalOf(one.exp, one.plan), open: one.plan.Load.Users == nil, sums: sums.New()}
		}
		above.sums.Merge(missed)
		above.over = append(above.over, one.overloads()...)
		blocks = append(blocks, bad...)
	}
	if above == nil {
		return "", ""
	}
	return above.inside(blocks)
}

// evidenceAt returns the ends of the loads of the windows that limitedBy used for a
// breaking point: of the searches that found one, or of all if none did.
func (s *searches) evidenceAt(b *BreakingPoint) []float64 {
	if b.LimitedBy == "" || b.AtLeast {
		return nil
	}
	var loads []float64
	for _, one := range s.all {
		if r := one.result(); (r.Load > 0) != (b.Load() != nil) || r.AtLeast || r.Ended.Generator() {
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
