package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/record"
)

// benchmarkLine is a result of the record as analysis takes it.
func benchmarkLine(b *record.Benchmark) analysis.BenchmarkLine {
	l := analysis.BenchmarkLine{Trial: b.Trial, Cell: b.Cell, Name: b.Name, Procs: b.Procs}
	for _, v := range b.Values {
		l.Values = append(l.Values, analysis.BenchmarkValue(v))
	}
	return l
}

// benchmarked reports whether the record is of services that measure themselves:
// there are no requests to speak of then.
func benchmarked(s *analysis.Summary) bool {
	return slices.ContainsFunc(s.Cells, func(c analysis.CellSummary) bool { return measuresItself(&c) })
}

func measuresItself(c *analysis.CellSummary) bool { return c.Load.Kind == "benchmark" }

// benchRow is one figure of one benchmark in one cell, a line of its tables.
type benchRow struct {
	index int // of the cell in the summary
	cell  *analysis.CellSummary
	of    *analysis.BenchmarkSummary // nil: the cell has no result
}

// benchRows gives the lines in the plan's order. A cell without a result has one
// that says so.
func benchRows(s *analysis.Summary) []benchRow {
	var all []benchRow
	for i := range s.Cells {
		c := &s.Cells[i]
		if len(c.Benchmarks) == 0 {
			all = append(all, benchRow{i, c, nil})
		}
		for k := range c.Benchmarks {
			all = append(all, benchRow{i, c, &c.Benchmarks[k]})
		}
	}
	return all
}

// benchUnit is the unit in which a figure reads best, and how many of it one of
// the record's are: 0.0123 sec/op are 12.3 ms/op.
func benchUnit(unit string, typical float64) (times float64, name string) {
	base, per, divided := strings.Cut(unit, "/")
	what, of := "", base
	if at := strings.LastIndexByte(base, '-'); at >= 0 { // p99-sec/op
		what, of = base[:at+1], base[at+1:]
	}
	type step struct {
		least, times float64
		name         string
	}
	var steps []step
	switch of {
	case "sec":
		steps = []step{{1, 1, "s"}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "µs"}, {0, 1e9, "ns"}}
	case "B":
		steps = []step{{1 << 30, 1.0 / (1 << 30), "GiB"}, {1 << 20, 1.0 / (1 << 20), "MiB"}, {1 << 10, 1.0 / (1 << 10), "KiB"}, {0, 1, "B"}}
	}
	times = 1
	for _, s := range steps {
		if size := max(typical, -typical); size >= s.least {
			times, of = s.times, s.name
			break
		}
	}
	name = what + of
	if divided {
		name += "/" + per
	}
	return times, display.Plain(name)
}

// unit is the row's own.
func (r *benchRow) unit() (times float64, name string) { return benchUnit(r.of.Unit, r.of.Median) }

// name is the benchmark's, or "–".
func (r *benchRow) name() string {
	if r.of == nil {
		return display.Absent
	}
	return display.Plain(r.of.Name)
}

// procs is GOMAXPROCS as the benchmark began.
func (r *benchRow) procs() string {
	if r.of == nil {
		return display.Absent
	}
	return maybe(r.of.Procs, func(n int) string { return display.Grouped(int64(n)) })
}

// figure is the median over trials, without its unit.
func (r *benchRow) figure() string {
	if r.of == nil {
		return display.Absent
	}
	times, _ := r.unit()
	return display.Figure(r.of.Median * times)
}

// unitName is the unit of figure and spread.
func (r *benchRow) unitName() string {
	if r.of == nil {
		return ""
	}
	_, name := r.unit()
	return name
}

// ends of the figure, and what they are: the 95% interval of the median, or the
// range of few trials.
func (r *benchRow) ends() (low, high float64, what certainty) {
	switch {
	case r.of == nil || len(r.of.Values) < 2:
		return 0, 0, unknown
	case r.of.Low != nil && r.of.High != nil:
		return *r.of.Low, *r.of.High, interval
	}
	return slices.Min(r.of.Values), slices.Max(r.of.Values), ranged
}

// spread writes the ends: "1.20–1.26"; a range where others are intervals has a
// star.
func (r *benchRow) spread() string {
	low, high, what := r.ends()
	if what == unknown {
		return display.Absent
	}
	times, _ := r.unit()
	return benchFigure(low*times) + "–" + benchFigure(high*times)
}

// benchFigure writes an end, which may be far below the median that the unit was
// chosen for: never 0 for what only comes near.
func benchFigure(v float64) string {
	if v > 0 && v < 0.0005 {
		return "<0.001"
	}
	return display.Figure(v)
}

