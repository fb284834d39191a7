package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/millicore/millicore/internal/analysis"
)

// column is one column of the table of cells, as text for the terminal and for
// Markdown. The unit stands in the header, so the values are bare and align.
type column struct {
	head  string // two lines: what it is, and its unit
	left  bool   // words stand left, figures right
	cells []string
	tone  func(cell int) tone
}

// tone says how a value is set off, where colours are wanted.
type tone int

const (
	normal tone = iota
	quiet       // belongs to the figure beside it
	warning
	bad
)

// columns builds the table of cells. Columns that would be the same "–" for
// every cell are left out, except those that every report is read for.
func columns(s *analysis.Summary) []column {
	cols := nameColumns(s)
	each := func(of func(*analysis.CellSummary) string) []string {
		out := make([]string, len(s.Cells))
		for i := range s.Cells {
			out[i] = of(&s.Cells[i])
		}
		return out
	}
	quantile := func(of func(*analysis.Quantiles) float64) []string {
		return aligned(each(func(c *analysis.CellSummary) string {
			if c.LatencyMS == nil {
				return absent
			}
			return figure(of(c.LatencyMS))
		}))
	}
	head, spreads := spreadColumn(s)
	cols = append(cols,
		column{head: "requests\n/s", cells: aligned(each(func(c *analysis.CellSummary) string { return maybe(c.RateRPS, figure) }))},
		column{head: "p50\nms", cells: quantile(func(q *analysis.Quantiles) float64 { return q.P50 })},
		column{head: "p99\nms", cells: quantile(func(q *analysis.Quantiles) float64 { return q.P99 })},
		column{head: head, left: true, cells: spreads, tone: func(int) tone { return quiet }},
		column{head: "available\n%", tone: func(i int) tone { return availabilityTone(s.Cells[i].Availability) },
			cells: aligned(each(func(c *analysis.CellSummary) string { return strings.TrimSuffix(maybe(c.Availability, percent), "%") }))},
		column{head: "CPU\n% of limit", cells: aligned(each(func(c *analysis.CellSummary) string {
			return strings.TrimSuffix(maybe(c.CPU.OfLimit, share), "%")
		}))},
		column{head: "throttled\nperiods", cells: throttledColumn(s), tone: func(i int) tone { return throttledTone(throttledShare(&s.Cells[i])) }},
		column{head: "memory\npeak MiB", cells: aligned(each(func(c *analysis.CellSummary) string {
			return maybe(c.Memory.PeakBytes, func(b int64) string { return figure(mebibytes(b)) })
		}))},
	)
	if slices.ContainsFunc(s.Cells, func(c analysis.CellSummary) bool { return c.Objective != nil }) {
		cols = append(cols, column{head: "objective\n", left: true, cells: each(objectiveWord),
			tone: func(i int) tone {
				if objectiveWord(&s.Cells[i]) == "missed" {
					return bad
				}
				return normal
			}})
	}
	return cols
}

// nameColumns are the service and each varied setting.
func nameColumns(s *analysis.Summary) []column {
	services := column{head: "service\n", left: true}
	for i := range s.Cells {
		services.cells = append(services.cells, plain(s.Cells[i].Service))
	}
	cols := []column{services}
	for _, name := range axes(s) {
		col := column{head: plain(name) + "\n", left: true}
		for i := range s.Cells {
			value := setting(&s.Cells[i], name)
			if value == "" {
				value = absent
			}
			col.cells = append(col.cells, plain(value))
		}
		cols = append(cols, col)
	}
	return cols
}

// flagsColumn holds the warnings as words.
func flagsColumn(s *analysis.Summary) column {
	col := column{head: "flags\n", left: true, tone: func(int) tone { return warning }}
	for i := range s.Cells {
		col.cells = append(col.cells, plain(strings.Join(s.Cells[i].Flags, " ")))
	}
	return col
}

// spread tells how sure a cell's p99 is: its 95% interval where there is one,
// else the range over its trials; what is said in words which of them it is.
func spread(c *analysis.CellSummary) (low, high float64, what certainty) {
	if ends, ok := c.Intervals["latency_ms.p99"]; ok {
		return ends[0], ends[1], interval
	}
	low, high, n := trialRange(c, func(t *analysis.TrialFigures) *float64 { return t.P99 })
	if n < 2 {
		return 0, 0, unknown
	}
	return low, high, ranged
}

