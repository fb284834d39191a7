package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/search"
)

// breaking puts the searches of a cell's trials together, or reads the breaking
// point from the levels of a load that was raised in steps.
//
// What is said rests on one kind of search, the reason, the limit and its
// evidence alike: on those that saw the service break, if any did; else on those
// that gave a lower bound; else on those that found nothing.
func (c *cell) breaking(steps []Step) *BreakingPoint {
	if !c.plan.Load.Find {
		return c.ramped(steps)
	}
	b := &BreakingPoint{}
	var broke, bounds, none []*searched
	for _, t := range c.trials {
		r := t.search.result()
		b.TrafficS = max(b.TrafficS, r.Traffic.Seconds())
		switch {
		case r.Load == 0:
			none = append(none, t.search)
		case r.AtLeast:
			bounds = append(bounds, t.search)
		default:
			broke = append(broke, t.search)
		}
	}
	b.Searches = len(broke) + len(bounds)
	switch {
	case len(broke) > 0:
		c.broke(b, broke, bounds)
	case len(bounds) > 0:
		c.bound(b, bounds)
	case len(none) > 0:
		c.unfound(b, none)
		return b
	case c.skipped != "":
		b.Reason = "the service was skipped"
		return b
	default:
		b.Reason = "no search could be made"
		return b
	}
	if len(none) > 0 {
		b.Reason = noted(b.Reason, fmt.Sprintf("%d of %d searches found none: %s", len(none), len(c.trials), none[0].result().Reason))
	}
	return b
}

// broke is the breaking point by the searches that saw one. Bounds beside them
// only say that some starts of the service may bear more: they move no answer,
// but the interval reaches to what they have shown.
func (c *cell) broke(b *BreakingPoint, broke, bounds []*searched) {
	var loads, lows, highs []float64
	for _, s := range broke {
		r := s.result()
		loads, lows, highs = append(loads, r.Load), append(lows, r.Low), append(highs, r.High)
		b.Reason = cmp.Or(b.Reason, r.Reason)
	}
	load, low, high := together(loads, lows, highs)
	if len(bounds) > 0 {
		most := slices.MaxFunc(bounds, byLoad).result()
		high = max(high, most.Load)
		b.Reason = noted(b.Reason, fmt.Sprintf("%d of %d searches gave only a bound, at least %s, so some starts may bear more: %s",
			len(bounds), len(c.trials), threeDigits(most.Load), most.Reason))
	}
	c.at(b, load, low)
	if !math.IsInf(high, 0) {
		b.High = &high
	}
	b.LimitedBy, b.Evidence = c.limitedBy(broke)
}

// bound is the lower bound where no search saw the service break: the lowest, as
// that is what every start of the service has borne. It is told by the search
// that gave it.
func (c *cell) bound(b *BreakingPoint, bounds []*searched) {
	least, most := slices.MinFunc(bounds, byLoad), slices.MaxFunc(bounds, byLoad).result()
	r := least.result()
	c.at(b, r.Load, r.Low)
	b.AtLeast, b.Reason = true, r.Reason
	if most.Load > r.Load {
		b.Reason = noted(b.Reason, fmt.Sprintf("each of the %d searches gave only a bound, the highest at least %s", len(bounds), threeDigits(most.Load)))
	}
	if r.Limited {
		b.LimitedBy, b.Evidence = least.bounded()
	}
}

// unfound says why there is no breaking point. A search that tells of the
// service comes before one that tells of the generator.
func (c *cell) unfound(b *BreakingPoint, none []*searched) {
	of := slices.DeleteFunc(slices.Clone(none), func(s *searched) bool { return s.result().Limited })
	if len(of) == 0 {
		b.Reason = none[0].result().Reason
		b.LimitedBy, b.Evidence = none[0].bounded()
		return
	}
	b.Reason = of[0].result().Reason
	by, evidence := c.limitedBy(of)
	if by != ByErrors && by != ByMemory && slices.ContainsFunc(of, func(s *searched) bool { return s.disturbers() != 0 }) {
		return // a neighbour may have broken it; bad answers and OOM kills are never a neighbour's
	}
	b.LimitedBy, b.Evidence = by, evidence
}

// at sets a breaking point and the lower end of its interval.
func (c *cell) at(b *BreakingPoint, load, low float64) {
	if c.plan.Load.Users != nil {
		b.Users = &load
	} else {
		b.RateRPS = &load
	}
	b.Low = &low
}

func byLoad(a, b *searched) int { return cmp.Compare(a.result().Load, b.result().Load) }

