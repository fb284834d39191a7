package html

import (
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/report"
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
	Flags  []string // the warnings that not all rows have, on a line of their own
}

// field is one field of a row.
type field struct {
	Class   string
	Head    string // of its column, where the fields of a row stand below one another
	Named   bool   // it is the head of the row
	Span    int    // rows of the group that it names
	Mark    *mark
	Figure  string
	Unit    string // where there is no head above it
	Pad     string // spaces behind the figure, see padding
	Under   string
	Tone    string
	Picture *picture
	Tail    []tailPart
}

// kindClasses are the classes of the fields of a kind of column.
var kindClasses = map[report.Kind]string{
	report.Main: "main", report.Word: "word", report.Name: "word", report.Setting: "word setting", report.Tail: "word tailcell", report.Picture: "word strip",
}

// newTable lays out a table. The class is that of the HTML table.
func newTable(t report.Table, label, class string) table {
	out := table{Label: label, Class: class, Rows: make([]tableRow, t.Rows())}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Kind == report.Flags {
			out.flag(c)
			continue
		}
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
		pads := padding(c)
		for row := range c.Cells {
			if f, ok := newField(&t, c, row); ok {
				f.Pad = pads[row]
				out.Rows[row].First = out.Rows[row].First || c.Kind == report.Group
				out.Rows[row].Fields = append(out.Rows[row].Fields, f)
			}
		}
	}
	return out
}

// flag gives the rows their warnings. Those that all of several rows have are only below
// the table.
func (t *table) flag(c *report.Column) {
	for row := range c.Cells {
		for _, text := range c.Cells[row].Flags {
			everywhere := len(c.Cells) > 1 && !slices.ContainsFunc(c.Cells, func(one report.Cell) bool { return !slices.Contains(one.Flags, text) })
			if !everywhere {
				t.Rows[row].Flags = append(t.Rows[row].Flags, text)
			}
		}
	}
}

// numbers reports whether a column has figures in one unit.
func numbers(c *report.Column) bool { return c.Kind == report.Figure || c.Kind == report.Main }

// padding are the spaces behind the figures of a column, as wide as digits and points,
// so that the decimal points stand below one another.
func padding(c *report.Column) []string {
	pads := make([]string, len(c.Cells))
	if !numbers(c) {
		return pads
	}
	decimals, most := make([]int, len(c.Cells)), 0
	for row, one := range c.Cells {
		if at := strings.IndexByte(one.Text, '.'); at >= 0 {
			decimals[row] = len(one.Text) - at
		}
		most = max(most, decimals[row])
	}
	for row, n := range decimals {
		switch {
		case most == 0:
		case n == 0:
			pads[row] = "\u2008" + strings.Repeat("\u2007", most-1)
		default:
			pads[row] = strings.Repeat("\u2007", most-n)
		}
	}
	return pads
}

// newField is the field of a column in a row; false: that of an earlier row spans it.
func newField(t *report.Table, c *report.Column, row int) (field, bool) {
	one := &c.Cells[row]
	f := field{Class: kindClasses[c.Kind], Head: strings.Join(strings.Fields(c.Head+" "+c.Unit), " "), Figure: one.Text, Under: one.Note, Tone: toneClass(one.Tone)}
	if numbers(c) {
		f.Head = strings.Join(strings.Fields(c.Head), " ")
		if one.Text != display.Absent {
			f.Unit = c.Unit
		}
	}
	if c.Early {
		f.Class = strings.TrimSpace(f.Class + " early")
	}
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
		if unbroken(one.Text) != one.Text {
			f.Class += " option"
		}
		if t.About != nil {
			m := markOf(t.About[row])
			f.Mark = &m
		}
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
