package report

import (
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/results"
)

// levels are the steps at which cells stand side by side: those that a staged
// load held. The loads of a search differ from cell to cell, and have their
// place in a chart.
func levels(c *analysis.CellSummary) []analysis.Step {
	if results.Searched(c) && !c.Load.Stages {
		return nil
	}
	return c.Steps
}

// levelRow is one level of a staged load with each cell's figures at it.
type levelRow struct {
	Target string
	First  bool // the first row of its level
	Span   int  // rows of the level
	Mark   mark
	Name   string
	Rate   string
	P50    string
	P99    string
	P999   string
	Avail  value
	CPU    string
	Thrott string
	tone   display.Tone // of the availability
}

// levelRows puts the cells side by side at each level, upwards.
func levelRows(s *analysis.Summary, names []string) (rows []levelRow, unit string) {
	unit = "requests/s"
	var targets []float64
	for i := range s.Cells {
		if s.Cells[i].Load.Kind == "closed" {
			unit = "users"
		}
		for _, step := range levels(&s.Cells[i]) {
			targets = append(targets, step.Target)
		}
	}
	for _, target := range sortedSet(targets) {
		start := len(rows)
		for i := range s.Cells {
			for _, step := range levels(&s.Cells[i]) {
				if step.Target != target {
					continue
				}
				r := newLevelRow(&step)
				r.First, r.Mark, r.Name = len(rows) == start, markOf(i), names[i]
				rows = append(rows, r)
			}
		}
		rows[start].Span = len(rows) - start
	}
	return rows, unit
}

// newLevelRow writes a step's figures.
func newLevelRow(step *analysis.Step) levelRow {
	r := levelRow{Target: display.Figure(step.Target), Rate: display.Figure(step.RateRPS), P50: display.Absent, P99: display.Absent, P999: display.Absent,
		CPU: display.Maybe(step.CPUOfLimit, display.Share), Thrott: display.Maybe(step.Throttled, display.Share), tone: availabilityTone(step.Availability)}
	r.Avail = value{Figure: display.Maybe(step.Availability, display.Percent), Tone: toneClass(r.tone)}
	if q := step.LatencyMS; q != nil {
		r.P50, r.P99, r.P999 = display.Milliseconds(q.P50), display.Milliseconds(q.P99), display.Milliseconds(q.P999)
	}
	return r
}

// levelColumns are the table of the levels that staged loads held: one line a
// level and cell, upwards, so that the cells stand side by side. Unless repeat
// is set, a level's load is written at its first line only.
func levelColumns(s *analysis.Summary, repeat bool) (cols []display.Column, rows int) {
	held, unit := levelRows(s, narrative.CellNames(s))
	each := func(of func(*levelRow) string) []string {
		out := make([]string, len(held))
		for i := range held {
			out[i] = of(&held[i])
		}
		return out
	}
	bare := func(text string) string { return strings.TrimSuffix(text, "%") }
	return []display.Column{
		{Head: "load\n" + unit, Cells: each(func(r *levelRow) string {
			if r.First || repeat {
				return r.Target
			}
			return ""
		})},
		{Head: "cell\n", Left: true, Cells: each(func(r *levelRow) string { return r.Name })},
		{Head: "requests\n/s", Cells: aligned(each(func(r *levelRow) string { return r.Rate }))},
		{Head: "p50\nms", Cells: aligned(each(func(r *levelRow) string { return r.P50 }))},
		{Head: "p99\nms", Cells: aligned(each(func(r *levelRow) string { return r.P99 }))},
		{Head: "available\n%", Cells: aligned(each(func(r *levelRow) string { return bare(r.Avail.Figure) })),
			Tone: func(i int) display.Tone { return held[i].tone }},
		{Head: "CPU\n% of limit", Cells: aligned(each(func(r *levelRow) string { return bare(r.CPU) }))},
		{Head: "throttled\n% of periods", Cells: aligned(each(func(r *levelRow) string { return bare(r.Thrott) }))},
	}, len(held)
}
