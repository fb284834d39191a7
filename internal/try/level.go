package try

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/millicore/millicore/internal/analysis"
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

// latency compares the p99 of the settings under the one limit at a common load.
func (v *verdict) latency(level *analysis.Summary) string {
	at := v.compared(level)
	if at == nil {
		return ""
	}
	best, of := at.base, v.variants[0]
	others := 0
	for _, x := range v.variants[1:] {
		c := at.cells[x.Service]
		if !x.comparable() || c == nil || c.LatencyMS == nil {
			continue
		}
		others++
		if c.LatencyMS.P99 < best.LatencyMS.P99 {
			best, of = c, x
		}
	}
	if others == 0 {
		return ""
	}
	head := fmt.Sprintf("For p99, at %s, ", at.load)
	if best == at.base {
		return head + fmt.Sprintf("no setting beats it as it is: %s ms.", display.Figure(at.base.LatencyMS.P99))
	}
	c := at.against(best)
	switch {
	case c == nil:
		return head + fmt.Sprintf("%s is lowest: %s; %s.", of.Label, at.figures(best), sureness(c))
	case !c.Significant:
		return head + fmt.Sprintf("no setting is surely better than as it is: %s was lowest, %s (%s).", of.Label, at.figures(best), sureness(c))
	}
	return head + fmt.Sprintf("%s is best: %s (%s).", of.Label, at.figures(best), sureness(c))
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
	i := slices.IndexFunc(a.comparisons, func(x analysis.Comparison) bool { return x.Cell == c.Cell && x.Baseline == a.base.Cell })
	if i < 0 {
		return nil
	}
	return &a.comparisons[i]
}

func (a *compared) figures(c *analysis.CellSummary) string {
	return fmt.Sprintf("%s ms against %s ms as it is", display.Figure(c.LatencyMS.P99), display.Figure(a.base.LatencyMS.P99))
}

func sureness(c *analysis.Comparison) string {
	switch {
	case c == nil:
		return "too few trials to tell how sure that is"
	case !c.Significant:
		return fmt.Sprintf("p = %.2g after Holm", c.PHolm)
	}
	return fmt.Sprintf("shift %+.3g ms, 95%% %+.3g to %+.3g; p = %.2g after Holm", c.Shift, c.Low, c.High, c.PHolm)
}
