package text

import (
	"cmp"
	"io"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/report"
)

// Markdown writes blocks for an issue, a pull request or a page of notes.
func Markdown(w io.Writer, blocks []report.Block) error {
	return write(w, blocks, markdown{}, true)
}

type markdown struct{}

func (markdown) headline(h report.Headline) string {
	text := "**" + display.Escaped(h.Answer) + "**\n"
	for _, line := range h.Lines {
		text += "\n" + display.Escaped(line) + "\n"
	}
	for i, caveat := range h.Caveats {
		if i == 0 {
			text += "\n"
		}
		text += "- " + display.Escaped(caveat) + "\n"
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
	b.WriteString("**" + display.Escaped(f.Title) + "**\n\n")
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

func (markdown) claims(c report.Claims) string {
	cols := make([]display.Column, 5)
	for i, head := range []string{"claim", "claimed", "measured", "verdict", "why"} {
		cols[i] = display.Column{Head: head, Left: true}
	}
	for i := range c.All {
		one := &c.All[i]
		for k, text := range []string{one.Says, cmp.Or(one.Published, display.Absent), one.Found(), one.Verdict.String(), one.Reason} {
			cols[k].Cells = append(cols[k].Cells, text)
		}
	}
	return "### " + display.Escaped(c.Title) + "\n\n" + display.MarkdownTable(cols)
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
