package facts

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/compare"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/report"
	"github.com/millicore/millicore/internal/report/text"
	"github.com/millicore/millicore/internal/results"
)

// statement is a sentence of a report, with the place where it stands.
type statement struct {
	where string
	about *cell // whose fact it is; nil: the record's
	text  string
}

func (s statement) String() string {
	if s.about == nil {
		return s.where + ": " + s.text
	}
	return s.where + " of " + s.about.label() + ": " + s.text
}

// sentences parts a text at its full stops.
func sentences(text string) (all []string) {
	for {
		at := -1
		for i := 0; i+2 < len(text) && at < 0; i++ {
			if text[i] == '.' && text[i+1] == ' ' && text[i+2] >= 'A' && text[i+2] <= 'Z' {
				at = i
			}
		}
		if at < 0 {
			return append(all, text)
		}
		all, text = append(all, text[:at+1]), text[at+2:]
	}
}

// say are all statements about a record.
func say(r *recorded, s *summary.Summary) (all []statement) {
	add := func(where string, about *cell, texts ...string) {
		for _, text := range texts {
			if text != "" {
				all = append(all, statement{where, about, text})
			}
		}
	}
	h := narrative.HeadlineOf(s)
	for _, text := range append([]string{h.Notice, h.Answer}, h.More...) {
		add("headline", nil, sentences(text)...)
	}
	for i := range s.Cells {
		c, of := &s.Cells[i], r.Experiment.Cells[i]
		for _, f := range narrative.Explained(c) {
			add("fact", of, f.Name+": "+f.Text)
		}
		add("tail", of, narrative.CausesLine(c))
		if c.Causes != nil {
			add("basis", of, narrative.TailBasis(c.Causes))
		}
		for _, word := range c.Flags {
			add("flag", of, string(word)+": "+narrative.FlagText(word, c))
		}
	}
	for _, f := range s.Findings {
		var of *cell
		if f.Cell != nil {
			of = r.Experiment.Cells[*f.Cell]
		}
		add("finding", of, f.Title+": "+f.Text)
	}
	add("untested", nil, narrative.Untested(s))
	return append(all, tables(r, s)...)
}

// tables are the figures of the table of cells as statements: "p99: 9.17 ms".
func tables(r *recorded, s *summary.Summary) (all []statement) {
	rep := report.New(s)
	for _, col := range rep.Cells.Columns {
		if col.Kind == report.Picture || col.Kind == report.Flags {
			continue
		}
		for row, one := range col.Cells {
			text := fmt.Sprintf("%s %s: %s", strings.ReplaceAll(col.Head, "\n", " "), col.Unit, one.Text)
			if one.Note != "" && col.Notes != "" {
				text += " [" + strings.ReplaceAll(col.Notes, "\n", " ") + " " + one.Note + "]"
			}
			all = append(all, statement{"table", r.Experiment.Cells[rep.Cells.About[row]], text})
		}
	}
	return all
}

// texts are the whole reports, for a terminal and as Markdown.
func texts(t *testing.T, s *summary.Summary) (terminal, markdown string) {
	t.Helper()
	var a, b bytes.Buffer
	blocks := report.New(s).Blocks()
	if err := text.Terminal(&a, blocks, display.Terminal{}); err != nil {
		t.Fatal(err)
	}
	if err := text.Markdown(&b, blocks); err != nil {
		t.Fatal(err)
	}
	return a.String(), b.String()
}

// comparison are the statements about the difference of two cells of a record.
func comparison(t *testing.T, of results.Results, a, b int) (all []statement) {
	t.Helper()
	side := func(i int) compare.Cell {
		return compare.Cell{Run: &of.Record.Run, Plan: &of.Record.Run.Experiment.Cells[i], Figures: &of.Summary.Cells[i]}
	}
	r, err := compare.Compare([]compare.Match{{A: side(a), B: side(b)}}, true)
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, statement{"compare", nil, r.Answer})
	for i := range r.Pairs[0].Rows {
		all = append(all, statement{"compare", nil, narrative.Difference{Difference: &r.Pairs[0].Rows[i]}.Sentence()})
	}
	return all
}
