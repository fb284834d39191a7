package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/display/digits"
	"github.com/millicore/millicore/internal/display/phrase"
	"github.com/millicore/millicore/internal/experiment"
)

// claims judges the experiment's claims by the cells' figures.
func (b *Builder) claims(cells []summary.Cell) []summary.Claim {
	j := judge{exp: b.exp, cells: cells, absent: make([]string, len(cells)),
		at: func(cell int, level float64) (summary.Cell, bool) { return b.cells[cell].atLevel(&cells[cell], level) }}
	for _, c := range b.cells {
		for _, t := range c.trials {
			j.cpus = max(j.cpus, t.all.Noise.Machines().CPUs())
		}
	}
	for i, c := range b.cells {
		j.absent[i] = c.skipped
	}
	for _, a := range b.attempts {
		if a.State != Profiled && a.Cell < len(j.absent) {
			j.absent[a.Cell] = a.Why
		}
	}
	var all []summary.Claim
	for i := range b.exp.Claims {
		all = append(all, j.claim(&b.exp.Claims[i]))
	}
	return all
}

// judge compares claims with cells.
type judge struct {
	exp    *experiment.Experiment
	cells  []summary.Cell // in the plan's order
	absent []string       // by cell: why it has no trial, if known
	cpus   int            // of the host; 0: not known
	// at returns what a cell shows at one level of its load; false if it holds no such
	// level.
	at func(cell int, level float64) (summary.Cell, bool)
}

func (j *judge) claim(c *experiment.Claim) summary.Claim {
	m, _ := MetricOf(c.Metric)
	out := summary.Claim{Says: c.Says, Published: c.Published, Metric: c.Metric, At: c.At, Unit: m.Unit, Above: c.Above, Below: c.Below, Cells: []summary.ClaimedCell{}}
	selectors := slices.Clone(c.Order)
	for _, one := range []*experiment.Selector{c.Of, c.Over} {
		if one != nil {
			selectors = append(selectors, *one)
		}
	}
	var figures []figure
	for i := range selectors {
		f := j.figure(m, &selectors[i], c.At)
		if f.cell != nil {
			out.Unit = m.UnitOf(f.cell)
		}
		figures = append(figures, f)
		out.Cells = append(out.Cells, f.claimed())
	}
	if len(figures) > 1 && !slices.ContainsFunc(figures, func(f figure) bool { return f.why != "" }) {
		for i := range figures {
			figures[i].unrepeated()
		}
	}
	switch {
	case len(c.Order) > 0:
		out.Verdict, out.Reason = inOrder(m, figures)
	case c.Over != nil:
		out.Ratio = true
		judgeFigure(&out, ratio(figures[0], figures[1]))
	case m.events():
		judgeEvents(&out, m, &figures[0])
	default:
		judgeFigure(&out, figures[0])
	}
	if c.CPUs > 0 && j.cpus > 0 && j.cpus < c.CPUs {
		out.Verdict, out.Reason = summary.Inconclusive, fmt.Sprintf("it needs a host with %d CPUs, and this one has %d", c.CPUs, j.cpus)
	}
	out.Reason = phrase.Join(append([]string{out.Reason}, j.notes(c, figures, out.Verdict)...)...)
	return out
}

// judgeFigure judges a figure by the claim's bound.
func judgeFigure(c *summary.Claim, f figure) {
	one := f.claimed()
	c.Value, c.Low, c.High, c.IntervalOf = one.Value, one.Low, one.High, one.IntervalOf
	if f.why != "" {
		c.Verdict, c.Reason = summary.Inconclusive, f.why
		return
	}
	bound := 0.0
	switch {
	case c.Above != nil:
		bound = *c.Above
		c.Verdict = side(f.low > bound, f.high <= bound)
	case c.Below != nil:
		bound = *c.Below
		c.Verdict = side(f.high < bound, f.low >= bound)
	}
	text := "lies above "
	switch {
	case c.Verdict == summary.Inconclusive && math.IsInf(f.high, 1):
		c.Reason = "the figure is a lower bound only, and that bound lies below " + boundText(bound, c.ValueUnit())
		return
	case c.Verdict == summary.Inconclusive:
		text = "contains "
	case f.high <= bound:
		text = "lies below "
	}
	c.Reason = f.basis() + " " + text + boundText(bound, c.ValueUnit())
}

func side(on, off bool) summary.Verdict {
	switch {
	case on:
		return summary.Reproduced
	case off:
		return summary.NotReproduced
	}
	return summary.Inconclusive
}

// boundText formats a bound with its unit.
func boundText(v float64, unit string) string {
	switch unit {
	case "share":
		return digits.Significant(100*v, 6) + "%"
	case "%":
		return digits.Significant(v, 6) + "%"
	case "times":
		return digits.Significant(v, 6)
	case "bytes":
		return digits.Significant(v/(1<<20), 4) + " MiB"
	}
	if v >= 1000 {
		return digits.Exact(v) + " " + unit
	}
	return digits.Significant(v, 6) + " " + unit
}

// inOrder judges figures that are claimed to rise from one to the next, by the tests of
// all their pairs. The claim is reproduced if each lies significantly below the next
// one, and not reproduced if two of them are significantly in the opposite order.
func inOrder(m Metric, figures []figure) (summary.Verdict, string) {
	var cells []*summary.Cell
	for i := range figures {
		if figures[i].why == "" {
			cells = append(cells, figures[i].cell)
		}
	}
	r, highest := rank(m.path(), cells), 0.0
	for i := range figures {
		for k := i + 1; k < len(figures); k++ {
			a, b := &figures[i], &figures[k]
			if e := r.Between(a.cell, b.cell); e.Sign > 0 {
				return summary.NotReproduced, fmt.Sprintf("%s lies above %s (p %.2g, corrected over all pairs)", a.label, b.label, e.PFamily)
			}
		}
	}
	for i := range figures {
		if figures[i].why != "" {
			return summary.Inconclusive, figures[i].why
		}
	}
	for i := 1; i < len(figures); i++ {
		a, b := &figures[i-1], &figures[i]
		e := r.Between(a.cell, b.cell)
		switch {
		case e.Basis == summary.Untested:
			return summary.Inconclusive, fmt.Sprintf("%s and %s were not tested: %s", a.label, b.label, gapText(&e, phrase.Plural(min(a.trials, b.trials), "trial")))
		case e.Sign == 0 && math.IsInf(a.high, 1):
			return summary.Inconclusive, fmt.Sprintf("%s and %s cannot be distinguished: the figure of %s is a lower bound", a.label, b.label, a.label)
		case e.Sign == 0:
			return summary.Inconclusive, fmt.Sprintf("%s and %s do not differ significantly (p %.2g, corrected over all pairs)", a.label, b.label, e.PFamily)
		}
		highest = max(highest, e.PFamily)
	}
	return summary.Reproduced, fmt.Sprintf("each lies below the next one (p at most %.2g, corrected over all pairs)", highest)
}
