package report

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// difference is the test of one cell against its baseline. Base, Value and Shift reach to
// baseTo, valueTo and shiftTo, which are others if only a bound is known.
type difference struct {
	*summary.Comparison
	cell                     int
	baseTo, valueTo, shiftTo float64
}

// bounded reports whether all figures are numbers.
func (d *difference) bounded() bool {
	for _, v := range []float64{d.Base, d.Value, d.Shift, d.Low, d.High, d.baseTo, d.valueTo, d.shiftTo} {
		if math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// newDifferences are the tests, one table per metric and baseline, and those at the common
// load; of a server before a change and after it those of the answer.
func newDifferences(s *summary.Summary, names []string) []Table {
	if against := s.Experiment.Server.Against(); against != "" {
		return changes(s, against)
	}
	all := differencesOf(s, names)
	if s.Common == nil {
		return all
	}
	for _, t := range differencesOf(s.Common, narrative.CellNames(s.Common)) {
		t.Title = "At " + narrative.CommonLoad(s) + ": " + t.Title
		all = append(all, t)
	}
	return all
}

func differencesOf(s *summary.Summary, names []string) []Table {
	type family struct {
		metric   string
		baseline int
	}
	var families []family
	rows := map[family][]difference{}
	add := func(c *summary.Comparison, baseTo, valueTo, shiftTo float64) {
		cell, base := s.CellAt(c.Cell), s.CellAt(c.Baseline)
		if cell < 0 || base < 0 {
			return
		}
		f := family{c.Metric, base}
		if rows[f] == nil {
			families = append(families, f)
		}
		rows[f] = append(rows[f], difference{c, cell, baseTo, valueTo, shiftTo})
	}
	for i := range s.Comparisons {
		c := &s.Comparisons[i]
		add(c, c.Base, c.Value, c.Shift)
	}
	for i := range s.Unbounded {
		c := &s.Unbounded[i]
		add(&c.Comparison, c.BaseTo, c.ValueTo, c.ShiftTo)
	}
	var all []Table
	for _, f := range families {
		slices.SortStableFunc(rows[f], func(a, b difference) int { return a.cell - b.cell })
		all = append(all, differenceTable(s, names, f.metric, names[f.baseline], rows[f]))
	}
	return all
}

// differenceTable is a family of tests, in the unit in which the baseline reads best.
func differenceTable(s *summary.Summary, names []string, metric, baseline string, rows []difference) Table {
	name, unit := narrative.Tested(metric, s)
	scale := 1.0
	if b := benchmarkOf(metric, s); b != nil {
		name = b.Name
		scale, unit = narrative.BenchUnit(b.Unit, rows[0].Base)
	}
	for i, r := range rows {
		scaled := *r.Comparison
		for _, v := range []*float64{&scaled.Base, &scaled.Value, &scaled.Shift, &scaled.Low, &scaled.High} {
			*v *= scale
		}
		rows[i] = difference{&scaled, r.cell, r.baseTo * scale, r.valueTo * scale, r.shiftTo * scale}
	}
	shift := Column{Head: "shift", Unit: unit, Kind: Main, Notes: "95%\ninterval", Cells: each(rows, func(r difference) Cell {
		return Cell{Text: between(r.Shift, r.shiftTo, signed), Note: signed(r.Low) + " to " + signed(r.High)}
	})}
	t := Table{Title: narrative.Against(name, baseline, between(rows[0].Base, rows[0].baseTo, display.Figure), unit),
		Lead: "Tested over whole trials, by Brunner and Munzel’s test. The shift is the median of all differences between a trial of the cell and one of the baseline. Corrected p covers all pairs of cells: at most 5% of the records name a difference that does not exist.",
		Columns: []Column{
			{Head: "cell", Kind: Name, Cells: words(rows, func(r difference) string { return names[r.cell] })},
			{Head: "median\n" + name, Unit: unit, Rank: 1, Cells: words(rows, func(r difference) string { return between(r.Value, r.valueTo, display.Figure) })},
			shift,
		}}
	if slices.ContainsFunc(rows, func(r difference) bool { return !r.bounded() }) {
		t.Lead += " Failed requests count as infinitely late (∞); ≥ and ≤ are bounds."
	}
	if scale := differenceScale(rows); scale.Drawn() {
		t.Columns = append(t.Columns, Column{Head: "shift with its interval", Kind: Picture, Rank: PageOnly, Scale: scale, Cells: each(rows, func(r difference) Cell {
			if !r.bounded() {
				return Cell{}
			}
			return Cell{Range: &Range{Value: &r.Shift, Low: &r.Low, High: &r.High, Label: signed(r.Shift) + ", 95% interval " + signed(r.Low) + " to " + signed(r.High)}}
		})})
	}
	t.Columns = append(t.Columns,
		Column{Head: "p", Rank: 2, Cells: words(rows, func(r difference) string { return display.Chance(r.P) })},
		Column{Head: "p, corrected", Cells: words(rows, func(r difference) string { return display.Chance(r.PFamily) })},
		Column{Head: "difference", Kind: Word, Cells: words(rows, func(r difference) string { return narrative.Significance(r.Comparison) })})
	for _, r := range rows {
		t.About = append(t.About, r.cell)
	}
	return t
}

// differenceScale holds all shifts with their intervals, and no difference.
func differenceScale(rows []difference) Scale {
	var s Scale
	for _, r := range rows {
		if !r.bounded() {
			continue
		}
		s.From, s.To = math.Min(s.From, math.Min(r.Low, r.Shift)), math.Max(s.To, math.Max(r.High, r.Shift))
	}
	margin := 0.06 * (s.To - s.From)
	return Scale{From: s.From - margin, To: s.To + margin}
}

// between writes a figure of which a lower and an upper end are known: "≥ 12.0" without an
// upper one, "∞" where both are infinite.
func between(low, high float64, write func(float64) string) string {
	switch {
	case low == high:
		return write(low)
	case math.IsInf(low, -1) && math.IsInf(high, 1), math.IsNaN(low), math.IsNaN(high): // NaN: between infinities of both signs
		return display.Absent
	case math.IsInf(high, 1):
		return "≥ " + write(low)
	case math.IsInf(low, -1):
		return "≤ " + write(high)
	}
	return write(low) + "–" + write(high)
}

// signed writes a difference with its sign.
func signed(v float64) string { return display.Signed(v, display.Decimals(v)) }

// benchmarkOf finds the figure that a field path names in any cell; nil: none.
func benchmarkOf(path string, s *summary.Summary) *summary.Benchmark {
	for i := range s.Cells {
		for k := range s.Cells[i].Benchmarks {
			if b := &s.Cells[i].Benchmarks[k]; b.Path() == path {
				return b
			}
		}
	}
	return nil
}
