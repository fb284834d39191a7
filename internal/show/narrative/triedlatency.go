package narrative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
)

// atLevel is the cell of the server as it is at the common load, and that load; nil
// if nothing is known of it.
func (t *tried) atLevel() (base *summary.Cell, load string) {
	base = cellOfVariant(t.level, t.variants[0])
	if base == nil || base.LatencyMS == nil || base.Load.Rate == nil && base.Load.Users == nil {
		return nil, ""
	}
	if base.Load.Rate != nil {
		return base, display.Figure(*base.Load.Rate) + " requests/s"
	}
	return base, display.Users(*base.Load.Users)
}

// quantile names the latency quantile by which settings are compared at one load.
func (t *tried) quantile() string { return QuantileName(t.level.Quantile()) }

// latency compares the latency of each setting under the one limit, at a common load,
// with that of the server as it is.
func (t *tried) latency() string {
	base, load := t.atLevel()
	if base == nil {
		return t.notCompared()
	}
	cells, labels, absent := t.settingsAtLevel()
	a := verdict.Against(t.level, base, cells)
	var sentences []string
	if len(cells) > 0 {
		sentences = append(sentences, fmt.Sprintf("%s %s.", t.at(load), rankedLatency(a, labels, t.quantile())))
	}
	if n := len(a.Untested); n > 0 && n < len(a.All) {
		var names []string
		for _, one := range a.Untested {
			names = append(names, labels[one.Cell])
		}
		sentences = append(sentences, fmt.Sprintf("%s was not tested: %s.", phrase.List(names), TestWords(&a.Untested[0])))
	}
	if len(absent) > 0 {
		sentences = append(sentences, fmt.Sprintf("No %s of %s was measured at %s.", t.quantile(), phrase.List(absent), load))
	}
	return strings.Join(sentences, " ")
}

// settingsAtLevel are the cells of the settings at the common load, with the labels of
// these, and the labels of those that were not measured there.
func (t *tried) settingsAtLevel() (cells []*summary.Cell, labels map[*summary.Cell]string, absent []string) {
	labels = map[*summary.Cell]string{}
	for _, v := range t.variants[1:] {
		if !v.comparable() || v.NoEffect != "" {
			continue
		}
		c := cellOfVariant(t.level, v)
		if c == nil || c.LatencyMS == nil {
			absent = append(absent, v.Label)
			continue
		}
		labels[c], cells = v.Label, append(cells, c)
	}
	return cells, labels, absent
}

// nothingLower reports whether every setting was tested against the server as it is, and
// none has a significantly lower latency.
func (t *tried) nothingLower(base *summary.Cell) bool {
	cells, _, absent := t.settingsAtLevel()
	a := verdict.Against(t.level, base, cells)
	return len(cells) > 0 && len(absent) == 0 && len(a.Untested) == 0 && len(a.Lower) == 0
}

// freeLatency is what the limit costs in latency at the common load.
func (t *tried) freeLatency() string {
	base, load := t.atLevel()
	i := slices.IndexFunc(t.variants, func(v Variant) bool { return v.Unlimited })
	if base == nil || i < 0 {
		return ""
	}
	c := cellOfVariant(t.level, t.variants[i])
	if c == nil || c.LatencyMS == nil {
		return ""
	}
	if causes.GeneratorsTail(base) || causes.GeneratorsTail(c) {
		return fmt.Sprintf("At %s %s without the limit is not compared: it is mostly the generator's own delay.", load, t.quantile())
	}
	of := verdict.Against(t.level, base, []*summary.Cell{c})
	one := of.All[0]
	is := "is"
	if one.From.Basis != summary.Untested && one.From.Sign == 0 {
		is = "does not differ significantly:"
	}
	return fmt.Sprintf("At %s %s without the limit %s %s against %s under it (%s).", load, t.quantile(), is,
		latency(one.Figure.Value, one.Figure.AtLeast), latency(of.Base.Figure.Value, of.Base.Figure.AtLeast), TestWords(&one))
}

