package report

import (
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
)

// sheet is a table that a record has only where its experiment has the shape
// for it.
type sheet struct {
	Title string
	Lead  string // what it shows, in a sentence
	Cols  []display.Column
}

// sheets are the record's further tables.
func sheets(s *analysis.Summary) []sheet {
	var all []sheet
	for _, of := range []func(*analysis.Summary) (sheet, bool){distributions, runs, dependencies} {
		if one, ok := of(s); ok {
			all = append(all, one)
		}
	}
	return all
}

// row adds a line of texts.
func (t *sheet) row(texts ...string) {
	for i, text := range texts {
		t.Cols[i].Cells = append(t.Cols[i].Cells, text)
	}
}

// newSheet begins a table: first columns that name the cell, then figures.
func newSheet(title, lead string, words, figures []string) sheet {
	t := sheet{Title: title, Lead: lead}
	for _, head := range words {
		t.Cols = append(t.Cols, display.Column{Head: head, Left: true})
	}
	for _, head := range figures {
		t.Cols = append(t.Cols, display.Column{Head: head})
	}
	return t
}

// align leaves out the columns that hold nothing, and sets the decimal points of
// figures under one another. It reports whether anything is left.
func (t *sheet) align() bool {
	t.Cols = slices.DeleteFunc(t.Cols, func(c display.Column) bool {
		return !slices.ContainsFunc(c.Cells, func(text string) bool { return text != display.Absent })
	})
	for i := range t.Cols {
		if !t.Cols[i].Left {
			t.Cols[i].Cells = aligned(t.Cols[i].Cells)
		}
	}
	return len(t.Cols) > 0
}

// distributions are made where a load ends by a number of requests, as hey and
// its like have it: one line a cell, with the whole distribution.
func distributions(s *analysis.Summary) (sheet, bool) {
	if !slices.ContainsFunc(s.Cells, func(c analysis.CellSummary) bool { return c.Load.Requests != nil && c.LatencyMS != nil }) {
		return sheet{}, false
	}
	t := newSheet("Distribution of latency", "All trials of a cell together, from when each request was due.",
		[]string{"cell\n"}, []string{"requests\n/s", "mean\nms", "lowest\nms", "p50\nms", "p90\nms", "p95\nms", "p99\nms", "highest\nms"})
	for i, name := range narrative.CellNames(s) {
		c := &s.Cells[i]
		mean := display.Absent
		if c.LatencyMS != nil {
			mean = display.MeanMilliseconds(c.LatencyMS.Mean, c.LatencyMS.Beyond)
		}
		texts := []string{name, display.Maybe(c.RateRPS, display.Figure), mean}
		for _, of := range []func(*analysis.Quantiles) float64{
			func(q *analysis.Quantiles) float64 { return q.Min },
			func(q *analysis.Quantiles) float64 { return q.P50 }, func(q *analysis.Quantiles) float64 { return q.P90 },
			func(q *analysis.Quantiles) float64 { return q.P95 }, func(q *analysis.Quantiles) float64 { return q.P99 },
			func(q *analysis.Quantiles) float64 { return q.Max },
		} {
			text := display.Absent
			if c.LatencyMS != nil {
				text = display.Milliseconds(of(c.LatencyMS))
			}
			texts = append(texts, text)
		}
		t.row(texts...)
	}
	return t, t.align()
}