// together gives one figure with its interval for several searches. Each has
// its own interval, that of one start of the service; from six on the loads
// themselves give one of their median over starts, which is wider where starts
// differ. Between them nothing is assumed: from the lowest to the highest end.
func together(loads, lows, highs []float64) (load, low, high float64) {
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

// limitedBy says what the windows just above the answers of searches show, and
// the figures that this rests on.
func (c *cell) limitedBy(searches []*searched) (by, evidence string) {
	all := newTally()
	var blocks []search.Block
	seen := false
	for _, s := range searches {
		missed, bad := s.missed()
		if missed == nil {
			continue
		}
		seen = true
		all.merge(missed)
		blocks = append(blocks, bad...)
	}
	if !seen {
		return "", ""
	}
	return c.cause(all, blocks)
}

// judge says what limits a level that was not looked at before: the generator,
// the host, or the service.
func (c *cell) judge(all *tally, blocks []search.Block) (by, evidence string) {
	o := c.observed(all)
	if by := o.limited(); by != "" {
		return by, o.weakness(by)
	}
	return c.cause(all, blocks)
}

// observed takes a tally of the cell for a window of a search.
func (c *cell) observed(t *tally) *Observed {
	return &Observed{tally: t, objective: c.exp.Objective, open: c.plan.Load.Users == nil}
}

// generatorLimited reports whether the generator was the limit of what a tally
// sums up, so that its rates are lower bounds. Whatever the service does, it was
// where it sent late. Where users wait for their answers, which bounds how late
// they can be, it was also where a search would say so: see Observed.limited. Where nothing was
// answered there is no rate to be a bound.
func (c *cell) generatorLimited(t *tally) bool {
	if t.client.latency.Count() == 0 {
		return false
	}
	return t.noise.Limited() || c.observed(t).limited() == ByGenerator
}

// cause goes from what is told for sure of the service to what is left.
func (c *cell) cause(all *tally, blocks []search.Block) (by, evidence string) {
	s := &all.server
	if s.oomKills != nil && *s.oomKills > 0 {
		return ByMemory, plural(int(*s.oomKills), "OOM kill") + " in the windows above it"
	}
	if text := c.erring(all, blocks); text != "" {
		return ByErrors, text
	}
	used, share := s.ofLimit(), s.throttledShare()
	if used != nil && *used >= atLimit {
		return ByCPULimit, fmt.Sprintf("it used %.0f%% of its CPU limit%s", 100**used, periodsText(share))
	}
	for _, name := range slices.Sorted(maps.Keys(all.deps)) {
		d := all.deps[name]
		if of, part := d.ofLimit(), d.throttledShare(); of != nil && *of >= atLimit || part != nil && *part >= 0.25 {
			return ByDependency, name + " was at its own CPU limit" + periodsText(part)
		}
	}
	if text := all.waiting(); text != "" {
		return ByDependency, text
	}
	if share != nil && *share >= throttledLittle {
		return ByThrottling, fmt.Sprintf("it was throttled in %.0f%% of the periods, though it used %.0f%% of its CPU limit on average", 100**share, 100*deref(used))
	}
	text := "neither its CPU limit, nor memory, nor errors: its own parallelism, locks or queues"
	if used != nil {
		text += fmt.Sprintf("; it used %.0f%% of its CPU limit", 100**used)
	} else if cores := s.cores(); cores != nil {
		text += fmt.Sprintf("; it used %.2f cores", *cores)
	}
	return ByService, text
}

// waiting words that most of the time that requests take, they wait for what the
// service depends on, as it tells itself.
func (t *tally) waiting() string {
	n := float64(t.client.service.Count())
	if n == 0 {
		return ""
	}
	waited, took := 1e3*t.waits.sum/n, ms(t.client.service.Mean())
	if waited < mostOf*took {
		return ""
	}
	return fmt.Sprintf("of the %.3g ms that a request took, it waited %.3g for what the service depends on", took, min(waited, took))
}

// mostOf the time of a request is what makes a wait the reason.
const mostOf = 0.5

// erring words that the errors, and not the latency, miss the objective. A
// timeout is a slow answer, not an error of this kind.
func (c *cell) erring(all *tally, blocks []search.Block) string {
	config := SearchConfig(c.exp, c.plan)
	k := &all.client
	bad := k.requests() - k.good - k.timeouts - k.dropped
	n := float64(k.requests())
	if n == 0 || bad == 0 || config.AllowedBad >= 0 && float64(bad) <= config.AllowedBad*n || config.AllowedBad < 0 && float64(bad) <= config.AllowedLate*n {
		return ""
	}
	var late int64
	for _, b := range blocks {
		late += b.Late
	}
	if config.AllowedBad >= 0 && config.AllowedLate >= 0 && float64(late) > config.AllowedLate*n && late > bad {
		return "" // the latency broke first
	}
	return fmt.Sprintf("%.3g%% of the requests got no good answer", 100*float64(bad)/n)
}

func periodsText(share *float64) string {
	if share == nil {
		return ""
	}
	return fmt.Sprintf(", throttled in %.0f%% of the periods", 100**share)
}

func deref[T int64 | float64](v *T) T {
	if v == nil {
		return 0
	}
	return *v
}
