package report

import (
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
)

// searchColumns build the table of cells whose breaking points were searched.
// Latency, CPU and throttling are those of the windows in which the answer was
// tested.
func searchColumns(s *analysis.Summary) []display.Column {
	intervals := each(s, func(c *analysis.CellSummary) string {
		if text := narrative.BreakInterval(c.Breaking); text != "" {
			return text
		}
		return display.Absent
	})
	cols := append(nameColumns(s),
		display.Column{Head: "breaks at\n" + strings.Join(narrative.LoadUnits(s), " or "), Cells: aligned(each(s, narrative.BreaksAt)), Tone: func(i int) display.Tone { return breakTone(&s.Cells[i]) }},
		display.Column{Head: endsHead(s), Left: true, Cells: intervals, Tone: func(int) display.Tone { return display.Quiet }},
		display.Column{Head: "limited by\n", Left: true, Cells: each(s, func(c *analysis.CellSummary) string {
			if c.Breaking == nil || c.Breaking.LimitedBy == "" {
				return display.Absent
			}
			return display.Plain(c.Breaking.LimitedBy)
		})},
		quantileColumn(s, "p50", func(q *analysis.Quantiles) float64 { return q.P50 }),
		quantileColumn(s, "p99", func(q *analysis.Quantiles) float64 { return q.P99 }),
		display.Column{Head: "CPU\nof limit", Cells: each(s, func(c *analysis.CellSummary) string { return display.Maybe(c.CPU.OfLimit, display.Share) })},
	)
	cols = append(cols, shortened(s, []display.Column{throttledColumn(s)})...)
	if slices.ContainsFunc(s.Cells, func(c analysis.CellSummary) bool { return c.Knee != nil }) {
		cols = append(cols, kneeColumn(s))
	}
	return cols
}

// endsHead says what the ends beside breaking points are. Only from six starts on
// are they the 95% interval of a median over starts; those of one search hold for
// its start, and one ramp only says between which two levels it lies.
func endsHead(s *analysis.Summary) string {
	head := ""
	for i := range s.Cells {
		c, one := &s.Cells[i], "95% of\none start"
		switch {
		case narrative.BreakInterval(c.Breaking) == "":
			continue
		case c.Breaking.OverStarts():
			one = "95%\ninterval"
		case c.Breaking.Searches > 1:
			one = "range of\nthe trials"
		case c.Load.Stages:
			one = "between\nlevels"
		}
		if head != "" && head != one {
			return "from\nto" // of several kinds
		}
		head = one
	}
	if head == "" {
		return "from\nto"
	}
	return head
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
			return display.Share(*c.Knee.OfLimit)
		})}
	}
	return display.Column{Head: "knee\n" + strings.Join(narrative.LoadUnits(s), " or "), Cells: aligned(each(s, func(c *analysis.CellSummary) string {
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
