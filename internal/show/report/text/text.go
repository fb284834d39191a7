// Package text writes the blocks of a report for people who read text: for a
// terminal, in the width that it has, and as Markdown. What is shown is decided by
// package report; the page is written by package html.
package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/report"
)

// form is one way to write blocks.
type form interface {
	headline(report.Headline) string
	paragraph(report.Paragraph) string
	list(report.List) string
	facts(report.Facts) string
	claims(report.Claims) string
	table(report.Table) string
}

// write renders the blocks with a blank line between them; in a terminal there is none
// below a heading.
func write(w io.Writer, blocks []report.Block, f form, spaced bool) error {
	for i, b := range blocks {
		text := ""
		switch b := b.(type) {
		case report.Headline:
			text = f.headline(b)
		case report.Paragraph:
			text = f.paragraph(b)
		case report.List:
			text = f.list(b)
		case report.Facts:
			text = f.facts(b)
		case report.Claims:
			text = f.claims(b)
		case report.Table:
			text = f.table(b)
		}
		if i > 0 && (spaced || !heading(blocks[i-1])) {
			text = "\n" + text
		}
		if _, err := io.WriteString(w, text); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	return nil
}

func heading(b report.Block) bool {
	p, ok := b.(report.Paragraph)
	return ok && p.Tone == display.Strong
}

// figure reports whether a column stands right.
func figure(c *report.Column) bool {
	switch c.Kind {
	case report.Figure, report.Main, report.Mixed, report.Group:
		return true
	}
	return false
}

// joined is a figure with its unit and its note: "231 ms (218–241)", "96% of limit".
func joined(c *report.Column, row int) string {
	one := &c.Cells[row]
	text := one.Text
	if figure(c) && c.Unit != "" && strings.ContainsAny(text, "0123456789") {
		if !strings.HasPrefix(c.Unit, "%") {
			text += " "
		}
		text += c.Unit
	}
	if one.Note != "" {
		text += " (" + one.Note + ")"
	}
	return text
}
