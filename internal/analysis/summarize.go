package analysis

import (
	"github.com/millicore/millicore/internal/analysis/capacity"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/record"
)

// Summarize returns the summary of a record that was made on a host.
func (b *Builder) Summarize(about summary.Experiment, host record.Host) *summary.Summary {
	about.Name, about.About, about.Kept, about.Server = b.exp.Name, b.exp.About, b.exp.Measure.Kept, b.exp.Server
	s := &summary.Summary{Experiment: about, Host: host, Cells: b.Cells()}
	s.Comparisons, s.Ranking = verdict.Tests(s, b.compared())
	s.Comparisons = append(s.Comparisons, verdict.BenchmarkTests(s)...)
	s.Claims = b.claims(s.Cells)
	s.Findings = b.findings(s.Cells)
	return s
}

// Cells returns the cells' summaries in the plan's order, and closes the cells.
func (b *Builder) Cells() []summary.Cell {
	all := make([]summary.Cell, 0, len(b.exp.Cells))
	for i := range b.exp.Cells {
		all = append(all, b.close(i).summary)
	}
	capacity.WithholdUnlimited(all, b.exp.Server)
	return all
}

// compared is the field path of the figure that cells are compared by.
func (b *Builder) compared() string {
	if len(b.exp.Cells) > 0 {
		plan := &b.exp.Cells[0]
		levels := capacity.LevelsOf(b.exp, plan)
		ramps := capacity.Ramps{Goal: objective.Of(b.exp, plan), Levels: levels}
		if plan.Load.Find || ramps.Judged() && len(levels.Held) > 1 {
			return verdict.BreakingPointMetric
		}
	}
	return summary.LatencyPath(objective.Goal{Objective: b.exp.Objective}.Quantile())
}