// slowStarts names the settings that missed the objective at the common load, although
// their searches held more: a start that is as long under load as a search is faster.
func (t *tried) slowStarts() string {
	base, load := t.atLevel()
	if base == nil {
		return ""
	}
	rate := base.Load.Rate
	if rate == nil {
		rate = base.Load.Users
	}
	several := len(t.byLimit()) > 1
	var names []string
	for _, v := range t.variants {
		c := cellOfVariant(t.level, v)
		if c == nil || c.Objective == nil || c.Objective.Met == nil || *c.Objective.Met || !verdict.NearObjective(c).None() || causes.GeneratorsTail(c) || !t.holds(v) || *t.breaking(v).Load() < *rate {
			continue
		}
		name := v.Label
		if several && c.Limits.CPUMillis != nil {
			name += " under " + cpuText(*c.Limits.CPUMillis)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("At %s the requests of all new starts together miss the objective below the breaking point: %s. A breaking point is that of a server that has been under load for as long as a search.", load, phrase.List(names))
}

// at begins a sentence about the common load.
func (t *tried) at(load string) string {
	if t.under != "" {
		return "Under " + t.under + ", at " + load
	}
	return "At " + load
}

// rankedLatency words the comparison of settings with the server as it is.
func rankedLatency(a verdict.AgainstBase, labels map[*summary.Cell]string, quantile string) string {
	base := latency(a.Base.Figure.Value, a.Base.Figure.AtLeast)
	figures := func(one verdict.Placed) string {
		return fmt.Sprintf("%s against %s as it is%s", latency(one.Figure.Value, one.Figure.AtLeast), base, medians(a.Base))
	}
	lowest := a.All[0]
	if i := slices.IndexFunc(a.All, func(p verdict.Placed) bool { return p.From.Basis != summary.Untested }); i >= 0 {
		lowest = a.All[i]
	}
	switch {
	case len(a.Lower) > 0:
		var words []string
		for _, one := range a.Lower {
			words = append(words, fmt.Sprintf("%s lowers %s: %s (%s)", labels[one.Cell], quantile, figures(one), TestWords(&one)))
		}
		return strings.Join(words, "; ")
	case len(a.Untested) == len(a.All):
		var words []string
		for _, one := range a.All {
			words = append(words, fmt.Sprintf("%s (%s)", latency(one.Figure.Value, one.Figure.AtLeast), labels[one.Cell]))
		}
		return fmt.Sprintf("%s of the settings is not ranked: %s against %s as it is%s (%s)", quantile, phrase.List(words), base, medians(a.Base), TestWords(&lowest))
	case lowest.Figure.Value >= a.Base.Figure.Value:
		return fmt.Sprintf("no setting has a lower %s than the server as it is (%s%s)", quantile, base, medians(a.Base))
	}
	return fmt.Sprintf("no setting lowers %s significantly; the lowest is %s: %s (%s)", quantile, labels[lowest.Cell], figures(lowest), TestWords(&lowest))
}

// medians names what a figure is the median of; "" of one trial.
func medians(p verdict.Placed) string {
	if p.Figure.Trials < 2 {
		return ""
	}
	return fmt.Sprintf(", median of %d trials", p.Figure.Trials)
}

// TestWords are the figures of a test of latencies, or why there was none. The median of
// the pairwise differences is that which the interval is of; it is seldom exactly the
// difference of the medians.
func TestWords(p *verdict.Placed) string {
	path := p.From.Metric
	switch gap := p.From.Gap; {
	case gap != "" && gap == verdict.Spoiled(p.Cell, path):
		return spoiledText(gap, "", p.Cell)
	case gap != "" && gap == verdict.Spoiled(p.Base, path):
		return spoiledText(gap, "the server as it is", p.Base)
	case p.From.Basis == summary.Untested:
		return gapText(p.From.Gap, min(p.From.Trials[0], p.From.Trials[1]), p.From.Cells, p.From.Quantile())
	}
	chance := "p " + display.Chance(p.From.PFamily)
	if p.From.P < 1-stats.Level && p.From.PFamily >= 1-stats.Level { // the interval, which is not corrected, is without 0
		chance = "p " + display.Chance(p.From.P) + ", corrected over all pairs " + display.Chance(p.From.PFamily)
	}
	if p.Shift == nil {
		return chance
	}
	signed := func(v float64) string { return display.Signed(v, display.Decimals(v)) }
	return fmt.Sprintf("median of the pairwise differences %s ms, 95%% interval %s to %s, %s", signed(p.Shift.Shift), signed(p.Shift.Low), signed(p.Shift.High), chance)
}

// notCompared is why latency was not compared; "" if there was nothing to compare.
func (t *tried) notCompared() string {
	searched := 0
	var without []string
	for _, v := range t.variants {
		if v.NoEffect != "" {
			continue
		}
		searched++
		if !t.holds(v) {
			without = append(without, v.Label)
		}
	}
	switch {
	case searched < 2:
		return ""
	case t.level == nil && len(without) > 0:
		return fmt.Sprintf("Latency of the settings was not compared at one load, because no breaking point was found for: %s.", strings.Join(without, ", "))
	case t.level == nil:
		return "Latency of the settings was not compared at one load."
	}
	return "Latency of the settings was not compared: none was measured for the server as it is at the common load."
}
