package verdict

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
)

// notes qualify a verdict: figures that were measured only once, what may have
// influenced them, and what differs from the experiment file. If a figure is missing,
// the reason explains that, and only the last note is added.
func (j *Claims) notes(c *experiment.Claim, figures []claimed, verdict summary.Verdict) (all []finding.Finding) {
	if verdict != summary.Inconclusive || !slices.ContainsFunc(figures, func(f claimed) bool { return !f.refused.None() }) {
		for i := range figures {
			if of := figures[i].of; of == summary.BySearch || of == summary.ByLevels {
				all = append(all, finding.Finding{Kind: finding.OneStart, Text: of})
			}
			all = append(all, figures[i].bounded())
		}
		for _, flag := range touching {
			all = append(all, touched(flag, figures))
		}
		if j.Experiment.Measure.StaysUp() && len(figures) > 1 && c.Metric != memoryGrowthMetric {
			all = append(all, finding.Finding{Kind: finding.NotRestarted})
		}
	}
	if len(c.Set) > 0 {
		all = append(all, finding.Finding{Kind: finding.SetOnCommandLine, Names: c.Set})
	}
	return slices.DeleteFunc(all, finding.Finding.None)
}

// bounded states why only a lower bound of a figure is known.
func (f *claimed) bounded() (why finding.Finding) {
	why.Names = []string{f.label}
	switch {
	case !f.refused.None() || !math.IsInf(f.high, 1) || f.cell == nil:
	case f.metric == BreakingPointMetric && len(f.cell.Breaking.Why) > 0:
		why.Kind, why.Because = finding.OnlyLowerBound, f.cell.Breaking.Why
	case f.metric != BreakingPointMetric && infinite(f.cell, f.metric).N > 0:
		why.Kind = finding.LowerBoundByFailures
	}
	return why
}

// touching are the flags that may matter for a figure, as they are noted.
var touching = []summary.Flag{summary.FlagBusyNeighbour, summary.FlagBusyHypervisor, summary.FlagSearchDisturbed}

// touched names the figures that a flag of their cells matters for.
func touched(flag summary.Flag, figures []claimed) (why finding.Finding) {
	for i := range figures {
		if f := &figures[i]; f.cell != nil && f.touched(flag) && !slices.Contains(why.Names, f.label) {
			why.Kind, why.Text, why.Names = finding.TouchedBy, string(flag), append(why.Names, f.label)
		}
	}
	return why
}

// touched reports whether a flag of the cell matters for the figure.
func (f *claimed) touched(flag summary.Flag) bool {
	has := f.cell.Has
	switch {
	case !has(flag), !f.refused.None() && f.of == "", ofMemory(f.metric):
		return false
	case flag == summary.FlagSearchDisturbed: // the reason of a ramp's bound already has it
		return f.metric == BreakingPointMetric && (f.cell.Load.Find || f.bounded().None())
	}
	// Beside others, no other metric has a verdict.
	return f.metric == BreakingPointMetric && !has(summary.FlagSearchDisturbed)
}
