package display

import (
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
)

// Column is one column of a table. All columns of a table have as many cells.
type Column struct {
	Head  string // may have several lines
	Left  bool   // words stand left, figures right
	Cells []string
	Tone  func(row int) Tone // nil: Normal
}

// gap stands between columns.
const gap = 2

// Fits reports whether a table of these columns fits into the terminal.
func (t Terminal) Fits(cols []Column) bool {
	all := 0
	for _, c := range cols {
		widest := Width(c.Head)
		for _, text := range c.Cells {
			widest = max(widest, Width(text))
		}
		all += widest + gap
	}
	return t.Width <= 0 || all-gap <= t.Width
}

// Table writes the columns under their heads, a line a row. The head's lines are
// rows like the others: lipgloss cuts headers that have several lines.
func (t Terminal) Table(cols []Column) string {
	heads := headLines(cols)
	grid := table.New().
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderColumn(false).BorderRow(false).BorderHeader(false).Wrap(false).
		StyleFunc(func(row, col int) lipgloss.Style {
			style := lipgloss.NewStyle()
			if col < len(cols)-1 {
				style = style.PaddingRight(gap)
			}
			if !cols[col].Left {
				style = style.Align(lipgloss.Right)
			}
			if row < len(heads) {
				return t.style(style, Quiet)
			}
			if of := cols[col].Tone; of != nil {
				return t.style(style, of(row-len(heads)))
			}
			return style
		})
	for _, line := range heads {
		grid.Row(line...)
	}
	for r := range rowsOf(cols) {
		row := make([]string, len(cols))
		for i, c := range cols {
			row[i] = c.Cells[r]
		}
		grid.Row(row...)
	}
	return trimLines(grid.Render()) + "\n"
}

// headLines are the heads line by line; a head with fewer lines than another
// has empty ones below.
func headLines(cols []Column) [][]string {
	count := 0
	for _, c := range cols {
		count = max(count, strings.Count(c.Head, "\n")+1)
	}
	lines := make([][]string, count)
	for i := range lines {
		lines[i] = make([]string, len(cols))
	}
	for k, c := range cols {
		for i, text := range strings.Split(c.Head, "\n") {
			lines[i][k] = text
		}
	}
	return lines
}

// rowsOf is how many rows the columns hold.
func rowsOf(cols []Column) int {
	if len(cols) == 0 {
		return 0
	}
	return len(cols[0].Cells)
}

// trimLines removes the spaces that pad a table's last column.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// MarkdownTable writes the columns as a table of Markdown, with all text
// escaped. Spaces that align figures on a terminal are left out.
func MarkdownTable(cols []Column) string {
	var b strings.Builder
	line := func(of func(*Column) string) {
		b.WriteByte('|')
		for i := range cols {
			b.WriteString(" " + of(&cols[i]) + " |")
		}
		b.WriteByte('\n')
	}
	bare := func(text string) string { return Escaped(strings.Join(strings.Fields(text), " ")) }
	line(func(c *Column) string { return bare(c.Head) })
	line(func(c *Column) string {
		if c.Left {
			return "---"
		}
		return "---:"
	})
	for r := range rowsOf(cols) {
		line(func(c *Column) string { return bare(c.Cells[r]) })
	}
	return b.String()
}
