package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/results"
)

// shifts are the tests of one metric against one baseline.
type shifts struct {
	Metric   string // "p99"
	Unit     string // "ms"
	Baseline string // the cell's name
	Base     string // its figure
	Rows     []shift
}

// shift is one cell against the baseline.
type shift struct {
	Mark     mark
	Name     string
	Value    string
	Shift    string // "+538"
	Interval string // "+510 to +560"
	P        string
	Holm     string
	Verdict  string
	Of       *analysis.Comparison
	Forest   *forest // for the HTML
}

// metricName gives a field path a name and a unit.
func metricName(path string, s *analysis.Summary) (name, unit string) {
	switch path {
	case analysis.BreakingPointMetric:
		return "breaking point", strings.Join(narrative.LoadUnits(s), " or ")
	case "rate_rps":
		return "requests/s", "requests/s"
	case "availability":
		return "availability", "percentage points"
	}
	if group, name, ok := strings.Cut(path, "."); ok && (group == "latency_ms" || group == "service_ms") {
		return narrative.QuantileName(name), "ms"
	}
	return display.Plain(path), ""
}

// newShifts gathers the comparisons, one table for each metric and baseline.
func newShifts(s *analysis.Summary) []*shifts {
	names := narrative.CellNames(s)
	var all []*shifts
	type key struct {
		metric   string
		baseline int
	}
	at := map[key]*shifts{}
	for i := range s.Comparisons {
		c, of := readable(&s.Comparisons[i], s)
		cell, base := results.CellAt(s, c.Cell), results.CellAt(s, c.Baseline)
		if cell < 0 || base < 0 {
			continue
		}
		k := key{c.Metric, c.Baseline}
		if at[k] == nil {
			name, unit := metricName(c.Metric, s)
			if of != "" {
				name, unit = benchmarkOf(c.Metric, s).Name, of
			}
			at[k] = &shifts{Metric: name, Unit: unit, Baseline: names[base], Base: display.Figure(c.Base)}
			all = append(all, at[k])
		}
		at[k].Rows = append(at[k].Rows, newShift(c, names[cell], markOf(cell)))
	}
	return all
}

func newShift(c *analysis.Comparison, name string, m mark) shift {
	out := shift{Mark: m, Name: name, Value: display.Figure(c.Value), Shift: signed(c.Shift),
		Interval: signed(c.Low) + " to " + signed(c.High), P: display.Chance(c.P), Holm: display.Chance(c.PHolm), Verdict: "may be chance", Of: c}
	if c.Significant {
		out.Verdict = "significant"
	}
	return out
}

// Head says what is tested against what: "p99 against procs=1, 150 ms".
func (t *shifts) Head() string {
	return display.Capital(strings.TrimSpace(fmt.Sprintf("%s against %s, %s %s", t.Metric, t.Baseline, t.Base, t.Unit)))
}

// untested says why cells that could be compared are not; "" where they are, or
// where there is nothing to compare.
func untested(s *analysis.Summary) string {
	fewest, cells := math.MaxInt, 0
	for i := range s.Cells {
		c := &s.Cells[i]
		n := c.Trials
		if results.Searched(c) {
			n = c.Breaking.Searches
		}
		if results.Failed(c) && !results.Searched(c) || n == 0 {
			continue
		}
		cells++
		fewest = min(fewest, n)
	}
	switch {
	case len(s.Comparisons) > 0 || cells < 2 || fewest >= analysis.EnoughTrials:
		return ""
	case results.KindOf(s) == results.Search && fewest < analysis.EnoughSearches:
		return fmt.Sprintf("Too few starts to test the breaking points against one another: %d of a cell, where %d are needed and %d are advised (measure.repeats).",
			fewest, max(stats.TrialsNeeded(cells-1), analysis.EnoughSearches), analysis.EnoughTrials)
	}
	return fmt.Sprintf("Too few trials to test the cells against one another: %d of a cell, where %d are wanted.", fewest, analysis.EnoughTrials)
}

// signed writes a difference with its sign.
func signed(v float64) string { return display.Signed(v, display.Decimals(v)) }

// columns are the tests as a table for the terminal and for Markdown.
func (t *shifts) columns() []display.Column {
	each := func(of func(*shift) string) []string {
		out := make([]string, len(t.Rows))
		for i := range t.Rows {
			out[i] = of(&t.Rows[i])
		}
		return out
	}
	return []display.Column{
		{Head: "cell\n", Left: true, Cells: each(func(r *shift) string { return r.Name })},
		{Head: t.Metric + "\n" + t.Unit, Cells: aligned(each(func(r *shift) string { return r.Value }))},
		{Head: "shift\n" + t.Unit, Cells: aligned(each(func(r *shift) string { return r.Shift }))},
		{Head: "95%\ninterval", Left: true, Cells: each(func(r *shift) string { return r.Interval }), Tone: func(int) display.Tone { return display.Quiet }},
		{Head: "p\n", Cells: aligned(each(func(r *shift) string { return r.P }))},
		{Head: "p after\nHolm", Cells: aligned(each(func(r *shift) string { return r.Holm }))},
		{Head: "difference\n", Left: true, Cells: each(func(r *shift) string { return r.Verdict })},
	}
}

// sentence is a test on one line, for where there is no room for a table:
// "procs=6: +538 ms (95%: +510 to +560), p = 0.002, Holm 0.006".
func (t *shifts) sentence(r *shift) string {
	equals := func(p string) string {
		if strings.HasPrefix(p, "<") {
			return "p < " + p[1:]
		}
		return "p = " + p
	}
	unit := ""
	if t.Unit != "" {
		unit = " " + t.Unit
	}
	return fmt.Sprintf("%s: %s%s (95%%: %s), %s, Holm %s, %s", r.Name, r.Shift, unit, r.Interval, equals(r.P), r.Holm, r.Verdict)
}

// shifts writes the tests, or why there are none.
func (t terminal) shifts(s *analysis.Summary) string {
	var b strings.Builder
	for _, table := range newShifts(s) {
		b.WriteString("\n" + t.Line(table.Head(), display.Strong))
		if cols := table.columns(); t.Fits(cols) {
			b.WriteString(t.Table(cols))
			continue
		}
		for i := range table.Rows {
			b.WriteString("  " + strings.TrimLeft(t.Wrap(table.sentence(&table.Rows[i]), "    "), " ") + "\n")
		}
	}
	if text := untested(s); text != "" {
		b.WriteString("\n" + t.Line(text, display.Normal))
	}
	return b.String()
}

// markdownShifts writes the tests as tables.
func markdownShifts(s *analysis.Summary) string {
	var b strings.Builder
	for _, table := range newShifts(s) {
		b.WriteString("\n" + display.Escaped(table.Head()) + ":\n\n" + display.MarkdownTable(table.columns()))
	}
	if text := untested(s); text != "" {
		b.WriteString("\n" + text + "\n")
	}
	return b.String()
}
