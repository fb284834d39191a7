package verdict

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
)

// Claims judges the published statements of an experiment by what its cells show. A
// bound is judged as those of compare are: by the side on which the whole interval lies.
// An order is judged by the ranking of its cells.
type Claims struct {
	Experiment *experiment.Experiment
	Cells      []summary.Cell // in the plan's order
	Absent     []string       // by cell: why it has no trial, if known
	CPUs       int            // of the host; 0: not known
	// At returns what a cell shows at one level of its load; false if it holds no such
	// level.
	At func(cell int, level float64) (summary.Cell, bool)
}

// Judge returns a claim with its verdict.
func (j *Claims) Judge(c *experiment.Claim) summary.Claim {
	m, _ := MetricOf(c.Metric)
	out := summary.Claim{Says: c.Says, Published: c.Published, Metric: c.Metric, At: c.At, Unit: m.Unit, Ratio: c.Over != nil,
		Above: c.Above, Below: c.Below, Cells: []summary.ClaimedCell{}}
	var figures []claimed
	for _, s := range c.Selectors() {
		f := j.figure(m, &s, c.At)
		if f.cell != nil {
			out.Unit = m.UnitOf(f.cell)
		}
		figures = append(figures, f)
		out.Cells = append(out.Cells, f.summary())
	}
	var why finding.Finding
	switch {
	case len(c.Order) > 0:
		out.Verdict, why = inOrder(m, figures)
	case c.Over != nil:
		of := ratio(m, &figures[0], &figures[1])
		why = judgeFigure(&out, of)
		if of.refused.Kind == finding.PairNotTested { // what qualifies the two does not matter
			figures = append(figures, of)
		}
	case m.events():
		why = judgeEvents(&out, m, &figures[0])
	default:
		why = judgeFigure(&out, figures[0])
	}
	if c.CPUs > 0 && j.CPUs > 0 && j.CPUs < c.CPUs {
		out.Verdict, why = summary.Inconclusive, finding.Finding{Kind: finding.TooFewCPUs, N: j.CPUs, Of: c.CPUs}
	}
	out.Why = append([]finding.Finding{why}, j.notes(c, figures, out.Verdict)...)
	return out
}

// verdicts are what the outcomes of a bound mean for a claim, which states that the
// figure lies beyond it.
var verdicts = map[Outcome]summary.Verdict{Broken: summary.Reproduced, Held: summary.NotReproduced, Undecided: summary.Inconclusive}

// judgeFigure judges a figure by the claim's bound, and returns what the verdict rests on.
func judgeFigure(c *summary.Claim, f claimed) finding.Finding {
	one := f.summary()
	c.Value, c.Low, c.High, c.IntervalOf = one.Value, one.Low, one.High, one.IntervalOf
	if !f.refused.None() {
		c.Verdict = summary.Inconclusive
		return f.refused
	}
	bound := Bound{Above: c.Above != nil}
	if bound.Above {
		bound.Value = *c.Above
	} else {
		bound.Value = *c.Below
	}
	c.Verdict = verdicts[bound.side(f.low, f.high)]
	why := finding.Finding{Kind: finding.IntervalAbove, Value: bound.Value, Text: c.ValueUnit(), Because: []finding.Finding{f.basis()}}
	switch {
	case c.Verdict == summary.Inconclusive && math.IsInf(f.high, 1):
		why.Kind = finding.LowerBoundBelow
	case c.Verdict == summary.Inconclusive:
		why.Kind = finding.IntervalContains
	case f.high <= bound.Value:
		why.Kind = finding.IntervalBelow
	}
	return why
}

// judgeEvents judges how often an event happened, trial by trial. One event is not a
// measurement error, so one trial is enough, and a median over trials has no meaning.
func judgeEvents(c *summary.Claim, m Metric, f *claimed) finding.Finding {
	if f.refused.Kind == finding.OneTrial { // too few for an interval, but enough here
		f.refused = f.notTheServices(m)
	}
	one := f.summary()
	c.Value, c.Low, c.High, c.IntervalOf = one.Value, one.Low, one.High, one.IntervalOf
	if !f.refused.None() {
		c.Verdict = summary.Inconclusive
		return f.refused
	}
	least := 0.0 // fewest events of a trial that counts
	if c.Above != nil {
		least = math.Floor(*c.Above) + 1
	} else {
		least = math.Ceil(*c.Below)
	}
	times := 0
	for _, v := range m.Trials(f.cell) {
		if v >= least {
			times++
		}
	}
	why := finding.Finding{Kind: finding.EventsInTrials, Value: least, Text: m.Words, N: times, Of: f.trials}
	all, none := times == f.trials, times == 0
	switch {
	case !all && math.IsInf(f.high, 1):
		why.Kind, c.Verdict = finding.EventsUnderLessLoad, summary.Inconclusive
	case all && c.Above != nil, none && c.Above == nil && f.trials > 1:
		c.Verdict = summary.Reproduced
	case none && c.Above != nil, all && c.Above == nil:
		c.Verdict = summary.NotReproduced
	case none:
		why.Kind, c.Verdict = finding.NoEventInOneTrial, summary.Inconclusive
	default:
		c.Verdict = summary.Inconclusive
	}
	return why
}

// inOrder judges figures that are claimed to rise from one to the next, by the tests of
// all their pairs. The claim is reproduced if each lies significantly below the next
// one, and not reproduced if two of them are significantly in the opposite order.
func inOrder(m Metric, figures []claimed) (summary.Verdict, finding.Finding) {
	var cells []*summary.Cell
	for i := range figures {
		if figures[i].refused.None() {
			cells = append(cells, figures[i].cell)
		}
	}
	r, highest := rank(m.path(), cells), 0.0
	for i := range figures {
		for k := i + 1; k < len(figures); k++ {
			a, b := &figures[i], &figures[k]
			if e := r.Between(a.cell, b.cell); e.Sign > 0 {
				return summary.NotReproduced, finding.Finding{Kind: finding.LiesAbove, Names: []string{a.label, b.label}, Share: e.PFamily}
			}
		}
	}
	for i := range figures {
		if !figures[i].refused.None() {
			return summary.Inconclusive, figures[i].refused
		}
	}
	for i := 1; i < len(figures); i++ {
		a, b := &figures[i-1], &figures[i]
		e := r.Between(a.cell, b.cell)
		switch {
		case e.Basis == summary.Untested:
			return summary.Inconclusive, untested(a, b, e.Gap, min(a.trials, b.trials), e.Cells)
		case e.Sign == 0 && math.IsInf(a.high, 1):
			return summary.Inconclusive, finding.Finding{Kind: finding.AlikeByLowerBound, Names: []string{a.label, b.label}}
		case e.Sign == 0:
			return summary.Inconclusive, finding.Finding{Kind: finding.Alike, Names: []string{a.label, b.label}, Share: e.PFamily}
		}
		highest = max(highest, e.PFamily)
	}
	return summary.Reproduced, finding.Finding{Kind: finding.InOrder, Share: highest}
}

// untested is why two cells, of which each has so many starts or more, were not tested
// against one another, of so many cells that are ranked together.
func untested(a, b *claimed, gap summary.Gap, starts, cells int) finding.Finding {
	why := finding.Finding{Kind: finding.PairNotTested, Names: []string{a.label, b.label}, Gap: string(gap), N: starts, Of: Needs(cells)}
	switch {
	case a.metric == BreakingPointMetric && a.cell.Load.Find:
		why.Text = "search"
	case a.metric == BreakingPointMetric:
		why.Text = "ramp"
	}
	return why
}
