package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/results"
)

// layouts are the tables of cells, the fullest first: a terminal takes the first
// that fits. What a narrower one leaves out stands in the lines below it.
func layouts(s *analysis.Summary) [][]display.Column {
	if results.KindOf(s) == results.Benchmark {
		return benchLayouts(s)
	}
	full := columns(s)
	var tail, words []display.Column
	if slices.ContainsFunc(s.Cells, func(c analysis.CellSummary) bool { return c.Causes != nil }) {
		tail = []display.Column{tailColumn(s)}
	}
	if len(narrative.Flags(s)) > 0 {
		words = []display.Column{flagsColumn(s)}
	}
	all := [][]display.Column{slices.Concat(full, tail, words), slices.Concat(full, tail), slices.Concat(shortened(s, full), tail)}
	if rest := without(full, p999Head+"\nms"); len(rest) < len(full) {
		all = append(all, slices.Concat(rest, tail), slices.Concat(shortened(s, rest), tail))
		full = rest
	}
	return append(all, slices.Concat(full, words), full, shortened(s, full))
}

const p999Head = "p99.9"

// tellsP999 reports whether the table has a column of p99.9: where one parameter
// is varied, as published tables of it do, and every cell saw enough periods.
func tellsP999(s *analysis.Summary) bool {
	if len(narrative.Axes(s)) != 1 {
		return false
	}
	return !slices.ContainsFunc(s.Cells, func(c analysis.CellSummary) bool {
		limited := c.CPU.Periods != nil && c.Limits.CPUMillis != nil
		return !limited || c.Has(analysis.FlagFewPeriods)
	})
}

// without leaves out the column with a head.
func without(cols []display.Column, head string) []display.Column {
	return slices.DeleteFunc(slices.Clone(cols), func(c display.Column) bool { return c.Head == head })
}

// each writes one cell of a column for each cell of the record.
func each(s *analysis.Summary, of func(*analysis.CellSummary) string) []string {
	out := make([]string, len(s.Cells))
	for i := range s.Cells {
		out[i] = of(&s.Cells[i])
	}
	return out
}

// quantileColumn is a quantile of each cell's latency.
func quantileColumn(s *analysis.Summary, name string, of func(*analysis.Quantiles) float64) display.Column {
	return display.Column{Head: name + "\nms", Cells: aligned(each(s, func(c *analysis.CellSummary) string {
		if c.LatencyMS == nil {
			return display.Absent
		}
		return display.Milliseconds(of(c.LatencyMS))
	}))}
}

// columns builds the table of cells. Columns that would be the same "–" for
// every cell are left out, except those that every report is read for.
func columns(s *analysis.Summary) []display.Column {
	if results.KindOf(s) == results.Search {
		return searchColumns(s)
	}
	cols := nameColumns(s)
	head, spreads := spreadColumn(s)
	cols = append(cols,
		display.Column{Head: "requests\n/s", Cells: aligned(each(s, func(c *analysis.CellSummary) string { return display.Maybe(c.RateRPS, display.Figure) }))},
		quantileColumn(s, "p50", func(q *analysis.Quantiles) float64 { return q.P50 }),
		quantileColumn(s, "p99", func(q *analysis.Quantiles) float64 { return q.P99 }),
		display.Column{Head: head, Left: true, Cells: spreads, Tone: func(int) display.Tone { return display.Quiet }},
	)
	if tellsP999(s) {
		cols = append(cols, quantileColumn(s, p999Head, func(q *analysis.Quantiles) float64 { return q.P999 }))
	}
	cols = append(cols,
		display.Column{Head: "available\n%", Tone: func(i int) display.Tone { return availabilityTone(s.Cells[i].Availability) },
			Cells: aligned(each(s, func(c *analysis.CellSummary) string {
				return strings.TrimSuffix(display.Maybe(c.Availability, display.Percent), "%")
			}))},
	)
	cols = append(cols, useColumns(s)...)
	if slices.ContainsFunc(s.Cells, func(c analysis.CellSummary) bool { return c.Objective != nil }) {
		cols = append(cols, display.Column{Head: "objective\n", Left: true, Cells: each(s, narrative.ObjectiveWord),
			Tone: func(i int) display.Tone {
				if narrative.ObjectiveWord(&s.Cells[i]) == "missed" {
					return display.Bad
				}
				return display.Normal
			}})
	}
	return cols
}

