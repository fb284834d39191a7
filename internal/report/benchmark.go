package report

import (
	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
)

// benchColumns are the table of benchmarks.
func benchColumns(s *analysis.Summary, flagged bool) []display.Column {
	rows := narrative.BenchRows(s)
	each := func(of func(*narrative.BenchRow) string) []string {
		out := make([]string, len(rows))
		for i := range rows {
			out[i] = of(&rows[i])
		}
		return out
	}
	cell := func(col display.Column) display.Column { // from a line a cell to a line a row
		cells, tone := col.Cells, col.Tone
		col.Cells = each(func(r *narrative.BenchRow) string { return cells[r.Index] })
		if tone != nil {
			col.Tone = func(i int) display.Tone { return tone(rows[i].Index) }
		}
		return col
	}
	var cols []display.Column
	for _, col := range nameColumns(s) {
		cols = append(cols, cell(col))
	}
	head, spreads := benchSpreads(rows)
	cols = append(cols,
		display.Column{Head: "benchmark\n", Left: true, Cells: each((*narrative.BenchRow).Name)},
		display.Column{Head: "GOMAXPROCS\n", Cells: each((*narrative.BenchRow).Procs)},
		display.Column{Head: "median\n", Cells: aligned(each((*narrative.BenchRow).Figure))},
		display.Column{Head: "unit\n", Left: true, Cells: each((*narrative.BenchRow).UnitName)},
		display.Column{Head: head, Left: true, Cells: spreads, Tone: func(int) display.Tone { return display.Quiet }},
	)
	for _, col := range useColumns(s) {
		cols = append(cols, cell(col))
	}
	if flagged && len(narrative.Flags(s)) > 0 {
		cols = append(cols, cell(flagsColumn(s)))
	}
	return cols
}

// benchSpreads is the column beside the medians.
func benchSpreads(rows []narrative.BenchRow) (head string, cells []string) {
	surest := analysis.NoEnds
	for i := range rows {
		_, _, what := rows[i].Ends()
		surest = max(surest, what)
	}
	head = "95%\ninterval"
	if surest == analysis.RangeOfTrials {
		head = "range of\nthe trials"
	}
	for i := range rows {
		text := rows[i].Spread()
		if _, _, what := rows[i].Ends(); what == analysis.RangeOfTrials && surest == analysis.IntervalOfTrials {
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
		r := narrative.BenchRow{Cell: c, Of: &c.Benchmarks[i]}
		lines = append(lines, r.Sentence())
	}
	if len(lines) == 0 {
		lines = append(lines, "no result")
	}
	return append(lines, "CPU "+display.Maybe(c.CPU.OfLimit, display.Share)+" of the limit, throttled "+throttledText(c)+
		", memory peak "+display.Maybe(c.Memory.PeakBytes, func(v int64) string { return display.Bytes(float64(v)) }))
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
	times, unit := narrative.BenchUnit(b.Unit, c.Base)
	scaled := *c
	for _, v := range []*float64{&scaled.Base, &scaled.Value, &scaled.Shift, &scaled.Low, &scaled.High} {
		*v *= times
	}
	return &scaled, unit
}
