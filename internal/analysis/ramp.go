package analysis

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/analysis/search"
)

// rampBreakingPoint reads the breaking point from a load that was raised in steps, as
// published comparisons do: the last level that meets the objective before the first
// level that misses it, over all trials together. The true value lies between these
// two levels, so they are the ends, widened to where the single trials put them. It
// makes no assumption about loads between levels. It returns nil if there is no
// objective or the load was not raised.
func (c *cell) rampBreakingPoint(steps []Step) *BreakingPoint {
	if c.exp.Objective == nil || c.levels == nil || len(steps) == 0 {
		return nil
	}
	all := c.ramp(c.merged)
	if len(all.levels) < 2 {
		return nil
	}
	b := &BreakingPoint{Reason: all.reason()}
	for _, step := range steps {
		b.TrafficS += step.Seconds / float64(len(c.trials))
	}
	why := all.firstMissed
	if all.lastMet != nil {
		if c.plan.Load.Users != nil {
			b.Users = &all.lastMet.target
		} else {
			b.RateRPS = &all.lastMet.target
		}
		b.Low, b.AtLeast = &all.lastMet.target, all.firstMissed == nil
	}
	if all.firstMissed != nil {
		b.High = &all.firstMissed.target
	} else {
		why = all.limitedLevel()
	}
	if why != nil {
		b.LimitedBy, b.Evidence = why.by, why.evidence
	}
	c.widen(b)
	c.subtractLost(b)
	return b
}

// ramp is what a load raised in steps shows of a service, in one trial or in several:
// its levels, ascending, and where the service stopped meeting the objective.
type ramp struct {
	levels      []rampLevel
	lastMet     *rampLevel // the last that met the objective before firstMissed; nil: none
	firstMissed *rampLevel // the first that missed the objective; nil: none
	// disturbed is the first level above lastMet that missed the objective while
	// others took CPU; nil: there is none. From there on it is unknown where the
	// service breaks, until a level meets the objective again, because a backlog
	// remains for a while.
	disturbed *rampLevel
}

// rampLevel is one level of a ramp.
type rampLevel struct {
	target float64
	met    *bool // nil: unknown, because of by or others, or because no request ended
	// by is what limits the service at a level that misses the objective, as in
	// limited_by. If it is the generator or the host, met is nil: the miss is not the
	// service's.
	by, evidence string
	// others describes who took CPU meanwhile; "": nobody. A level that met the objective
	// anyway counts, since a neighbour improves nothing. If the level missed it, met
	// is nil, unless errors show that it was the service.
	others string
}

// ramp judges the levels by the sums that the function of returns. A level that is not
// above all levels before it shows how a service recovers, not where it breaks, and is
// left out.
func (c *cell) ramp(of func(level int) *tally) ramp {
	var out ramp
	highest := 0.0
	for i, h := range c.levels.held {
		if h.target <= highest {
			continue
		}
		highest = h.target
		out.levels = append(out.levels, c.rampLevel(h.target, of(i)))
	}
	for i := range out.levels {
		switch r := &out.levels[i]; {
		case r.disturbed():
			if out.disturbed == nil {
				out.disturbed = r
			}
		case r.met == nil:
		case *r.met:
			out.lastMet, out.disturbed = r, nil
		case out.disturbed != nil:
		default:
			out.firstMissed = r
			return out
		}
	}
	return out
}

// disturbed reports whether the level missed the objective while others took CPU.
func (r *rampLevel) disturbed() bool { return r.met == nil && r.others != "" }

// disturbedRamps returns in how many trials others took CPU at the level that would
// have decided the breaking point.
func (c *cell) disturbedRamps() int {
	if c.exp.Objective == nil || c.levels == nil {
		return 0
	}
	n := 0
	for _, t := range c.trials {
		if c.ramp(func(level int) *tally { return t.levels[level] }).disturbed != nil {
			n++
		}
	}
	return n
}

// merged returns a level's sums over all trials.
func (c *cell) merged(level int) *tally {
	if len(c.trials) == 1 {
		return c.trials[0].levels[level]
	}
	all := newTally()
	for _, t := range c.trials {
		all.merge(t.levels[level])
	}
	return all
}

