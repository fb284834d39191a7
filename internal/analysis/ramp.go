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

// ramped reads the breaking point from a load that was raised in steps, as
// published comparisons do: the last level that meets the objective before the
// first one that misses it, all trials together. The truth lies between the
// two, so they are its ends, as far apart as the trials by themselves put them;
// nothing is assumed of what lies between. It is nil where no objective was
// asked, or the load was not raised.
func (c *cell) ramped(steps []Step) *BreakingPoint {
	if c.exp.Objective == nil || c.levels == nil || len(steps) == 0 {
		return nil
	}
	all := c.climb(c.merged)
	if len(all.rungs) < 2 {
		return nil
	}
	b := &BreakingPoint{Reason: all.reason()}
	for _, step := range steps {
		b.TrafficS += step.Seconds / float64(len(c.trials))
	}
	why := all.missed
	if all.held != nil {
		if c.plan.Load.Users != nil {
			b.Users = &all.held.target
		} else {
			b.RateRPS = &all.held.target
		}
		b.Low, b.AtLeast = &all.held.target, all.missed == nil
	}
	if all.missed != nil {
		b.High = &all.missed.target
	} else {
		why = all.hidden()
	}
	if why != nil {
		b.LimitedBy, b.Evidence = why.by, why.evidence
	}
	c.widen(b)
	c.withoutThem(b)
	return b
}

// climb is what a load raised in steps shows of a service, in one trial or in
// several: its levels upwards, and where the service stopped to meet the
// objective.
type climb struct {
	rungs  []rung
	held   *rung // the last that met the objective before missed; nil: none did
	missed *rung // the first that missed it; nil: none did
	// upset is the first level above held that missed it while others took CPU;
	// nil: there is none. Where the service breaks cannot be told from there on,
	// until a level meets the objective again: what piled up stays for a while.
	upset *rung
}

// rung is one level that was raised to.
type rung struct {
	target float64
	met    *bool // nil: cannot be told, for by or because no request ended
	// by is what limits the service where it misses the objective, in the words
	// of limited_by. Where it is the generator or the host, met is nil: what was
	// missed then is not the service's.
	by, evidence string
	// others are those who took CPU meanwhile, in words; "": nobody did. A level
	// that met the objective beside them counts, as nothing gets better by it; of
	// one that missed it, met is nil, unless errors tell that it was the service.
	others string
}

// climb judges the levels by the sums that of gives. A level that is not above
// all before it tells how a service recovers, not where it breaks, and is left
// out.
func (c *cell) climb(of func(level int) *tally) climb {
	var out climb
	highest := 0.0
	for i, h := range c.levels.held {
		if h.target <= highest {
			continue
		}
		highest = h.target
		out.rungs = append(out.rungs, c.rung(h.target, of(i)))
	}
	for i := range out.rungs {
		switch r := &out.rungs[i]; {
		case r.upset():
			if out.upset == nil {
				out.upset = r
			}
		case r.met == nil:
		case *r.met:
			out.held, out.upset = r, nil
		case out.upset != nil:
		default:
			out.missed = r
			return out
		}
	}
	return out
}

// upset reports whether the level missed the objective while others took CPU.
func (r *rung) upset() bool { return r.met == nil && r.others != "" }

// upset is in how many trials others took CPU where the breaking point would
// have been read from the levels.
func (c *cell) upset() int {
	if c.exp.Objective == nil || c.levels == nil {
		return 0
	}
	n := 0
	for _, t := range c.trials {
		if c.climb(func(level int) *tally { return t.levels[level] }).upset != nil {
			n++
		}
	}
	return n
}

// merged are a level's sums over all trials.
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

func (c *cell) rung(target float64, sums *tally) rung {
	o := c.observed(sums)
	r := rung{target: target, met: c.meets(sums), others: o.tally.noise.others()}
	if r.met == nil || *r.met {
		return r
	}
	if r.others != "" && !o.erring() {
		r.met = nil
		return r
	}
	r.by, r.evidence = c.judge(sums, []search.Block{{Late: c.late(sums)}})
	if r.by == ByGenerator || r.by == ByHost {
		r.met = nil
	}
	return r
}

// meets is nil where no request ended. As in a search, where no availability
// is asked, who got no answer did not get it in time: latencies alone would
// praise a service that refuses most requests and answers few at once.
func (c *cell) meets(sums *tally) *bool {
	o, k := c.exp.Objective, &sums.client
	ok := met(o, quantiles(k.latency), k.availability())
	if o.Availability > 0 || unanswered(k) == 0 || ok != nil && !*ok {
		return ok
	}
	allowed := SearchConfig(c.exp, c.plan).AllowedLate
	return ptr(float64(c.late(sums)) <= allowed*float64(k.requests()))
}

// unanswered is how many requests had no good answer and did not time out: those
// that the histogram of latencies does not know of.
func unanswered(k *clientSums) int64 { return k.requests() - k.good - k.timeouts }

// late is how many requests had no answer within the objective's latency.
func (c *cell) late(sums *tally) int64 {
	o, k := c.exp.Objective, &sums.client
	if o.Quantile == "" {
		return 0
	}
	late := k.latency.Above(o.Latency)
	if o.Availability == 0 {
		late += unanswered(k)
	}
	return late
}

// hidden is the first level above the last that was met at which the generator
// or the host was the limit; nil: there is none, or others took CPU before it.
func (c *climb) hidden() *rung {
	for i := range c.rungs {
		switch r := &c.rungs[i]; {
		case r == c.upset:
			return nil
		case r.met == nil && r.by != "" && (c.held == nil || r.target > c.held.target):
			return r
		}
	}
	return nil
}

