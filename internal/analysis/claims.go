package analysis

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/data/experiment"
)

// claims judges the experiment's claims by the cells' figures.
func (b *Builder) claims(cells []summary.Cell) (all []summary.Claim) {
	j := verdict.Claims{Experiment: b.exp, Cells: cells, Absent: make([]string, len(cells)),
		At: func(cell int, level float64) (summary.Cell, bool) {
			at, ok := b.close(cell).at[level]
			return at, ok
		}}
	for i := range cells {
		j.Absent[i] = b.skipped[b.exp.Cells[i].Service.Name]
		j.CPUs = max(j.CPUs, b.close(i).cpus)
	}
	for _, a := range b.attempts {
		if a.State != Profiled && a.Cell < len(j.Absent) {
			j.Absent[a.Cell] = a.Why
		}
	}
	for i := range b.exp.Claims {
		all = append(all, j.Judge(&b.exp.Claims[i]))
	}
	return all
}

// claimedLevels are the levels of a cell's load that claims are about.
func (b *Builder) claimedLevels(cell int) (all []float64) {
	for i := range b.exp.Claims {
		c := &b.exp.Claims[i]
		if c.At != nil && slices.ContainsFunc(c.Selectors(), func(s experiment.Selector) bool { return s.Cell == cell }) {
			all = append(all, *c.At)
		}
	}
	return all
}

// atLevel returns what claims need to know about a cell at one level of its load. It
// returns false if the load does not hold that level, or holds it more than once. A
// trial that did not reach the level has no figures.
func (c *cell) atLevel(level float64) (summary.Cell, bool) {
	index, times := 0, 0
	if c.levels != nil {
		for i, h := range c.levels.Held {
			if h.Target == level {
				index = i
				times++
			}
		}
	}
	if times != 1 {
		return summary.Cell{}, false
	}
	unit := " requests/s"
	if c.plan.Load.Users != nil {
		unit = " users"
	}
	out := summary.Cell{Cell: c.plan.Index, Kept: c.exp.Measure.Kept, Label: c.plan.Label() + " at " + digits.Exact(level) + unit}
	all := sums.New()
	for _, t := range c.trials {
		of := t.levels[index]
		if of.Client.Seconds() == 0 {
			continue
		}
		out.Trials++
		one := trialFigures(t.attempt, figuresOf(of, true))
		one.OfAll = objective.OfAll(of, true)
		out.PerTrial = append(out.PerTrial, one)
		out.Flags = append(out.Flags, noiseFlags(&of.Noise, c.goal.Late())...)
		all.Merge(of)
	}
	out.Generator = c.generator(all)
	return out, true
}