func (c *cell) rampLevel(target float64, sums *tally) rampLevel {
	o := c.observed(sums)
	r := rampLevel{target: target, met: c.meets(sums, true), others: o.tally.noise.others()}
	if r.met == nil || *r.met {
		return r
	}
	if r.others != "" && !o.erring() {
		r.met = nil
		return r
	}
	r.by, r.evidence = c.judge(sums, []search.Block{c.judged(sums)})
	if r.by == ByGenerator || r.by == ByHost {
		r.met = nil
	}
	return r
}

// limitedLevel returns the first level above the last one met at which the generator
// or the host was the limit. It is nil if there is none, or if others took CPU at a
// lower level.
func (c *ramp) limitedLevel() *rampLevel {
	for i := range c.levels {
		switch r := &c.levels[i]; {
		case r == c.disturbed:
			return nil
		case r.met == nil && r.by != "" && (c.lastMet == nil || r.target > c.lastMet.target):
			return r
		}
	}
	return nil
}

// reason explains why there is no breaking point, or only a bound, and what qualifies it;
// "" if there is nothing to add.
func (c *ramp) reason() string {
	limitedLevel, first := c.limitedLevel(), &c.levels[0]
	switch {
	case c.lastMet == nil && c.firstMissed == first:
		return joinNotes("the first level, "+number(first.target)+", already misses the objective; start lower", c.othersAtMiss())
	case c.lastMet == nil && c.firstMissed != nil && limitedLevel != nil && limitedLevel.target < c.firstMissed.target:
		return fmt.Sprintf("%s misses the objective, and at the lower level %s the %s was the limit, not the service; start lower", number(c.firstMissed.target), number(limitedLevel.target), limitedLevel.by)
	case c.lastMet == nil && c.firstMissed != nil:
		return fmt.Sprintf("%s misses the objective, and no request ended at any lower level; hold each level longer", number(c.firstMissed.target))
	case c.disturbed != nil && limitedLevel == nil:
		return fmt.Sprintf("%s misses the objective, but %s there; repeat it on a quiet host", number(c.disturbed.target), c.disturbed.others)
	case c.lastMet == nil && limitedLevel != nil:
		return fmt.Sprintf("at %s the %s was the limit, so nothing is known about the service", number(limitedLevel.target), limitedLevel.by)
	case c.lastMet == nil:
		return "no request ended at any level"
	case c.firstMissed != nil:
		return joinNotes(c.metAgain(), c.limitedBetween(), c.othersAtMiss())
	case limitedLevel != nil:
		return fmt.Sprintf("at %s the %s was the limit; the service may handle more", number(limitedLevel.target), limitedLevel.by)
	case c.lastMet != &c.levels[len(c.levels)-1]:
		return fmt.Sprintf("no request ended at the levels above %s", number(c.lastMet.target))
	}
	return "every level met the objective; raise the load further"
}

// metAgain states that levels above the first miss meet the objective again. The first
// miss counts nevertheless: a service that fails at one load and handles a higher one
// is unreliable from the lower one on.
func (c *ramp) metAgain() string {
	var met []string
	for i := range c.levels {
		if r := &c.levels[i]; r.target > c.firstMissed.target && r.met != nil && *r.met {
			met = append(met, number(r.target))
		}
	}
	switch n := len(met); {
	case n == 0:
		return ""
	case n > 3:
		return fmt.Sprintf("%s misses the objective and %d levels above it, up to %s, meet it again: the first miss counts", number(c.firstMissed.target), n, met[n-1])
	case n > 1:
		return fmt.Sprintf("%s misses the objective and %s meet it again: the first miss counts", number(c.firstMissed.target), listed(met))
	}
	return fmt.Sprintf("%s misses the objective and %s meets it again: the first miss counts", number(c.firstMissed.target), met[0])
}

// limitedBetween states that the generator or the host was the limit at a level between
// the two that decide.
func (c *ramp) limitedBetween() string {
	if r := c.limitedLevel(); r != nil && r.target < c.firstMissed.target {
		return fmt.Sprintf("at %s the %s was the limit, not the service", number(r.target), r.by)
	}
	return ""
}

