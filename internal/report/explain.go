package report

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
)

// manyExplained is how many cells are explained in a terminal: more are better
// read elsewhere.
const manyExplained = 12

// explained writes the statements about each cell.
func (t terminal) explained(s *analysis.Summary) string {
	names := narrative.CellNames(s)
	var b strings.Builder
	cells, many := 0, profiledCells(s) >= manyProfiled
	for i := range s.Cells {
		c := &s.Cells[i]
		lines := t.facts(narrative.Explained(c))
		if c.Causes != nil {
			lines += t.tail(c.Causes)
		}
		if p := profileOf(c); p != nil {
			lines += t.profile(c, p, many)
		}
		if lines == "" {
			continue
		}
		cells++
		b.WriteString(t.Paint(names[i], display.Strong) + "\n" + lines)
	}
	switch {
	case cells == 0:
		return ""
	case cells > manyExplained:
		return "\n" + t.Line("Why each cell breaks where it does, and what its slow tail is made of, is in report.html and summary.json.", display.Normal)
	}
	return "\n" + b.String()
}

// factName is the room for a fact's name.
const factName = "  none found    "

// facts writes named texts under one another.
func (t terminal) facts(all []narrative.Fact) string {
	var b strings.Builder
	for _, f := range all {
		b.WriteString(t.fact(f.Name, f.Text))
	}
	return b.String()
}

func (t terminal) fact(name, text string) string { return t.hanging(factHead(name), "", text) }

// factHead fills the room for a name.
func factHead(name string) string {
	return "  " + name + strings.Repeat(" ", max(1, len(factName)-2-len(name)))
}

// hanging writes a text behind a head and a figure, all its lines under one
// another; where that leaves too little room, its lines begin under the figure.
func (t terminal) hanging(head, figure, text string) string {
	const least = 24
	if t.Width > 0 && t.Width-display.Width(head+figure) < least {
		figure, text = "", strings.TrimLeft(figure, " ")+text
	}
	indent := strings.Repeat(" ", display.Width(head)+display.Width(figure))
	return t.Paint(head, display.Quiet) + figure + strings.TrimPrefix(t.Wrap(text, indent), indent) + "\n"
}

// tail draws what the slow tail is made of.
func (t terminal) tail(c *analysis.Causes) string {
	all := narrative.Parts(c)
	if len(all) == 0 {
		return ""
	}
	wide := barWidth
	if t.Width > 0 {
		wide = max(10, min(wide, t.Width-len(factName)))
	}
	indent := func(text string) string { return t.Wrap(text, strings.Repeat(" ", len(factName))) + "\n" }
	return t.fact("slow tail", textBar(all, wide)) + indent(barLegend(all)) + indent(narrative.TailBasis(c))
}

// markdownExplained writes the statements about each cell as lists.
func markdownExplained(s *analysis.Summary) string {
	names := narrative.CellNames(s)
	many := profiledCells(s) >= manyProfiled
	var b strings.Builder
	for i := range s.Cells {
		c := &s.Cells[i]
		var lines []string
		for _, f := range narrative.Explained(c) {
			lines = append(lines, markdownFact(f))
		}
		if c.Causes != nil {
			if all := narrative.Parts(c.Causes); len(all) > 0 {
				lines = append(lines, fmt.Sprintf("- slow tail: `%s` %s; %s\n", textBar(all, barWidth), display.Escaped(barLegend(all)), display.Escaped(narrative.TailBasis(c.Causes))))
			}
		}
		if p := profileOf(c); p != nil {
			lines = append(lines, markdownProfile(c, p, many)...)
		}
		if len(lines) > 0 {
			b.WriteString("\n**" + display.Escaped(names[i]) + "**\n\n" + strings.Join(lines, ""))
		}
	}
	return b.String()
}

// markdownFact is an item of a list.
func markdownFact(f narrative.Fact) string {
	return "- " + display.Escaped(f.Name) + ": " + display.Escaped(f.Text) + "\n"
}
