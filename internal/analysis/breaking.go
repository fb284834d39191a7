package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/search"
)

// breaking combines the searches of a cell's trials, or reads the breaking point from
// the levels of a ramp.
//
// The answer, its reason, its limit and the evidence all rest on one kind of search:
// on those that saw the service break, if any did; or else on those that gave a lower
// bound; or else on those that found nothing.
func (c *cell) breaking(steps []Step) *BreakingPoint {
	if !c.plan.Load.Find {
		return c.rampBreakingPoint(steps)
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
		b.Reason = "no search was possible"
		return b
	}
	if len(none) > 0 {
		b.Reason = joinNotes(b.Reason, fmt.Sprintf("%d of %d searches found no breaking point: %s", len(none), len(c.trials), none[0].result().Reason))
	}
	return b
}

// broke sets the breaking point from the searches that found one. Searches that gave
// only a lower bound show that some starts of the service may handle more: they do not
// move the answer, but extend the interval.
func (c *cell) broke(b *BreakingPoint, broke, bounds []*searched) {
	var loads, lows, highs []float64
	for _, s := range broke {
		r := s.result()
		loads, lows, highs = append(loads, r.Load), append(lows, r.Low), append(highs, r.High)
		b.Reason = cmp.Or(b.Reason, r.Reason)
	}
	load, low, high := combined(loads, lows, highs)
	if len(bounds) > 0 {
		most := slices.MaxFunc(bounds, byLoad).result()
		high = max(high, most.Load)
		b.Reason = joinNotes(b.Reason, fmt.Sprintf("%d of %d searches gave only a lower bound, at least %s, so some starts may handle more: %s",
			len(bounds), len(c.trials), threeDigits(most.Load), most.Reason))
	}
	c.at(b, load, low)
	if !math.IsInf(high, 0) {
		b.High = &high
	}
	b.LimitedBy, b.Evidence = c.limitedBy(broke)
}

// bound sets the lower bound if no search saw the service break. It is the lowest of
// them, because every start of the service handled that load. The reason is that of
// the search that gave it.
func (c *cell) bound(b *BreakingPoint, bounds []*searched) {
	least, most := slices.MinFunc(bounds, byLoad), slices.MaxFunc(bounds, byLoad).result()
	r := least.result()
	c.at(b, r.Load, r.Low)
	b.AtLeast, b.Reason = true, r.Reason
	if most.Load > r.Load {
		b.Reason = joinNotes(b.Reason, fmt.Sprintf("each of the %d searches gave only a lower bound, the highest at least %s", len(bounds), threeDigits(most.Load)))
	}
	if r.Limited {
		b.LimitedBy, b.Evidence = least.bounded()
	}
}

// unfound explains why there is no breaking point. A search limited by the service takes
// precedence over one limited by the generator.
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
		return // a neighbour may have caused the miss, but never bad answers or OOM kills
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

// judge returns what limits a level that no search has judged: the generator, the
// host, or the service.
func (c *cell) judge(all *tally, blocks []search.Block) (by, evidence string) {
	o := c.observed(all)
	if by := o.limited(); by != "" {
		return by, o.limitEvidence(by)
	}
	return c.cause(all, blocks)
}

// observed uses a tally of the cell as the window of a search.
func (c *cell) observed(t *tally) *Observed {
	return &Observed{tally: t, objective: c.exp.Objective, open: c.plan.Load.Users == nil, timeout: c.plan.Load.Timeout}
}

// generatorLimited reports whether the generator was the limit in a tally, so that its
// rates are lower bounds. It was if it sent late. In a closed loop, where waiting for
// answers bounds the lag, it also was if a search would say so: see Observed.limited.
// Without answers there is no rate that could be a bound.
func (c *cell) generatorLimited(t *tally) bool {
	if t.client.latency.Count() == 0 {
		return false
	}
	return t.noise.Limited() || c.observed(t).limited() == ByGenerator
}

// cause returns what limits the service. It checks the certain causes first.
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

// waiting states that requests spend most of their time waiting for a dependency, as
// the service reports it; "" otherwise.
func (t *tally) waiting() string {
	n := float64(t.client.service.Count())
	if n == 0 {
		return ""
	}
	waited, took := 1e3*t.waits.sum/n, ms(t.client.service.Mean())
	if waited < waitShare*took {
		return ""
	}
	return fmt.Sprintf("a request took %.3g ms, of which it waited %.3g ms for a dependency", took, min(waited, took))
}

// waitShare is the share of a request's time from which a wait is what limits.
const waitShare = 0.5

// erring states that errors, not latency, miss the objective; "" otherwise. A timeout
// is a slow answer, not such an error.
func (c *cell) erring(all *tally, blocks []search.Block) string {
	config := allowed(c.exp.Objective)
	k := &all.client
	bad := k.requests() - k.good - k.timeouts - k.dropped
	n := float64(k.requests())
	if !search.Exceeds(float64(bad), n, allowedErrors(c.exp.Objective)) {
		return ""
	}
	slow := k.good + k.timeouts - k.requests() // failed requests count as late, too
	for _, b := range blocks {
		slow += b.Late
	}
	if config.AllowedBad >= 0 && config.AllowedLate >= 0 && search.Exceeds(float64(slow), n, config.AllowedLate) && slow > bad {
		return "" // the latency was missed first
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
