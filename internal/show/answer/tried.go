package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// tried is the record of one server in several settings, the first as it is.
type tried struct {
	*asked
	server   string
	variants []narrative.Variant
	cells    []*summary.Cell // of the variants; nil: not measured
	level    *summary.Summary
}

func newTried(a *asked) *tried {
	t := &tried{asked: a, server: display.Plain(a.s.Experiment.Server.Name), variants: narrative.Variants(a.s), level: a.s.Common}
	for _, v := range t.variants {
		t.cells = append(t.cells, cellOf(a.s, v.Service))
	}
	return t
}

// cellOf finds the cell of a service; nil: the summary has none.
func cellOf(s *summary.Summary, service string) *summary.Cell {
	if s == nil {
		return nil
	}
	if i := slices.IndexFunc(s.Cells, func(c summary.Cell) bool { return c.Service == service }); i >= 0 {
		return &s.Cells[i]
	}
	return nil
}

func (t *tried) answer() Answer {
	if old := t.old(); old > 0 {
		return t.changed(old)
	}
	if c := t.cells[0]; c != nil && c.Beside != nil {
		return t.besideNeighbour()
	}
	if limits := t.asIsByLimit(); len(limits) > 1 {
		return t.sizing(limits)
	}
	c := t.cells[0]
	switch {
	case c == nil || c.Breaking == nil:
		return Answer{What: fmt.Sprintf("The breaking point of %s is not known: no search was made.", t.server)}
	case c.Breaking.Load() == nil:
		return t.notFound(fmt.Sprintf("%s%s", t.server, under(&t.variants[0])), []*summary.Cell{c})
	}
	what := fmt.Sprintf("%s %s%s", t.server, breaks(c), under(&t.variants[0]))
	if free := t.free(); free != nil {
		what += fmt.Sprintf("; without the CPU limit it %s", breaks(free))
	}
	answer := Answer{What: what + ".", Why: t.limit(c), Do: t.improvement(c)}
	if answer.Why == "" {
		answer.Why = uncapital(t.variants[0].Advice) // what could not be read
	}
	return answer
}

// under are the limits of a variant, at the end of a sentence: " under 500m CPU".
func under(v *narrative.Variant) string {
	if v.Limits == "" {
		return ""
	}
	return " under " + strings.TrimPrefix(v.Limits, "a limit of ")
}

// free is the cell without the CPU limit that has a breaking point; nil: there is none.
func (t *tried) free() *summary.Cell {
	for i, v := range t.variants {
		if c := t.cells[i]; v.Unlimited && c != nil && c.Breaking != nil && c.Breaking.Load() != nil {
			return c
		}
	}
	return nil
}

// improvement is what to do about the server as it is, which has a breaking point: the
// setting that was shown to be better, or what removes its limit.
func (t *tried) improvement(c *summary.Cell) string {
	if text := t.holdsMore(c); text != "" {
		return text
	}
	if text := t.promising(c); text != "" {
		return text
	}
	if text := t.lowers(); text != "" {
		return text
	}
	if c.Breaking.LimitedBy == summary.ByParallelism && t.variants[0].Advice != "" {
		return t.variants[0].Advice
	}
	return t.next(c)
}

// settings are the other settings under the same limits that have a breaking point, with
// their cells.
func (t *tried) settings() (all []int) {
	for i, v := range t.variants {
		if c := t.cells[i]; i > 0 && !v.Unlimited && v.NoEffect == "" && c != nil && c.Breaking != nil && c.Breaking.Load() != nil {
			all = append(all, i)
		}
	}
	return all
}

// holdsMore names the setting that holds the most, of those that were shown to hold more
// than the server as it is.
func (t *tried) holdsMore(base *summary.Cell) string {
	tests := verdict.Rank(t.s, verdict.BreakingPointMetric)
	best, most := -1, 0.0
	for _, i := range t.settings() {
		if e := tests.Between(t.cells[i], base); e.Sign > 0 && *t.cells[i].Breaking.Load() > most {
			best, most = i, *t.cells[i].Breaking.Load()
		}
	}
	if best < 0 {
		return ""
	}
	return fmt.Sprintf("use %s: it holds %s (p %s).", t.variants[best].Label, load(t.cells[best]), display.Chance(tests.Between(t.cells[best], base).PFamily))
}