// benchColumns are the table of benchmarks.
func benchColumns(s *analysis.Summary, flagged bool) []display.Column {
	rows := benchRows(s)
	each := func(of func(*benchRow) string) []string {
		out := make([]string, len(rows))
		for i := range rows {
			out[i] = of(&rows[i])
		}
		return out
	}
	cell := func(col display.Column) display.Column { // from a line a cell to a line a row
		cells, tone := col.Cells, col.Tone
		col.Cells = each(func(r *benchRow) string { return cells[r.index] })
		if tone != nil {
			col.Tone = func(i int) display.Tone { return tone(rows[i].index) }
		}
		return col
	}
	var cols []display.Column
	for _, col := range nameColumns(s) {
		cols = append(cols, cell(col))
	}
	head, spreads := benchSpreads(rows)
	cols = append(cols,
		display.Column{Head: "benchmark\n", Left: true, Cells: each((*benchRow).name)},
		display.Column{Head: "GOMAXPROCS\n", Cells: each((*benchRow).procs)},
		display.Column{Head: "median\n", Cells: aligned(each((*benchRow).figure))},
		display.Column{Head: "unit\n", Left: true, Cells: each((*benchRow).unitName)},
		display.Column{Head: head, Left: true, Cells: spreads, Tone: func(int) display.Tone { return display.Quiet }},
		display.Column{Head: "CPU\n% of limit", Cells: aligned(each(func(r *benchRow) string { return strings.TrimSuffix(maybe(r.cell.CPU.OfLimit, share), "%") }))},
		cell(display.Column{Head: throttledHead, Cells: throttledColumn(s), Tone: func(i int) display.Tone { return throttledTone(throttledShare(&s.Cells[i])) }}),
		display.Column{Head: "memory\npeak MiB", Cells: aligned(each(func(r *benchRow) string {
			return maybe(r.cell.Memory.PeakBytes, func(b int64) string { return display.Figure(mebibytes(b)) })
		}))},
	)
	if flagged && len(flags(s)) > 0 {
		cols = append(cols, cell(flagsColumn(s)))
	}
	return cols
}

// benchSpreads is the column beside the medians.
func benchSpreads(rows []benchRow) (head string, cells []string) {
	surest := unknown
	for i := range rows {
		_, _, what := rows[i].ends()
		surest = max(surest, what)
	}
	head = "95%\ninterval"
	if surest == ranged {
		head = "range of\nthe trials"
	}
	for i := range rows {
		text := rows[i].spread()
		if _, _, what := rows[i].ends(); what == ranged && surest == interval {
			text, head = text+"*", "95% (* range\nof trials)"
		}
		cells = append(cells, text)
	}
	return head, cells
}

// benchLayouts are the tables of a record of benchmarks, the fullest first.
func benchLayouts(s *analysis.Summary) [][]display.Column {
	return [][]display.Column{benchColumns(s, true), benchColumns(s, false)}
}

// benchLines are a cell's figures as words, where there is no room for a table.
func benchLines(c *analysis.CellSummary) []string {
	var lines []string
	for i := range c.Benchmarks {
		r := benchRow{cell: c, of: &c.Benchmarks[i]}
		lines = append(lines, r.sentence())
	}
	if len(lines) == 0 {
		lines = append(lines, "no result")
	}
	return append(lines, "CPU "+maybe(c.CPU.OfLimit, share)+" of the limit, throttled "+throttledText(c)+
		", memory peak "+maybe(c.Memory.PeakBytes, func(v int64) string { return size(float64(v)) }))
}

// sentence is "Sort: 1.23 ms/op (95% interval 1.20–1.26), GOMAXPROCS 2".
func (r *benchRow) sentence() string {
	text := fmt.Sprintf("%s: %s %s", r.name(), r.figure(), r.unitName())
	switch _, _, what := r.ends(); what {
	case interval:
		text += " (95% interval " + r.spread() + ")"
	case ranged:
		text += " (range of the trials " + r.spread() + ")"
	}
	if r.of.Procs != nil {
		text += ", GOMAXPROCS " + r.procs()
	}
	return text
}

// benchmarkOf finds the figure that a field path names in any cell; nil: none.
func benchmarkOf(path string, s *analysis.Summary) *analysis.BenchmarkSummary {
	for i := range s.Cells {
		for k := range s.Cells[i].Benchmarks {
			if b := &s.Cells[i].Benchmarks[k]; b.Path() == path {
				return b
			}
		}
	}
	return nil
}

// readable puts a test of a benchmark into the unit in which its baseline reads
// best, and gives that; others stay as they are, and have no unit here.
func readable(c *analysis.Comparison, s *analysis.Summary) (*analysis.Comparison, string) {
	b := benchmarkOf(c.Metric, s)
	if b == nil {
		return c, ""
	}
	times, unit := benchUnit(b.Unit, c.Base)
	scaled := *c
	for _, v := range []*float64{&scaled.Base, &scaled.Value, &scaled.Shift, &scaled.Low, &scaled.High} {
		*v *= times
	}
	return &scaled, unit
}
