package try

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/display"
)

// share of the lowest breaking point at which the variants are compared by
// their latency: high enough that queues and throttling show, low enough that
// none of them is beyond its own.
const share = 0.7

// Level says how the searched experiment is changed (as by --set) to hold all
// variants at one common load, six times each; nil where no load was found.
func Level(variants []Variant, found *analysis.Summary) []string {
	cells := byService(found)
	lowest, bound := 0.0, 0.0
	variants = slices.DeleteFunc(slices.Clone(variants), func(v Variant) bool { return v.NoEffect != "" })
	for _, v := range variants {
		c := cells[v.Service]
		if c == nil || c.Breaking == nil || c.Breaking.Load() == nil {
			return nil
		}
		of := &lowest
		if c.Breaking.AtLeast { // it may hold much more: only where nothing else is known
			of = &bound
		}
		if load := *c.Breaking.Load(); *of == 0 || load < *of {
			*of = load
		}
	}
	if lowest == 0 {
		lowest = bound
	}
	limited := slices.DeleteFunc(slices.Clone(variants), func(v Variant) bool { return v.Unlimited })
	if lowest == 0 || len(limited) < 2 {
		return nil // nothing to choose between
	}
	key, load := "load.rate", strconv.FormatFloat(lowest*share, 'f', 1, 64)
	if cells[asIs].Load.Kind == "closed" {
		key, load = "load.users", strconv.Itoa(max(1, int(lowest*share)))
	}
	return []string{"load.find=null", key + "=" + load, "measure.warmup=1s", "measure.duration=4s", "measure.repeats=6",
		"measure.interval=1s", "profile=false"}
}

// latency compares the p99 of each setting under the one limit, at a common load,
// with that of the server as it is. Settings are not tested against one another.
func (v *verdict) latency(level *analysis.Summary) string {
	at := v.compared(level)
	if at == nil {
		return v.notLevelled(level)
	}
	type tested struct {
		label string
		cell  *analysis.CellSummary
		test  *analysis.Comparison // nil: too few trials
	}
	var all, better []tested
	var untested, absent []string
	for _, x := range v.variants[1:] {
		c := at.cells[x.Service]
		switch {
		case !x.comparable() || x.NoEffect != "":
			continue
		case c == nil || c.LatencyMS == nil:
			absent = append(absent, x.Label)
			continue
		}
		one := tested{x.Label, c, at.against(c)}
		all = append(all, one)
		switch {
		case one.test == nil:
			untested = append(untested, x.Label)
		case one.test.Significant && one.test.Shift < 0:
			better = append(better, one)
		}
	}
	slices.SortStableFunc(all, func(a, b tested) int { return cmp.Compare(middle(a.cell), middle(b.cell)) })
	slices.SortStableFunc(better, func(a, b tested) int { return cmp.Compare(a.test.Shift, b.test.Shift) })
	of := func(x tested) string { return fmt.Sprintf("%s (%s)", at.figures(x.cell), sureness(x.test)) }
	head, text := fmt.Sprintf("For p99, at %s, ", at.load), ""
	switch {
	case len(all) == 0:
	case len(better) == 1 && len(all) == 1 && len(absent) == 0:
		text = fmt.Sprintf("%s%s is best: %s.", head, better[0].label, of(better[0]))
	case len(better) > 0:
		text = fmt.Sprintf("%s%s is surely better than as it is: %s", head, better[0].label, of(better[0]))
		for _, x := range better[1:] {
			text += fmt.Sprintf("; so is %s: %s", x.label, of(x))
		}
		if len(better) > 1 {
			text += "; they were not tested against one another"
		}
		text += "."
	case len(untested) == len(all):
		text = fmt.Sprintf("%s%s is lowest: %s; %s.", head, all[0].label, at.figures(all[0].cell), sureness(nil))
		if middle(all[0].cell) >= middle(at.base) {
			text = fmt.Sprintf("%sno setting is lower than as it is: %s ms; %s.", head, display.Figure(middle(at.base)), sureness(nil))
		}
		untested = nil
	case middle(all[0].cell) < middle(at.base):
		text = fmt.Sprintf("%sno setting is surely better than as it is: %s was lowest, %s.", head, all[0].label, of(all[0]))
	default:
		text = fmt.Sprintf("%sno setting is lower than as it is: %s ms%s.", head, display.Figure(middle(at.base)), at.medians(at.base))
	}
	if len(untested) > 0 {
		text += fmt.Sprintf(" For %s it is not known: too few trials.", strings.Join(untested, ", "))
	}
	if len(absent) > 0 {
		text += fmt.Sprintf(" No p99 of %s was measured at %s.", strings.Join(absent, ", "), at.load)
	}
	return strings.TrimSpace(text)
}