// runs are made where a service stays up between its trials: one line a trial,
// since what one run leaves behind is what the next one meets.
func runs(s *analysis.Summary) (sheet, bool) {
	if !s.Experiment.Kept {
		return sheet{}, false
	}
	t := newSheet("Run by run", "Each service stayed up between its runs. CPU is that of the busiest interval, memory the highest of the run.",
		[]string{"cell\n"}, []string{"run\n", "good\nanswers", "p95\nms", "lowest\nms", "highest\nms", "CPU, most\ncores", "memory\npeak MiB"})
	for i, name := range narrative.CellNames(s) {
		trials := slices.SortedFunc(slices.Values(s.Cells[i].PerTrial), func(a, b analysis.TrialFigures) int { return a.Trial - b.Trial })
		for n := range trials {
			one := &trials[n]
			t.row(name, display.Grouped(int64(n+1)), display.Maybe(one.Good, func(v float64) string { return display.Grouped(int64(v)) }),
				display.Maybe(one.P95, display.Figure), display.Maybe(one.Min, display.Figure), display.Maybe(one.Max, display.Figure),
				display.Maybe(one.CPUMax, display.Figure), display.Maybe(one.MemoryPeak, func(v float64) string { return display.Figure(display.Mebibytes(int64(v))) }))
		}
	}
	return t, t.align()
}

// dependencies are made where services have any: what each used, and how long
// its service waited.
func dependencies(s *analysis.Summary) (sheet, bool) {
	t := newSheet("Dependencies", "What they used, and how long their services say that they waited, interpolated in the buckets of the services’ own histograms.",
		[]string{"cell\n", "dependency\n"}, []string{"CPU\ncores", "memory\npeak MiB", "throttled\nof periods", "wait p50\nms", "wait p99\nms", "wait mean\nms"})
	for i, name := range narrative.CellNames(s) {
		c := &s.Cells[i]
		waits := make([]string, 3)
		for k := range waits {
			waits[k] = display.Absent
		}
		if w := c.WaitsMS; w != nil {
			waits = []string{display.Maybe(w.P50, display.Figure), display.Maybe(w.P99, display.Figure), display.Figure(w.Mean)}
		}
		for k := range c.Dependencies {
			d := &c.Dependencies[k]
			t.row(append([]string{name, display.Plain(d.Name), display.Maybe(d.Cores, display.Figure),
				display.Maybe(d.PeakBytes, func(v int64) string { return display.Figure(display.Mebibytes(v)) }), display.Maybe(over(d.ThrottledPeriods, d.Periods), display.Share)}, waits...)...)
		}
		if len(c.Dependencies) == 0 && c.WaitsMS != nil { // behind a url: nothing else is seen of it
			t.row(append([]string{name, display.Absent, display.Absent, display.Absent, display.Absent}, waits...)...)
		}
	}
	return t, t.align()
}

// sheets writes them for the terminal, each that there is room for.
func (t terminal) sheets(s *analysis.Summary) string {
	var b strings.Builder
	for _, one := range sheets(s) {
		b.WriteString("\n" + t.Paint(one.Title, display.Strong) + "\n")
		if len(one.Cols[0].Cells) > manyLevels || !t.Fits(one.Cols) {
			b.WriteString(t.Line("It is in report.html and summary.json.", display.Normal))
			continue
		}
		b.WriteString(t.Table(one.Cols))
	}
	return b.String()
}

func markdownSheets(s *analysis.Summary) string {
	var b strings.Builder
	for _, one := range sheets(s) {
		b.WriteString("\n" + display.Escaped(one.Title) + ":\n\n" + display.MarkdownTable(one.Cols))
	}
	return b.String()
}

// Heads are the columns' heads for the page: a word, and what stands under it.
func (t sheet) Heads() []sheetHead {
	var all []sheetHead
	for _, c := range t.Cols {
		word, under, _ := strings.Cut(c.Head, "\n")
		all = append(all, sheetHead{word, under, c.Left})
	}
	return all
}

type sheetHead struct {
	Word, Under string
	Left        bool
}

// Rows are the lines for the page.
func (t sheet) Rows() [][]sheetField {
	var all [][]sheetField
	for r := range t.Cols[0].Cells {
		var line []sheetField
		for _, c := range t.Cols {
			line = append(line, sheetField{strings.TrimSpace(c.Cells[r]), c.Left})
		}
		all = append(all, line)
	}
	return all
}

type sheetField struct {
	Text string
	Left bool
}
