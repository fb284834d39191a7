package html

import (
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/narrative"
	"github.com/millicore/millicore/internal/show/report"
)

// page is what the template shows: the report, the pictures of the slow tail, and
// which parts and explanations belong to this record.
type page struct {
	*report.Report
	Names      []string
	Sizing     *sizing // nil: breaking points under one limit only
	Notes      []notes
	Tails      []tailRow
	TailKeys   []tailKey
	Slowest    []slowest
	Searched   bool // breaking points were looked for
	Benchmark  bool // the services measured themselves
	Kneed      bool // a cell has a knee
	Curved     bool // a cell has loads to draw a curve through
	AnyDown    bool // a replica was down during a slow request
	AnyTimeout bool // a slow request timed out
	Charts     template.JS
	Style      template.CSS
	Early      template.JS
	Plot       template.JS
	Script     template.JS
	Policy     string
}

func newPage(d results.Results) page {
	s := d.Summary
	kind := s.Kind()
	p := page{Report: report.New(s), Names: narrative.CellNames(s), Searched: kind == summary.KindSearch, Benchmark: kind == summary.KindBenchmark,
		Kneed:  slices.ContainsFunc(s.Cells, func(c summary.Cell) bool { return c.Knee != nil }),
		Curved: slices.ContainsFunc(s.Cells, func(c summary.Cell) bool { return len(c.Steps) > 0 })}
	p.Run = p.Run[1:] // the name is the title of the page
	p.Sizing = newSizing(s, p.Names)
	p.Notes = newNotes(p.Findings)
	p.Tails, p.TailKeys = newTails(s, p.Names)
	p.Slowest = newSlowest(s, p.Names)
	for _, one := range p.Slowest {
		for _, r := range one.Rows {
			p.AnyTimeout = p.AnyTimeout || r.TimedOut
			p.AnyDown = p.AnyDown || slices.ContainsFunc(r.Windows, func(w slowWindow) bool { return w.Class == "down" })
		}
	}
	return p
}

// notes are the findings of one kind, folded into one line below the answer: warnings,
// or results of cells.
type notes struct {
	Warning bool
	Count   string // "2 warnings"
	Titles  string // of the first ones
	All     []narrative.Finding
}

// titlesRoom is how many characters the titles in a line may have, so that it does not
// wrap on a desktop; the first title is always in it.
const titlesRoom = 100

// newNotes folds the findings, warnings first.
func newNotes(all []narrative.Finding) []notes {
	var lines []notes
	for _, kind := range []struct {
		warning bool
		word    string
	}{{true, "warning"}, {false, "result"}} {
		n := notes{Warning: kind.warning}
		var titles []string
		for _, f := range all {
			if f.Warning == kind.warning {
				n.All, titles = append(n.All, f), append(titles, f.Title)
			}
		}
		if len(titles) == 0 {
			continue
		}
		n.Count = display.Counted(int64(len(titles)), kind.word)
		n.Titles = titles[0]
		shown := 1
		for shown < len(titles) && len(n.Titles)+len(titles[shown]) < titlesRoom {
			n.Titles += " · " + titles[shown]
			shown++
		}
		if more := len(titles) - shown; more > 0 {
			n.Titles += fmt.Sprintf(" · and %d more", more)
		}
		lines = append(lines, n)
	}
	return lines
}

// mark is a cell's colour and shape, the same in tables, legend and charts. There
// are six colours; the seventh cell has the first one again, with another shape and
// a broken line.
type mark struct{ Hue, Shape int }

const hues, shapes = 6, 4

func markOf(cell int) mark {
	return mark{Hue: cell % hues, Shape: (cell + cell/hues) % shapes}
}

// unitAfterNumber finds a figure and its unit, with a space between them or, as Go
// writes durations, without; afterSign the space after a comparison.
var (
	unitAfterNumber = regexp.MustCompile(`(\d) ?(ms|µs|s|MiB|GiB|requests/s|users|CPUs?)\b`)
	afterSign       = regexp.MustCompile(`([≤≥]) `)
)

// joiner forbids a line break where it stands, and is not seen (U+2060). The page takes it
// out of what is copied, see copy.js.
const joiner = "\u2060"

// option finds the settings of programs such as --max-old-space-size=200 that are short
// enough for a line of a phone.
var option = regexp.MustCompile(`(?:^|[\s(=,“"])--?[A-Za-z][\w:.+=-]{0,30}`)

// unbroken keeps a setting on one line, which a browser may break after each hyphen.
func unbroken(text string) string {
	if !strings.Contains(text, "-") {
		return text
	}
	return option.ReplaceAllStringFunc(text, func(one string) string {
		return strings.TrimSuffix(strings.ReplaceAll(one, "-", "-"+joiner), joiner)
	})
}

// typeset keeps figures and their units, and settings, on one line, and writes signs as
// print does.
func typeset(text string) string {
	text = unbroken(text)
	text = strings.NewReplacer("<=", "≤", ">=", "≥").Replace(text)
	return afterSign.ReplaceAllString(unitAfterNumber.ReplaceAllString(text, "$1\u00a0$2"), "$1\u00a0")
}