// notLevelled says why p99 was not compared; "" where there was nothing to
// compare.
func (v *verdict) notLevelled(level *analysis.Summary) string {
	limited := 0
	var without []string
	for _, x := range v.variants {
		if x.NoEffect != "" {
			continue
		}
		if !x.Unlimited {
			limited++
		}
		if b := v.breaking(x); b == nil || b.Load() == nil {
			without = append(without, x.Label)
		}
	}
	switch {
	case limited < 2:
		return ""
	case level == nil && len(without) > 0:
		return fmt.Sprintf("The settings' p99 was not compared at one load, as no breaking point was found for: %s.", strings.Join(without, ", "))
	case level == nil:
		return "The settings' p99 was not compared at one load."
	}
	return "The settings' p99 cannot be compared at one load: none was measured of the server as it is."
}

// compared is a summary of all variants at one load; nil where it says nothing of
// the server as it is.
type compared struct {
	cells       map[string]*analysis.CellSummary
	base        *analysis.CellSummary // as it is
	load        string                // "210 requests/s"
	comparisons []analysis.Comparison
}

func (v *verdict) compared(level *analysis.Summary) *compared {
	if level == nil {
		return nil
	}
	cells := byService(level)
	base := cells[v.variants[0].Service]
	if base == nil || base.LatencyMS == nil || base.Load.Rate == nil && base.Load.Users == nil {
		return nil
	}
	at := base.Load.Rate
	if at == nil {
		at = base.Load.Users
	}
	return &compared{cells: cells, base: base, load: display.Figure(*at) + " " + v.unit, comparisons: level.Comparisons}
}

// against is how the p99 of a cell compares with that of the server as it is; nil:
// there were too few trials.
func (a *compared) against(c *analysis.CellSummary) *analysis.Comparison {
	i := slices.IndexFunc(a.comparisons, func(x analysis.Comparison) bool {
		return x.Cell == c.Cell && x.Baseline == a.base.Cell && x.Metric == "latency_ms.p99"
	})
	if i < 0 {
		return nil
	}
	return &a.comparisons[i]
}

// p99s are a cell's, one a trial.
func p99s(c *analysis.CellSummary) []float64 {
	m, _ := analysis.MetricOf("p99")
	return m.Trials(c)
}

// middle is the p99 that is compared: the median over trials. That of all requests
// together is what a single bad trial makes of it.
func middle(c *analysis.CellSummary) float64 {
	if trials := p99s(c); len(trials) > 0 {
		return stats.Median(trials)
	}
	return c.LatencyMS.P99
}

// medians names what a figure is the median of; "" of one trial.
func (a *compared) medians(c *analysis.CellSummary) string {
	if n := len(p99s(c)); n > 1 {
		return fmt.Sprintf(", median of %d trials", n)
	}
	return ""
}

func (a *compared) figures(c *analysis.CellSummary) string {
	return fmt.Sprintf("%s ms against %s ms as it is%s", display.Figure(middle(c)), display.Figure(middle(a.base)), a.medians(c))
}

func sureness(c *analysis.Comparison) string {
	switch {
	case c == nil:
		return "too few trials to know how certain that is"
	case !c.Significant:
		return fmt.Sprintf("p = %.2g after Holm", c.PHolm)
	}
	return fmt.Sprintf("shift %+.3g ms, 95%% %+.3g to %+.3g; p = %.2g after Holm", c.Shift, c.Low, c.High, c.PHolm)
}
