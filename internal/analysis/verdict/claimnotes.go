package verdict

import (
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/experiment"
)

// notes qualify a verdict: figures that were measured only once, what may have
// influenced them, and what differs from the experiment file. If a figure is missing,
// the reason explains that, and only the last note is added.
func notes(e *experiment.Experiment, c *experiment.Claim, figures []figure, verdict summary.Verdict) (all []string) {
	undecided := verdict == summary.Inconclusive && slices.ContainsFunc(figures, func(f figure) bool { return f.why != "" })
	if !undecided {
		for i := range figures {
			all = append(all, figures[i].onceText(), figures[i].bounded())
		}
		all = append(all, touchedText(figures))
	}
	if !undecided && e.Measure.StaysUp() && len(figures) > 1 && c.Metric != memoryGrowthMetric {
		all = append(all, "not restarted between runs: later runs include what grew in earlier ones")
	}
	if len(c.Set) > 0 {
		all = append(all, "with "+phrase.List(c.Set)+" as set on the command line")
	}
	return all
}

// onceText states that a breaking point rests on one search or one ramp. Only a claim
// about one cell may: see unrepeated.
func (f *figure) onceText() string {
	text := ""
	switch f.of {
	case summary.BySearch:
		text = "from one search"
	case summary.ByLevels:
		text = "from one ramp"
		m, _ := MetricOf(f.metric)
		if step := f.high - f.low; !math.IsInf(step, 1) {
			text += ", with steps of " + digits.Exact(step) + " " + m.UnitOf(f.cell)
		}
	default:
		return ""
	}
	return text + "; the spread between runs is unknown"
}

// bounded explains why only a lower bound of a figure is known.
func (f *figure) bounded() string {
	if f.failed && f.why == "" {
		return "only a lower bound is known for " + f.label + ": too many of its requests failed, and a failed request counts as infinitely late"
	}
	if f.metric != BreakingPointMetric || f.why != "" || !math.IsInf(f.high, 1) || f.cell.Breaking.Reason == "" {
		return ""
	}
	return "only a lower bound is known for " + f.label + ": " + f.cell.Breaking.Reason
}

// touchedText describes what may have influenced the figures without preventing a verdict.
func touchedText(figures []figure) string {
	var parts []string
	for _, note := range []struct {
		flag  summary.Flag
		words string
	}{
		{summary.FlagBusyNeighbour, "other processes took CPU during the trials of "},
		{summary.FlagBusyHypervisor, "the hypervisor took CPU during the trials of "},
		{summary.FlagCPUStolen, "the hypervisor took some CPU during the trials of "},
		{summary.FlagLowIdle, "the host had almost no idle CPU during the trials of "},
		{summary.FlagSearchDisturbed, "other processes or the hypervisor took CPU during the search for the breaking point of "},
		{summary.FlagIncomplete, "a trial was cut off for "},
	} {
		var who []string
		for i := range figures {
			f := &figures[i]
			if f.cell != nil && f.touched(note.flag) && !slices.Contains(who, f.label) {
				who = append(who, f.label)
			}
		}
		if len(who) > 0 {
			parts = append(parts, note.words+strings.Join(who, " and "))
		}
	}
	return strings.Join(parts, "; ")
}

// touched reports whether a flag of the cell matters for the figure.
func (f *figure) touched(flag summary.Flag) bool {
	if f.why != "" && f.of == "" || ofMemory(f.metric) {
		return false
	}
	has := f.cell.Has
	breaks := f.metric == BreakingPointMetric
	switch flag {
	case summary.FlagSearchDisturbed: // for a ramp, the reason of its bound already says it
		return breaks && has(flag) && (f.cell.Load.Find || f.bounded() == "")
	case summary.FlagBusyNeighbour, summary.FlagBusyHypervisor: // they prevent a verdict on every other metric
		return breaks && has(flag) && !has(summary.FlagSearchDisturbed)
	case summary.FlagCPUStolen:
		return has(flag) && !has(summary.FlagBusyHypervisor) // which includes it
	case summary.FlagLowIdle:
		return has(flag) && f.disturbedBy() == "" // which includes it
	}
	return has(flag)
}
