package html

import (
	"strings"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/report"
)

// table is a report.Table as the template shows it.
type table struct {
	Label string
	Class string
	Heads []head
	Rows  []tableRow
}

// head is the head of a column; Scale labels the places of its pictures.
type head struct {
	Class, Head string
	Small       []string
	Scale       []string
}

type tableRow struct {
	First  bool // of its group
	Fields []field
}

// field is one field of a row.
type field struct {
	Class   string
	Named   bool // it is the head of the row
	Span    int  // rows of the group that it names
	Mark    *mark
	Figure  string
	Under   string
	Tone    string
	Flags   []string
	Picture *picture
	Tail    []tailPart
}

// kindClasses are the classes of the fields of a kind of column.
var kindClasses = map[report.Kind]string{
	report.Main: "main", report.Word: "word", report.Name: "word", report.Setting: "word setting", report.Flags: "word flags", report.Tail: "word tailcell", report.Picture: "word strip",
}

// newTable lays out a table. The class is that of the HTML table.
func newTable(t report.Table, label, class string) table {
	out := table{Label: label, Class: class, Rows: make([]tableRow, t.Rows())}
	for i := range t.Columns {
		c := &t.Columns[i]
		h := head{Class: kindClasses[c.Kind], Head: c.Head}
		if c.Kind == report.Setting {
			h.Class = "word"
		}
		for _, text := range []string{c.Unit, strings.ReplaceAll(c.Notes, "\n", " ")} {
			if text != "" {
				h.Small = append(h.Small, text)
			}
		}
		if c.Scale.High != "" {
			h.Scale = []string{"0", c.Scale.Mid, c.Scale.High}
		}
		out.Heads = append(out.Heads, h)
		for row := range c.Cells {
			if f, ok := newField(&t, c, row); ok {
				out.Rows[row].First = out.Rows[row].First || c.Kind == report.Group
				out.Rows[row].Fields = append(out.Rows[row].Fields, f)
			}
		}
	}
	return out
}

// newField is the field of a column in a row; false: that of an earlier row spans it.
func newField(t *report.Table, c *report.Column, row int) (field, bool) {
	one := &c.Cells[row]
	f := field{Class: kindClasses[c.Kind], Figure: one.Text, Under: one.Note, Tone: toneClass(one.Tone)}
	switch c.Kind {
	case report.Group:
		if row > 0 && c.Cells[row-1].Text == one.Text {
			return f, false
		}
		f.Named = true
		for f.Span = 1; row+f.Span < len(c.Cells) && c.Cells[row+f.Span].Text == one.Text; {
			f.Span++
		}
	case report.Name:
		f.Named = true
		if t.About != nil {
			m := markOf(t.About[row])
			f.Mark = &m
		}
	case report.Flags:
		f.Flags, f.Figure, f.Tone = one.Flags, "", ""
	case report.Tail:
		f.Tone = ""
		if one.Tail != nil {
			f.Tail = newTailParts(one.Tail)
		}
	case report.Picture:
		f.Class = "strip"
		if t.About != nil {
			f.Class += " " + hueClass(t.About[row])
		}
		if f.Figure = display.Absent; one.Range != nil && c.Scale.Drawn() {
			p := newPicture(one.Range, c.Scale)
			f.Picture, f.Figure = &p, ""
		}
	}
	return f, true
}

func toneClass(t display.Tone) string {
	switch t {
	case display.Warning:
		return "warning"
	case display.Bad:
		return "bad"
	}
	return ""
}