// lowers names the setting with the lowest latency at the common load, of those that were
// shown to lower it.
func (t *tried) lowers() string {
	base := cellOf(t.level, t.variants[0].Service)
	if base == nil || base.LatencyMS == nil {
		return ""
	}
	var cells []*summary.Cell
	labels, earlier := map[*summary.Cell]string{}, map[*summary.Cell]string{}
	for _, i := range t.settings() {
		c := cellOf(t.level, t.variants[i].Service)
		if c != nil && sameCPU(c, base) && c.LatencyMS != nil && t.variants[i].Replicas < 2 && !causes.GeneratorsTail(c) {
			cells, labels[c] = append(cells, c), t.variants[i].Label
			if own, b := t.cells[0].Breaking, t.cells[i].Breaking; own.Low != nil && b.High != nil && *b.High < *own.Low {
				earlier[c] = ", but it breaks at " + load(t.cells[i])
			}
		}
	}
	against := verdict.Against(t.level, base, cells)
	if len(against.Lower) == 0 {
		return ""
	}
	best := against.Lower[0]
	for _, one := range against.Lower {
		if earlier[one.Cell] == "" {
			best = one
			break
		}
	}
	return fmt.Sprintf("use %s: at %s its %s is %s, against %s (p %s)%s.", labels[best.Cell], narrative.CommonLoad(t.s), narrative.QuantileName(t.level.Quantile()),
		latency(best.Figure.Value, best.Figure.AtLeast), latency(against.Base.Figure.Value, against.Base.Figure.AtLeast), display.Chance(best.From.PFamily), earlier[best.Cell])
}

// sameCPU reports whether two cells have the same CPU limit.
func sameCPU(x, y *summary.Cell) bool {
	a, b := x.Limits.CPUMillis, y.Limits.CPUMillis
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// promising names the setting whose interval, of too few searches to rank it, lies above
// that of the server as it is, unless it was shown to have a higher latency at the common load.
func (t *tried) promising(base *summary.Cell) string {
	best, most := -1, 0.0
	for _, i := range t.settings() {
		b := t.cells[i].Breaking
		apart := base.Breaking.High != nil && b.Low != nil && *b.Low > *base.Breaking.High
		if apart && t.variants[i].Replicas < 2 && *b.Load() > most && !t.slower(i) {
			best, most = i, *b.Load()
		}
	}
	if best < 0 {
		return ""
	}
	return fmt.Sprintf("run it again with --repeats %d: %s held %s in %s, which is no ranking.", summary.EnoughTrials, t.variants[best].Label,
		load(t.cells[best]), searches(t.cells[best], max(1, t.cells[best].Breaking.Searches, t.cells[best].Trials)))
}

// slower reports whether a setting was shown to have a higher latency at the common load than
// the server as it is.
func (t *tried) slower(i int) bool {
	c, base := cellOf(t.level, t.variants[i].Service), cellOf(t.level, t.variants[0].Service)
	if c == nil || base == nil || c.LatencyMS == nil || base.LatencyMS == nil {
		return false
	}
	return verdict.Against(t.level, base, []*summary.Cell{c}).All[0].From.Sign > 0
}

// asIsByLimit are the cells of the server as it is under each of several CPU limits.
func (t *tried) asIsByLimit() (all []*summary.Cell) {
	for i, v := range t.variants {
		if c := t.cells[i]; c != nil && c.Limits.CPUMillis != nil && v.Label == t.variants[0].Label {
			all = append(all, c)
		}
	}
	return all
}

// sizing is the answer about several limits.
func (t *tried) sizing(limits []*summary.Cell) Answer {
	var held, missing []string
	limited := map[string][]string{}
	var order []string
	for _, c := range limits {
		cpus := display.CPULimit(float64(*c.Limits.CPUMillis) / 1000)
		if c.Breaking == nil || c.Breaking.Load() == nil {
			missing = append(missing, cpus)
			continue
		}
		figure := load(c)
		if len(held) > 0 {
			figure = narrative.BreakFigure(c.Breaking)
		}
		held = append(held, figure+" under "+cpus)
		if c.Breaking.LimitedBy != "" && !c.Breaking.AtLeast {
			by := causeOf(c.Breaking.LimitedBy)
			if limited[by] == nil {
				order = append(order, by)
			}
			limited[by] = append(limited[by], cpus)
		}
	}
	answer := Answer{Do: "choose the lowest limit that holds your load."}
	switch {
	case len(held) == 0:
		return t.notFound(t.server+" under "+phrase.List(missing), limits)
	case len(missing) > 0:
		held = append(held, "not found under "+phrase.List(missing))
	}
	if free := t.free(); free != nil {
		held = append(held, narrative.BreakFigure(free.Breaking)+" without a limit")
	}
	answer.What = fmt.Sprintf("%s breaks at %s.", t.server, phrase.List(held))
	var parts []string
	for _, by := range order {
		text := by
		if len(order) > 1 {
			text += " under " + phrase.List(limited[by])
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		answer.Why = strings.Join(parts, "; ") + "."
	}
	if text := t.lowers(); text != "" {
		answer.Do = fmt.Sprintf("choose the lowest limit that holds your load; under %s, %s", display.CPULimit(float64(*limits[0].Limits.CPUMillis)/1000), text)
	}
	return answer
}
