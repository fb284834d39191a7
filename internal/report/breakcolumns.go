package report

import (
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
)

// searchColumns build the table of cells whose breaking points were searched.
// Latency, CPU and throttling are those of the windows in which the answer was
// tested.
func searchColumns(s *analysis.Summary) []display.Column {
	intervals := each(s, func(c *analysis.CellSummary) string {
		if text := breakInterval(c.Breaking); text != "" {
			return text
		}
		return display.Absent
	})
	cols := append(nameColumns(s),
		display.Column{Head: "breaks at\n" + strings.Join(loadUnits(s), " or "), Cells: aligned(each(s, breaksAt)), Tone: func(i int) display.Tone { return breakTone(&s.Cells[i]) }},
		display.Column{Head: "95%\ninterval", Left: true, Cells: intervals, Tone: func(int) display.Tone { return display.Quiet }},
		display.Column{Head: "limited by\n", Left: true, Cells: each(s, func(c *analysis.CellSummary) string {
			if c.Breaking == nil || c.Breaking.LimitedBy == "" {
				return display.Absent
			}
			return display.Plain(c.Breaking.LimitedBy)
		})},
		quantileColumn(s, "p50", func(q *analysis.Quantiles) float64 { return q.P50 }),
		quantileColumn(s, "p99", func(q *analysis.Quantiles) float64 { return q.P99 }),
		display.Column{Head: "CPU\nof limit", Cells: each(s, func(c *analysis.CellSummary) string { return maybe(c.CPU.OfLimit, share) })},
		display.Column{Head: throttledHead, Cells: each(s, func(c *analysis.CellSummary) string { return maybe(throttledShare(c), share) }),
			Tone: func(i int) display.Tone { return throttledTone(throttledShare(&s.Cells[i])) }},
	)
	if slices.ContainsFunc(s.Cells, func(c analysis.CellSummary) bool { return c.Knee != nil }) {
		cols = append(cols, kneeColumn(s))
	}
	return cols
}

// kneeColumn says where latency leaves its floor: in CPU of the limit, or in
// load where a cell has no limit.
func kneeColumn(s *analysis.Summary) display.Column {
	ofLimit := !slices.ContainsFunc(s.Cells, func(c analysis.CellSummary) bool { return c.Knee != nil && c.Knee.OfLimit == nil })
	if ofLimit {
		return display.Column{Head: "knee\nof limit", Cells: each(s, func(c *analysis.CellSummary) string {
			if c.Knee == nil {
				return display.Absent
			}
			return share(*c.Knee.OfLimit)
		})}
	}
	return display.Column{Head: "knee\n" + strings.Join(loadUnits(s), " or "), Cells: aligned(each(s, func(c *analysis.CellSummary) string {
		if c.Knee == nil {
			return display.Absent
		}
		return display.Figure(c.Knee.Load)
	}))}
}

// breakTone sets off a search without an answer, and one with a bound only.
func breakTone(c *analysis.CellSummary) display.Tone {
	switch b := c.Breaking; {
	case b == nil:
		return display.Normal
	case b.Load() == nil:
		return display.Bad
	case b.AtLeast:
		return display.Warning
	}
	return display.Normal
}