// useColumns are what a cell used of its limits, in every table of cells.
func useColumns(s *analysis.Summary) []display.Column {
	return []display.Column{
		{Head: "CPU\n% of limit", Cells: aligned(each(s, func(c *analysis.CellSummary) string {
			return strings.TrimSuffix(display.Maybe(c.CPU.OfLimit, display.Share), "%")
		}))},
		throttledColumn(s),
		{Head: "memory\npeak MiB", Cells: aligned(each(s, func(c *analysis.CellSummary) string {
			return display.Maybe(c.Memory.PeakBytes, func(b int64) string { return display.Figure(display.Mebibytes(b)) })
		}))},
	}
}

// throttledColumn has the share of throttled periods, with their numbers.
func throttledColumn(s *analysis.Summary) display.Column {
	return display.Column{Head: throttledHead, Cells: throttledCells(s),
		Tone: func(i int) display.Tone { return throttledTone(results.ThrottledShare(&s.Cells[i])) }}
}

// nameColumns are the service and each varied setting.
func nameColumns(s *analysis.Summary) []display.Column {
	services := display.Column{Head: "service\n", Left: true}
	for i := range s.Cells {
		services.Cells = append(services.Cells, display.Plain(s.Cells[i].Service))
	}
	cols := []display.Column{services}
	for _, name := range narrative.Axes(s) {
		col := display.Column{Head: display.Plain(name) + "\n", Left: true}
		for i := range s.Cells {
			value := narrative.Setting(&s.Cells[i], name)
			if value == "" {
				value = display.Absent
			}
			col.Cells = append(col.Cells, display.Plain(value))
		}
		cols = append(cols, col)
	}
	return cols
}

// flagsColumn holds the warnings as words.
func flagsColumn(s *analysis.Summary) display.Column {
	col := display.Column{Head: "flags\n", Left: true, Tone: func(int) display.Tone { return display.Warning }}
	for i := range s.Cells {
		col.Cells = append(col.Cells, display.Plain(s.Cells[i].Flags.Join(" ")))
	}
	return col
}

// tailColumn says what the slow tail is mostly made of.
func tailColumn(s *analysis.Summary) display.Column {
	return display.Column{Head: "slow tail\nis mostly", Left: true, Cells: each(s, tailWord), Tone: func(i int) display.Tone { return tailTone(&s.Cells[i]) }}
}

const throttledHead = "throttled\nperiods"

// shortened gives throttling its share only, where there is no room for the
// number of periods.
func shortened(s *analysis.Summary, cols []display.Column) []display.Column {
	out := slices.Clone(cols)
	for i := range out {
		if out[i].Head == throttledHead {
			out[i].Cells = each(s, func(c *analysis.CellSummary) string { return display.Maybe(results.ThrottledShare(c), display.Share) })
		}
	}
	return out
}

// throttledCells writes "29 of 32 (91%)" with the parts under one another.
func throttledCells(s *analysis.Summary) []string {
	type parts struct{ hit, of, share string }
	rows := make([]parts, len(s.Cells))
	var widest [3]int
	for i := range s.Cells {
		c := &s.Cells[i]
		part := results.ThrottledShare(c)
		if part == nil {
			continue
		}
		p := parts{display.Grouped(*c.CPU.ThrottledPeriods), display.Grouped(*c.CPU.Periods), "(" + display.Share(*part) + ")"}
		rows[i] = p
		for n, text := range []string{p.hit, p.of, p.share} {
			widest[n] = max(widest[n], len(text))
		}
	}
	out := make([]string, len(rows))
	for i, p := range rows {
		if p.of == "" {
			out[i] = display.Absent
			continue
		}
		out[i] = fmt.Sprintf("%*s of %*s %*s", widest[0], p.hit, widest[1], p.of, widest[2], p.share)
	}
	return out
}

// aligned pads figures on the right so that their decimal points stand under
// one another once the column is set to the right.
func aligned(cells []string) []string {
	after := func(text string) int {
		if at := strings.IndexByte(text, '.'); at >= 0 {
			return len(text) - at
		}
		return 0
	}
	most := 0
	for _, c := range cells {
		most = max(most, after(c))
	}
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = c + strings.Repeat(" ", most-after(c))
	}
	return out
}

func availabilityTone(v *float64) display.Tone {
	switch {
	case v == nil:
		return display.Normal
	case *v < analysis.EnoughAnswers:
		return display.Bad
	case *v < 99.9:
		return display.Warning
	}
	return display.Normal
}

func throttledTone(part *float64) display.Tone {
	if part != nil && *part >= 0.25 {
		return display.Warning
	}
	return display.Normal
}
