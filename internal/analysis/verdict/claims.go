package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/experiment"
)

// Claims compares claims with cells.
type Claims struct {
	Experiment *experiment.Experiment
	Cells      []summary.Cell // in the plan's order
	Absent     []string       // by cell: why it has no trial, if known
	CPUs       int            // of the host; 0: not known
	// at returns what a cell shows at one level of its load; false if it holds no such
	// level.
	At func(cell int, level float64) (summary.Cell, bool)
}

func (j *Claims) Judge(c *experiment.Claim) summary.Claim {
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
	if c.CPUs > 0 && j.CPUs > 0 && j.CPUs < c.CPUs {
		out.Verdict, out.Reason = summary.Inconclusive, fmt.Sprintf("it needs a host with %d CPUs, and this one has %d", c.CPUs, j.CPUs)
	}
	out.Reason = phrase.Join(append([]string{out.Reason}, notes(j.Experiment, c, figures, out.Verdict)...)...)
	return out
}

// figure returns a metric of the cell that a selector names, at one level of its load,
// or with nil over the whole load.
func (j *Claims) figure(m Metric, s *experiment.Selector, at *float64) figure {
	f := figure{label: s.Label(), metric: m.Name, value: math.NaN()}
	if s.Cell < 0 || s.Cell >= len(j.Cells) {
		f.why = "this run has no cell " + f.label
		return f
	}
	f.cell = &j.Cells[s.Cell]
	f.label = f.cell.Label
	if at != nil && f.cell.Trials > 0 {
		level, ok := j.At(s.Cell, *at)
		if !ok {
			f.why = "the load of " + f.label + " holds no level of " + digits.Exact(*at) + " in this run"
			return f
		}
		f.cell, f.label = &level, level.Label
	}
	switch {
	case f.cell.Trials == 0:
		f.why = "nothing was measured for " + f.label
		if s.Cell < len(j.Absent) && j.Absent[s.Cell] != "" {
			f.why += ": " + j.Absent[s.Cell]
		}
	case m.Name == BreakingPointMetric:
		f.breaking(f.cell.Breaking)
	case m.Name == memoryGrowthMetric:
		f.growth(j.Experiment.Measure.Kept)
	default:
		f.over(m, m.Trials(f.cell))
		f.failing(m)
		f.disturbed(m)
	}
	return f
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

// judgeEvents judges how often an event happened, trial by trial. One event is not a
// measurement error, so one trial is enough, and a median over trials has no meaning.
func judgeEvents(c *summary.Claim, m Metric, f *figure) {
	if f.trials == 1 { // too few for an interval, but enough here
		f.why = ""
		f.disturbed(m)
	}
	one := f.claimed()
	c.Value, c.Low, c.High, c.IntervalOf = one.Value, one.Low, one.High, one.IntervalOf
	if f.why != "" {
		c.Verdict, c.Reason = summary.Inconclusive, f.why
		return
	}
	least := 0.0 // fewest events of a trial that counts
	if c.Above != nil {
		least = math.Floor(*c.Above) + 1
	} else {
		least = math.Ceil(*c.Below)
	}
	times := 0
	for _, v := range f.values {
		if v >= least {
			times++
		}
	}
	what := fmt.Sprintf("at least %s %s", digits.Exact(least), m.Words)
	if least == 1 {
		what = "at least one " + strings.TrimSuffix(m.Words, "s")
	}
	c.Reason = fmt.Sprintf("%s in %d of %s", what, times, phrase.Plural(f.trials, "trial"))
	all, none := times == f.trials, times == 0
	switch {
	case !all && math.IsInf(f.high, 1):
		c.Verdict = summary.Inconclusive
		c.Reason += "; the generator was the limit, and under more load there may be more"
	case c.Above != nil:
		c.Verdict = side(all, none)
	case none && f.trials == 1:
		c.Verdict = summary.Inconclusive
		c.Reason += ", and one trial without it is no proof; repeat it"
	default:
		c.Verdict = side(none, all)
	}
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
			return summary.Inconclusive, fmt.Sprintf("%s and %s were not tested: %s", a.label, b.label, GapText(&e, phrase.Plural(min(a.trials, b.trials), "trial")))
		case e.Sign == 0 && math.IsInf(a.high, 1):
			return summary.Inconclusive, fmt.Sprintf("%s and %s cannot be distinguished: the figure of %s is a lower bound", a.label, b.label, a.label)
		case e.Sign == 0:
			return summary.Inconclusive, fmt.Sprintf("%s and %s do not differ significantly (p %.2g, corrected over all pairs)", a.label, b.label, e.PFamily)
		}
		highest = max(highest, e.PFamily)
	}
	return summary.Reproduced, fmt.Sprintf("each lies below the next one (p at most %.2g, corrected over all pairs)", highest)
}
