package report

import (
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/millicore/millicore/internal/analysis"
)

// TableOptions say what the terminal can show.
type TableOptions struct {
	Colour bool // use the terminal's own colours; else plain text
	Width  int  // columns; 0: no limit
}

// Table writes the report for the terminal: the headline, what was run, a table
// with a line for each cell, and the warnings. In a terminal too narrow for the
// table each cell gets a few lines of its own, so that nothing is cut.
func Table(w io.Writer, s *analysis.Summary, o TableOptions) error {
	t := terminal{o}
	var b strings.Builder
	h := headlineOf(s)
	b.WriteString(t.paint(t.wrap(h.first(), ""), lipgloss.NewStyle().Bold(true)) + "\n")
	if len(h.more) > 0 {
		b.WriteString(t.wrap(strings.Join(h.more, " "), "") + "\n")
	}
	b.WriteString("\n")
	for _, facts := range [][]string{runFacts(s), setupFacts(s)} {
		if len(facts) > 0 {
			b.WriteString(t.paint(t.wrap(strings.Join(facts, " · "), ""), lipgloss.NewStyle().Faint(true)) + "\n")
		}
	}
	if len(s.Cells) > 0 {
		b.WriteString("\n" + t.cells(s))
	}
	if levels, rows := levelColumns(s, false); rows > 0 {
		b.WriteString("\n" + t.levels(levels, rows))
	}
	b.WriteString(t.notes(s))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the table of %q: %w", s.Experiment.Name, err)
	}
	return nil
}

// terminal knows what can be shown.
type terminal struct{ TableOptions }

// gap stands between columns.
const gap = 2

// cells writes the table, with the flags if there is room for them, or the
// cells one after another.
func (t terminal) cells(s *analysis.Summary) string {
	cols := columns(s)
	if withFlags := append(cols[:len(cols):len(cols)], flagsColumn(s)); len(flags(s)) > 0 && t.fits(withFlags) {
		return t.table(withFlags, len(s.Cells))
	}
	if t.fits(cols) {
		return t.table(cols, len(s.Cells))
	}
	return t.blocks(s)
}

// manyLevels is how many lines of levels a terminal is given: more are better
// read elsewhere.
const manyLevels = 48

// levels writes what staged loads held.
func (t terminal) levels(cols []column, rows int) string {
	if rows > manyLevels || !t.fits(cols) {
		return t.wrap("The levels held are in report.html and summary.json.", "") + "\n"
	}
	return t.table(cols, rows)
}

// fits reports whether the columns fit into the terminal.
func (t terminal) fits(cols []column) bool {
	all := 0
	for _, c := range cols {
		widest := 0
		for _, text := range append(strings.Split(c.head, "\n"), c.cells...) {
			widest = max(widest, width(text))
		}
		all += widest + gap
	}
	return t.Width <= 0 || all-gap <= t.Width
}

// table writes the columns with their two lines of header. The header's lines
// are rows like the others: lipgloss cuts headers that have several lines.
func (t terminal) table(cols []column, rows int) string {
	const headLines = 2
	grid := table.New().
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderColumn(false).BorderRow(false).BorderHeader(false).Wrap(false).
		StyleFunc(func(row, col int) lipgloss.Style {
			style := lipgloss.NewStyle()
			if col < len(cols)-1 {
				style = style.PaddingRight(gap)
			}
			if !cols[col].left {
				style = style.Align(lipgloss.Right)
			}
			if row < headLines {
				return t.style(style, quiet)
			}
			if of := cols[col].tone; of != nil {
				return t.style(style, of(row-headLines))
			}
			return style
		})
	for line := range headLines {
		head := make([]string, len(cols))
		for i, c := range cols {
			head[i] = strings.Split(c.head, "\n")[line]
		}
		grid.Row(head...)
	}
	for r := range rows {
		row := make([]string, len(cols))
		for i, c := range cols {
			row[i] = c.cells[r]
		}
		grid.Row(row...)
	}
	return trimLines(grid.Render()) + "\n"
}