// othersAtMiss describes who took CPU at the level that decides because of its errors.
func (c *ramp) othersAtMiss() string {
	if c.firstMissed.others == "" {
		return ""
	}
	return "at " + number(c.firstMissed.target) + " " + c.firstMissed.others
}

// joinNotes joins the notes that are not empty.
func joinNotes(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(note string) bool { return note == "" }), "; ")
}

// widen moves the ends of a breaking point to where the single trials put them: the
// lowest and the highest, or from six trials on those of the 95% interval of a median.
// A trial that never meets the objective moves the lower end to 0. One that never
// misses it leaves the upper end open.
func (c *cell) widen(b *BreakingPoint) {
	if len(c.trials) == 1 && b.Load() != nil {
		b.Searches = 1 // its ends are set already
		return
	}
	var lows, highs []float64
	for i := range c.trials {
		one := c.ramp(func(level int) *tally { return c.trials[i].levels[level] })
		if one.lastMet == nil && one.firstMissed == nil {
			continue // no level was judged
		}
		low, high := 0.0, math.Inf(1)
		if one.lastMet != nil {
			low = one.lastMet.target
		}
		if one.firstMissed != nil {
			high = one.firstMissed.target
		}
		lows, highs = append(lows, low), append(highs, high)
	}
	if b.Load() == nil || len(lows) == 0 {
		return
	}
	b.Searches = len(lows)
	slices.Sort(lows)
	slices.Sort(highs)
	low, high := lows[0], highs[len(highs)-1]
	if l, h, ok := medianInterval(len(lows)); ok {
		low, high = lows[l], highs[h]
	}
	b.Low = ptr(min(low, *b.Low))
	if b.High != nil && math.IsInf(high, 1) {
		b.High = nil
		if n := c.disturbedRamps(); n > 0 {
			b.Reason = joinNotes(b.Reason, fmt.Sprintf("in %d of %d trials others took CPU at the level that missed the objective", n, len(lows)))
		}
	} else if b.High != nil {
		b.High = ptr(max(high, *b.High))
	}
}

// order describes where cells fail as the load rises: "a and b at 200 requests/s, then c
// at 300; d did not fail up to 500". It is an order only from four ramps per cell on.
// It needs two cells, of which one fails. Cells that could not be judged are left out.
func (b *Builder) order(cells []CellSummary) (Finding, bool) {
	failing, holding := map[float64][]string{}, map[float64][]string{}
	known, unit, ramps := 0, "requests/s", math.MaxInt
	for i := range cells {
		if !cells[i].Load.Stages || cells[i].Breaking == nil {
			continue
		}
		if cells[i].Load.Kind == "closed" {
			unit = "users"
		}
		all := b.cells[i].ramp(b.cells[i].merged)
		switch {
		case all.firstMissed != nil:
			failing[all.firstMissed.target] = append(failing[all.firstMissed.target], cells[i].Label)
		case all.lastMet != nil:
			holding[all.lastMet.target] = append(holding[all.lastMet.target], cells[i].Label)
		default:
			continue
		}
		known++
		ramps = min(ramps, len(b.cells[i].trials))
	}
	if known < 2 || len(failing) == 0 {
		return Finding{}, false
	}
	text := strings.Join(groups(failing, "at", unit), ", then ")
	if len(holding) > 0 {
		text += "; " + strings.Join(groups(holding, "did not fail up to", ""), ", ")
	}
	title := "order of failure as the load rises"
	if ramps < EnoughSearches {
		title = "load at which each cell failed"
		text += fmt.Sprintf("; %s per cell cannot rank them, because starts differ: at least %d are needed (measure.repeats)", plural(ramps, "ramp"), EnoughSearches)
	}
	return Finding{Level: "result", Title: title, Text: text}, true
}

// groups describes which cells belong to which load, ascending; the first load has the
// unit.
func groups(at map[float64][]string, where, unit string) []string {
	var all []string
	for i, load := range slices.Sorted(maps.Keys(at)) {
		text := listed(at[load]) + " " + where + " " + number(load)
		if i == 0 && unit != "" {
			text += " " + unit
		}
		all = append(all, text)
	}
	return all
}

// listed joins words as in "a, b and c".
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// number formats a load as an experiment file does.
func number(load float64) string { return strconv.FormatFloat(load, 'f', -1, 64) }