// spreadColumn is the column beside p99. Where some cells have intervals and
// others only a range, the ranges are marked.
func spreadColumn(s *analysis.Summary) (head string, cells []string) {
	intervals, ranges := 0, 0
	for i := range s.Cells {
		low, high, what := spread(&s.Cells[i])
		text := absent
		if what != unknown {
			text = figure(low) + "–" + figure(high)
		}
		switch what {
		case interval:
			intervals++
		case ranged:
			ranges++
			text += "*"
		}
		cells = append(cells, text)
	}
	if intervals > 0 && ranges > 0 {
		return "95% (* range\nof trials)", cells
	}
	for i := range cells {
		cells[i] = strings.TrimSuffix(cells[i], "*")
	}
	if ranges > 0 {
		return "range of\nthe trials", cells
	}
	return "95%\ninterval", cells
}

// throttledColumn writes "29 of 32 (91%)" with the parts under one another.
func throttledColumn(s *analysis.Summary) []string {
	type parts struct{ hit, of, share string }
	rows := make([]parts, len(s.Cells))
	var widest [3]int
	for i := range s.Cells {
		c := &s.Cells[i]
		part := throttledShare(c)
		if part == nil {
			continue
		}
		p := parts{grouped(*c.CPU.ThrottledPeriods), grouped(*c.CPU.Periods), "(" + share(*part) + ")"}
		rows[i] = p
		for n, text := range []string{p.hit, p.of, p.share} {
			widest[n] = max(widest[n], len(text))
		}
	}
	out := make([]string, len(rows))
	for i, p := range rows {
		if p.of == "" {
			out[i] = absent
			continue
		}
		out[i] = fmt.Sprintf("%*s of %*s %*s", widest[0], p.hit, widest[1], p.of, widest[2], p.share)
	}
	return out
}

// levelColumns are the table of the levels that staged loads held: one line a
// level and cell, upwards, so that the cells stand side by side. Unless repeat
// is set, a level's load is written at its first line only.
func levelColumns(s *analysis.Summary, repeat bool) (cols []column, rows int) {
	levels, unit := levelRows(s, cellNames(s))
	each := func(of func(*levelRow) string) []string {
		out := make([]string, len(levels))
		for i := range levels {
			out[i] = of(&levels[i])
		}
		return out
	}
	bare := func(text string) string { return strings.TrimSuffix(text, "%") }
	return []column{
		{head: "load\n" + unit, cells: each(func(r *levelRow) string {
			if r.First || repeat {
				return r.Target
			}
			return ""
		})},
		{head: "cell\n", left: true, cells: each(func(r *levelRow) string { return r.Name })},
		{head: "requests\n/s", cells: aligned(each(func(r *levelRow) string { return r.Rate }))},
		{head: "p50\nms", cells: aligned(each(func(r *levelRow) string { return r.P50 }))},
		{head: "p99\nms", cells: aligned(each(func(r *levelRow) string { return r.P99 }))},
		{head: "available\n%", cells: aligned(each(func(r *levelRow) string { return bare(r.Avail.Figure) })),
			tone: func(i int) tone { return levels[i].tone }},
		{head: "CPU\n% of limit", cells: aligned(each(func(r *levelRow) string { return bare(r.CPU) }))},
		{head: "throttled\n% of periods", cells: aligned(each(func(r *levelRow) string { return bare(r.Thrott) }))},
	}, len(levels)
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

func availabilityTone(v *float64) tone {
	switch {
	case v == nil:
		return normal
	case *v < enoughAnswers:
		return bad
	case *v < 99.9:
		return warning
	}
	return normal
}

func throttledTone(part *float64) tone {
	if part != nil && *part >= 0.25 {
		return warning
	}
	return normal
}

// objectiveWord is "met", "missed", or "–" where it cannot be told.
func objectiveWord(c *analysis.CellSummary) string {
	if c.Objective == nil || c.Objective.Met == nil {
		return absent
	}
	if *c.Objective.Met {
		return "met"
	}
	return "missed"
}

// width is how many columns of a terminal a text takes.
func width(text string) int { return ansi.StringWidth(text) }