// blocks writes each cell as a few lines.
func (t terminal) blocks(s *analysis.Summary) string {
	var b strings.Builder
	for i := range s.Cells {
		c := &s.Cells[i]
		b.WriteString(t.paint(plain(c.Label), lipgloss.NewStyle().Bold(true)) + "\n")
		for _, line := range blockLines(c) {
			b.WriteString(t.wrap(line, "  ") + "\n")
		}
	}
	return b.String()
}

// blockLines are a cell's figures as words: traffic and latency, then the
// service's own use.
func blockLines(c *analysis.CellSummary) []string {
	latency := "latency " + absent
	if q := c.LatencyMS; q != nil {
		latency = "p50 " + milliseconds(q.P50) + ", p99 " + milliseconds(q.P99)
		switch low, high, what := spread(c); what {
		case interval:
			latency += fmt.Sprintf(" (95%% interval %s–%s)", figure(low), figure(high))
		case ranged:
			latency += fmt.Sprintf(" (range of the trials %s–%s)", figure(low), figure(high))
		}
	}
	lines := []string{
		maybe(c.RateRPS, figure) + " requests/s, " + latency + ", " + maybe(c.Availability, percent) + " available",
		"CPU " + maybe(c.CPU.OfLimit, share) + " of the limit, throttled " + throttledText(c) +
			", memory peak " + maybe(c.Memory.PeakBytes, func(v int64) string { return size(float64(v)) }),
	}
	if c.Objective != nil {
		lines = append(lines, "objective "+plain(c.Objective.Text)+": "+objectiveWord(c))
	}
	return lines
}

// throttledText writes "29 of 32 periods (91%)".
func throttledText(c *analysis.CellSummary) string {
	part := throttledShare(c)
	if part == nil {
		return absent
	}
	return fmt.Sprintf("%s of %s periods (%s)", grouped(*c.CPU.ThrottledPeriods), grouped(*c.CPU.Periods), share(*part))
}

// notes are the levels of staged loads, the findings and the flags, in words.
func (t terminal) notes(s *analysis.Summary) string {
	names := cellNames(s)
	var b strings.Builder
	for _, f := range findings(s, names) {
		look := normal
		if f.Warning {
			look = warning
		}
		b.WriteString(t.note(look, f.sentence()))
	}
	for _, f := range flags(s) {
		text := plain(f.Word) + " (" + f.who(names) + ")"
		if f.Text != "" {
			text += ": " + f.Text
		}
		b.WriteString(t.note(warning, text))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

// note is a line with a hanging indent under its mark.
func (t terminal) note(look tone, text string) string {
	mark := "·"
	if look == warning {
		mark = "!"
	}
	wrapped := strings.TrimPrefix(t.wrap(text, "  "), "  ")
	return t.paint(mark, t.style(lipgloss.NewStyle(), look)) + " " + wrapped + "\n"
}

// wrap breaks a text at the terminal's width, each line after an indent.
func (t terminal) wrap(text, indent string) string {
	if t.Width > 0 {
		text = lipgloss.Wrap(text, max(20, t.Width-len(indent)), " ")
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = indent + strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// style adds a tone's colour, from the terminal's own sixteen: they fit its
// background, light or dark.
func (t terminal) style(base lipgloss.Style, look tone) lipgloss.Style {
	if !t.Colour {
		return base
	}
	switch look {
	case quiet:
		return base.Faint(true)
	case warning:
		return base.Foreground(lipgloss.Yellow)
	case bad:
		return base.Foreground(lipgloss.Red)
	}
	return base
}

// paint renders lines in a style, or leaves them plain.
func (t terminal) paint(text string, style lipgloss.Style) string {
	if !t.Colour {
		return text
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = style.Render(lines[i])
	}
	return strings.Join(lines, "\n")
}

// trimLines removes the spaces that pad a table's last column.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
