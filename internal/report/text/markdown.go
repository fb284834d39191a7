package text

import (
	"io"
	"strings"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/report"
)

// Markdown writes blocks for an issue, a pull request or a page of notes.
func Markdown(w io.Writer, blocks []report.Block) error {
	return write(w, blocks, markdown{}, true)
}

type markdown struct{}

func (markdown) headline(h report.Headline) string {
	text := "**" + display.Escaped(h.Answer) + "**\n"
	if h.More != "" {
		text += "\n" + display.Escaped(h.More) + "\n"
	}
	return text
}

func (markdown) paragraph(p report.Paragraph) string {
	if p.Tone == display.Strong {
		return "### " + display.Escaped(p.Text) + "\n"
	}
	return display.Escaped(p.Text) + "\n"
}

func (markdown) list(l report.List) string {
	var b strings.Builder
	for _, one := range l {
		b.WriteString("- ")
		if one.Name != "" {
			b.WriteString("**" + display.Escaped(one.Name) + "**")
		}
		if one.Name != "" && one.Text != "" {
			b.WriteString(" – ")
		}
		b.WriteString(display.Escaped(one.Text) + "\n")
	}
	return b.String()
}

func (markdown) facts(f report.Facts) string {
	var b strings.Builder
	b.WriteString("**" + display.Escaped(strings.TrimSpace(f.Mark+" "+f.Title)) + "**\n\n")
	for i, one := range f.Facts {
		switch text := display.Escaped(strings.Join(strings.Fields(one.Text), " ")); {
		case one.Name != "":
			b.WriteString("- " + display.Escaped(one.Name) + ": " + text)
		default: // goes on with the fact before it
			b.WriteString("; " + text)
		}
		if i == len(f.Facts)-1 || f.Facts[i+1].Name != "" {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func (markdown) table(t report.Table) string {
	var cols []display.Column
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Rank == report.PageOnly {
			continue
		}
		col := display.Column{Head: c.Head + " " + c.Unit, Left: !figure(c)}
		for _, one := range c.Cells {
			text := one.Text
			if one.Note != "" && c.NotesRank < report.PageOnly {
				text += " (" + one.Note + ")"
			}
			col.Cells = append(col.Cells, text)
		}
		cols = append(cols, col)
	}
	text := display.MarkdownTable(cols)
	if t.Title != "" {
		text = "### " + display.Escaped(t.Title) + "\n\n" + text
	}
	return text
}