// reason says why there is no breaking point, or only a bound, and what else is
// to be known of it; "" where all is as it should be.
func (c *climb) reason() string {
	hidden, first := c.hidden(), &c.rungs[0]
	switch {
	case c.held == nil && c.missed == first:
		return noted("the first level, "+number(first.target)+", already misses the objective; begin lower", c.beside())
	case c.held == nil && c.missed != nil && hidden != nil && hidden.target < c.missed.target:
		return fmt.Sprintf("%s misses the objective, and at %s below it the %s was the limit, not the service; begin lower", number(c.missed.target), number(hidden.target), hidden.by)
	case c.held == nil && c.missed != nil:
		return fmt.Sprintf("%s misses the objective, and at no level below it a request ended; hold each level longer", number(c.missed.target))
	case c.upset != nil && hidden == nil:
		return fmt.Sprintf("%s misses the objective, but %s there; repeat it on a quiet host", number(c.upset.target), c.upset.others)
	case c.held == nil && hidden != nil:
		return fmt.Sprintf("at %s the %s was the limit, not the service, of which nothing can be said", number(hidden.target), hidden.by)
	case c.held == nil:
		return "no request ended at any level"
	case c.missed != nil:
		return noted(c.again(), c.between(), c.beside())
	case hidden != nil:
		return fmt.Sprintf("at %s the %s was the limit, not the service, which may bear more", number(hidden.target), hidden.by)
	case c.held != &c.rungs[len(c.rungs)-1]:
		return fmt.Sprintf("no request ended at the levels above %s", number(c.held.target))
	}
	return "every level met the objective; go higher"
}

// again tells of levels behind the first that missed the objective which meet
// it: the first counts all the same, as a service that fails at a load and bears
// a higher one cannot be relied upon from the lower one on.
func (c *climb) again() string {
	var met []string
	for i := range c.rungs {
		if r := &c.rungs[i]; r.target > c.missed.target && r.met != nil && *r.met {
			met = append(met, number(r.target))
		}
	}
	switch n := len(met); {
	case n == 0:
		return ""
	case n > 3:
		return fmt.Sprintf("%s misses the objective and %d levels above it, up to %s, meet it again: the first that misses counts", number(c.missed.target), n, met[n-1])
	case n > 1:
		return fmt.Sprintf("%s misses the objective and %s meet it again: the first that misses counts", number(c.missed.target), listed(met))
	}
	return fmt.Sprintf("%s misses the objective and %s meets it again: the first that misses counts", number(c.missed.target), met[0])
}

// between tells of a level between the two that decide at which the service was
// not what was measured.
func (c *climb) between() string {
	if r := c.hidden(); r != nil && r.target < c.missed.target {
		return fmt.Sprintf("at %s the %s was the limit, not the service", number(r.target), r.by)
	}
	return ""
}

// beside tells who took CPU at the level that decides, by its errors.
func (c *climb) beside() string {
	if c.missed.others == "" {
		return ""
	}
	return "at " + number(c.missed.target) + " " + c.missed.others
}

// noted joins the notes that there are.
func noted(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(note string) bool { return note == "" }), "; ")
}

// widen moves the ends of a breaking point to where the trials by themselves
// put them: the lowest and the highest, or from six trials on those of the 95%
// interval of a median. A trial that misses the objective at once puts the lower
// end at 0, one that never does leaves the upper end open.
func (c *cell) widen(b *BreakingPoint) {
	if len(c.trials) == 1 && b.Load() != nil {
		b.Searches = 1 // its ends are there already
		return
	}
	var lows, highs []float64
	for i := range c.trials {
		one := c.climb(func(level int) *tally { return c.trials[i].levels[level] })
		if one.held == nil && one.missed == nil {
			continue // it says nothing
		}
		low, high := 0.0, math.Inf(1)
		if one.held != nil {
			low = one.held.target
		}
		if one.missed != nil {
			high = one.missed.target
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
		if n := c.upset(); n > 0 {
			b.Reason = noted(b.Reason, fmt.Sprintf("in %d of %d trials others took CPU where it missed the objective", n, len(lows)))
		}
	} else if b.High != nil {
		b.High = ptr(max(high, *b.High))
	}
}

// order says in which order cells fail as the load is raised: "a and b at 200
// requests/s, then c at 300; d not by 500". It wants two cells, one of which
// fails; one of which nothing can be said is left out.
func (b *Builder) order(cells []CellSummary) (Finding, bool) {
	failing, holding := map[float64][]string{}, map[float64][]string{}
	told, unit := 0, "requests/s"
	for i := range cells {
		if !cells[i].Load.Stages || cells[i].Breaking == nil {
			continue
		}
		if cells[i].Load.Kind == "closed" {
			unit = "users"
		}
		switch all := b.cells[i].climb(b.cells[i].merged); {
		case all.missed != nil:
			failing[all.missed.target] = append(failing[all.missed.target], cells[i].Label)
			told++
		case all.held != nil:
			holding[all.held.target] = append(holding[all.held.target], cells[i].Label)
			told++
		}
	}
	if told < 2 || len(failing) == 0 {
		return Finding{}, false
	}
	text := strings.Join(groups(failing, "at", unit), ", then ")
	if len(holding) > 0 {
		text += "; " + strings.Join(groups(holding, "not by", ""), ", ")
	}
	return Finding{Level: "result", Title: "the order in which they fail as the load is raised", Text: text}, true
}

// groups words who stands at which load, upwards; the first says the unit.
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

// number writes a load as an experiment file does.
func number(load float64) string { return strconv.FormatFloat(load, 'f', -1, 64) }
