package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/results"
)

// Table writes the report for the terminal: the headline, what was run, a table
// with a line for each cell, and the warnings. In a terminal too narrow for the
// table each cell gets a few lines of its own, so that nothing is cut.
func Table(w io.Writer, s *analysis.Summary, o display.Terminal) error {
	t := terminal{o}
	var b strings.Builder
	h := narrative.HeadlineOf(s)
	b.WriteString(t.Line(h.First(), display.Strong))
	if len(h.More) > 0 {
		b.WriteString(t.Line(strings.Join(h.More, " "), display.Normal))
	}
	b.WriteString("\n")
	for _, facts := range [][]string{narrative.RunFacts(s), narrative.SetupFacts(s)} {
		if len(facts) > 0 {
			b.WriteString(t.Line(strings.Join(facts, " · "), display.Quiet))
		}
	}
	b.WriteString(t.claims(s))
	if len(s.Cells) > 0 {
		b.WriteString("\n" + t.cells(s))
	}
	if held, rows := levelColumns(s, false); rows > 0 {
		b.WriteString("\n" + t.levels(held, rows))
	}
	b.WriteString(t.sheets(s) + t.explained(s) + t.shifts(s))
	b.WriteString(t.notes(s))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the table of %q: %w", s.Experiment.Name, err)
	}
	return nil
}

// terminal knows what can be shown.
type terminal struct{ display.Terminal }

// cells writes the fullest table that there is room for, or the cells one after
// another.
func (t terminal) cells(s *analysis.Summary) string {
	for _, cols := range layouts(s) {
		if t.Fits(cols) {
			return t.Table(cols)
		}
	}
	return t.blocks(s)
}

// manyLevels is how many lines of levels a terminal is given: more are better
// read elsewhere.
const manyLevels = 48

// levels writes what staged loads held.
func (t terminal) levels(cols []display.Column, rows int) string {
	if rows > manyLevels || !t.Fits(cols) {
		return t.Line("The levels held are in report.html and summary.json.", display.Normal)
	}
	return t.Table(cols)
}

// blocks writes each cell as a few lines.
func (t terminal) blocks(s *analysis.Summary) string {
	var b strings.Builder
	for i := range s.Cells {
		c := &s.Cells[i]
		b.WriteString(t.Paint(display.Plain(c.Label), display.Strong) + "\n")
		for _, line := range blockLines(c) {
			b.WriteString(t.Wrap(line, "  ") + "\n")
		}
	}
	return b.String()
}

// blockLines are a cell's figures as words: traffic and latency, then the
// service's own use.
func blockLines(c *analysis.CellSummary) []string {
	if results.MeasuresItself(c) {
		return benchLines(c)
	}
	latency := "latency " + display.Absent
	if q := c.LatencyMS; q != nil {
		latency = "p50 " + display.WithUnit(q.P50) + ", p99 " + display.WithUnit(q.P99)
		switch low, high, what := analysis.SpreadOfP99(c); what {
		case analysis.IntervalOfTrials:
			latency += fmt.Sprintf(" (95%% interval %s–%s)", display.Figure(low), display.Figure(high))
		case analysis.IntervalOfFrames:
			latency += fmt.Sprintf(" (95%% interval %s–%s in this one trial)", display.Figure(low), display.Figure(high))
		case analysis.RangeOfTrials:
			latency += fmt.Sprintf(" (range of the trials %s–%s)", display.Figure(low), display.Figure(high))
		}
	}
	var lines []string
	if results.Searched(c) {
		lines = append(lines, narrative.BreakLine(c))
	}
	lines = append(lines,
		display.Maybe(c.RateRPS, display.Figure)+" requests/s, "+latency+", "+display.Maybe(c.Availability, display.Percent)+" available",
		"CPU "+display.Maybe(c.CPU.OfLimit, display.Share)+" of the limit, throttled "+throttledText(c)+
			", memory peak "+display.Maybe(c.Memory.PeakBytes, func(v int64) string { return display.Bytes(float64(v)) }),
	)
	if c.Objective != nil && !results.Searched(c) {
		lines = append(lines, "objective "+display.Plain(c.Objective.Text)+": "+narrative.ObjectiveWords(c))
	}
	return lines
}

// throttledText writes "29 of 32 periods (91%)".
func throttledText(c *analysis.CellSummary) string {
	part := results.ThrottledShare(c)
	if part == nil {
		return display.Absent
	}
	return fmt.Sprintf("%s of %s periods (%s)", display.Grouped(*c.CPU.ThrottledPeriods), display.Grouped(*c.CPU.Periods), display.Share(*part))
}

// notes are the levels of staged loads, the findings and the flags, in words.
func (t terminal) notes(s *analysis.Summary) string {
	names := narrative.CellNames(s)
	var b strings.Builder
	for _, f := range narrative.Findings(s, names) {
		look := display.Normal
		if f.Warning {
			look = display.Warning
		}
		b.WriteString(t.note(look, f.Sentence()))
	}
	for _, f := range narrative.Flags(s) {
		text := display.Plain(f.Word) + " (" + f.Who(names) + ")"
		if f.Text != "" {
			text += ": " + f.Text
		}
		b.WriteString(t.note(display.Warning, text))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

// note is a line with a hanging indent under its mark.
func (t terminal) note(look display.Tone, text string) string {
	mark := "·"
	if look == display.Warning {
		mark = "!"
	}
	wrapped := strings.TrimPrefix(t.Wrap(text, "  "), "  ")
	return t.Paint(mark, look) + " " + wrapped + "\n"
}
