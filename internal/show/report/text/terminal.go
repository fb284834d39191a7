package text

import (
	"io"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/report"
)

// Terminal writes blocks for a terminal. No line is wider than it, and no figure is
// cut: a table that does not fit leaves out the columns that matter least and names
// them; if even the others do not fit, its rows stand below one another.
func Terminal(w io.Writer, blocks []report.Block, t display.Terminal) error {
	return write(w, blocks, terminal{t}, false)
}

type terminal struct{ display.Terminal }

func (t terminal) headline(h report.Headline) string {
	text := t.Line(h.Answer, display.Strong)
	for _, line := range h.Lines {
		text += t.Line(line, display.Normal)
	}
	for _, caveat := range h.Caveats {
		text += t.hanging(marks[display.Warning]+" ", display.Warning, caveat)
	}
	return text
}

func (t terminal) paragraph(p report.Paragraph) string { return t.Line(p.Text, p.Tone) }

func (t terminal) list(l report.List) string {
	var b strings.Builder
	for _, one := range l {
		text := one.Text
		if one.Name != "" && text != "" {
			text = one.Name + " – " + text
		} else if text == "" {
			text = one.Name
		}
		if one.Bare || one.Tone == display.Quiet {
			b.WriteString(t.Line(text, one.Tone))
			continue
		}
		b.WriteString(t.hanging(marks[one.Tone]+" ", one.Tone, text))
	}
	return b.String()
}

// marks stand before the items of a list.
var marks = map[display.Tone]string{display.Normal: "·", display.Strong: "·", display.Good: "✓", display.Warning: "!", display.Bad: "✗"}

// factRoom is the room for the name of a fact.
const factRoom = 16

func (t terminal) facts(f report.Facts) string {
	var b strings.Builder
	b.WriteString(t.Line(f.Title, display.Strong))
	for _, one := range f.Facts {
		b.WriteString(t.fact(one.Name, one.Text))
	}
	return b.String()
}

func (t terminal) fact(name, text string) string {
	head := "  " + name
	return t.hanging(head+strings.Repeat(" ", max(1, factRoom-display.Width(head))), display.Quiet, text)
}

// claims stand below one another: their words need the whole width.
func (t terminal) claims(c report.Claims) string {
	var b strings.Builder
	b.WriteString(t.Line(c.Title, display.Strong))
	for i := range c.All {
		one := &c.All[i]
		mark, tone := one.Mark()
		b.WriteString("\n" + t.hanging(mark+" ", tone, one.Says))
		if one.Published != "" {
			b.WriteString(t.fact("claimed", one.Published))
		}
		b.WriteString(t.fact("measured", one.Found()) + t.fact("verdict", one.Verdict.String()+": "+one.Reason))
	}
	return b.String()
}

// hanging writes a text behind a head, all its lines below one another.
func (t terminal) hanging(head string, tone display.Tone, text string) string {
	indent := strings.Repeat(" ", display.Width(head))
	return t.Paint(head, tone) + strings.TrimPrefix(t.Wrap(text, indent), indent) + "\n"
}

func (t terminal) table(table report.Table) string {
	text := ""
	if table.Title != "" {
		text = t.Line(table.Title, display.Strong)
	}
	if table.Most > 0 && table.Rows() > table.Most {
		return text + t.Line("It is in report.html and summary.json.", display.Normal)
	}
	if cols, _ := columns(&table, report.PageOnly); !t.Fits(cols) {
		table.Columns = slices.DeleteFunc(slices.Clone(table.Columns), empty)
	}
	for limit := report.PageOnly; limit > 0; limit-- {
		cols, out := columns(&table, limit)
		if !t.Fits(cols) {
			continue
		}
		text += t.Table(cols)
		if len(out) > 0 {
			text += t.Line("Left out at this width: "+strings.Join(out, ", ")+".", display.Quiet)
		}
		return text
	}
	return text + t.rows(&table)
}

// empty reports whether nothing was measured of a column.
func empty(c report.Column) bool {
	return !slices.ContainsFunc(c.Cells, func(one report.Cell) bool { return one.Text != display.Absent })
}

// columns are those of a table with a rank below a limit, and the heads of those
// that other terminals show too.
func columns(table *report.Table, limit report.Rank) (cols []display.Column, out []string) {
	for i := range table.Columns {
		c := &table.Columns[i]
		if c.Rank >= limit {
			if c.Rank < report.PageOnly && c.Kind != report.Flags { // flags are explained below
				out = append(out, oneLine(c.Head))
			}
			continue
		}
		texts := make([]string, len(c.Cells))
		notes := make([]string, len(c.Cells))
		noted := false
		for k, one := range c.Cells {
			texts[k], notes[k] = one.Text, one.Note
			if c.Kind == report.Group && k > 0 && one.Text == c.Cells[k-1].Text {
				texts[k] = ""
			}
			if noted = noted || one.Note != ""; one.Note == "" {
				notes[k] = display.Absent
			}
		}
		if figure(c) && c.Kind != report.Mixed {
			texts = aligned(texts)
		}
		cols = append(cols, display.Column{Head: strings.TrimSuffix(c.Head+"\n"+c.Unit, "\n"), Left: !figure(c), Cells: texts, Tone: func(row int) display.Tone { return c.Cells[row].Tone }})
		if noted && c.NotesRank < limit {
			cols = append(cols, display.Column{Head: c.Notes, Left: true, Cells: notes, Tone: func(int) display.Tone { return display.Quiet }})
		}
	}
	return cols, out
}

// oneLine is the head of a column in a sentence.
func oneLine(head string) string { return strings.ReplaceAll(head, "\n", " ") }

// rows writes each row as facts.
func (t terminal) rows(table *report.Table) string {
	var b strings.Builder
	for row := range table.Rows() {
		var names []string
		f := report.Facts{}
		for i := range table.Columns {
			c := &table.Columns[i]
			switch {
			case c.Rank == report.PageOnly || c.Cells[row].Text == "":
			case c.Kind == report.Name || c.Kind == report.Group:
				names = append(names, strings.TrimSpace(c.Cells[row].Text+" "+c.Unit))
			case c.Kind == report.Setting:
				names = append(names, c.Head+"="+c.Cells[row].Text)
			case c.Cells[row].Text != display.Absent:
				f.Facts = append(f.Facts, report.Fact{Name: oneLine(c.Head), Text: joined(c, row)})
			}
		}
		f.Title = strings.Join(names, " ")
		b.WriteString(t.facts(f))
	}
	return b.String()
}

// aligned pads figures on the right, so that their decimal points stand below one
// another once the column is set to the right.
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
