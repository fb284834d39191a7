package compare

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Selection is what one argument named: a record and all its cells, or one. Their figures are
// read when it is known which cells are compared; until then they have what the plan says.
type Selection struct {
	Record string
	Cells  []Cell
	One    bool // the argument named a cell

	from *record.Record // nil: the figures are known
}

// WordsError is a mistake in the request, not in a record.
type WordsError struct{ text string }

func (e *WordsError) Error() string { return e.text }

func mistake(format string, args ...any) error { return &WordsError{fmt.Sprintf(format, args...)} }

// Open reads the plan of a record from its folder, DIR, or one cell of it, DIR#CELL, where
// CELL is the cell's label, its name in the report, or its index. The error is a WordsError
// where the record has no such cell.
func Open(with record.Reader, argument string) (*Selection, error) {
	dir, cell, one := split(argument)
	from, err := with.Open(dir)
	if err != nil {
		return nil, err
	}
	run := &from.Run
	s := &Selection{Record: dir, One: one, from: from}
	plan := summary.Summary{Experiment: summary.Experiment{Server: run.Experiment.Server}, Cells: analysis.New(run.Experiment, nil).Cells()}
	names := narrative.CellNames(&plan)
	for i := range plan.Cells {
		s.Cells = append(s.Cells, Cell{Record: dir, Run: run, Plan: &run.Experiment.Cells[i], Figures: &plan.Cells[i], Name: names[i]})
	}
	if !one {
		return s, nil
	}
	at := s.find(cell)
	if at < 0 {
		return nil, mistake("%s has no cell %q; its cells are %s", dir, cell, s.list())
	}
	s.Cells = s.Cells[at : at+1]
	return s, nil
}

// read reads the figures of some cells from their frames, never from summary.json.
func (s *Selection) read(cells []*Cell) error {
	if s.from == nil {
		return nil
	}
	var at []int
	for _, c := range cells {
		at = append(at, c.Plan.Index)
	}
	data, err := results.Cells(s.from, at...)
	if err != nil {
		return err
	}
	for _, c := range cells {
		*c.Figures = data.Cells[c.Plan.Index]
	}
	return nil
}

// split parts DIR#CELL at its last #. A folder that is named so is a folder.
func split(argument string) (dir, cell string, one bool) {
	at := strings.LastIndexByte(argument, '#')
	if at < 0 {
		return argument, "", false
	}
	if info, err := os.Stat(argument); err == nil && info.IsDir() {
		return argument, "", false
	}
	return argument[:at], argument[at+1:], true
}

// find returns the place of the cell with this label, or else with this name in the
// report, or else with this index; -1: none.
func (s *Selection) find(name string) int {
	name = strings.Join(strings.Fields(name), " ")
	for _, of := range []func(*Cell) string{
		func(c *Cell) string { return c.Figures.Label },
		func(c *Cell) string { return c.Name },
		func(c *Cell) string { return strconv.Itoa(c.Figures.Cell) },
	} {
		if i := slices.IndexFunc(s.Cells, func(c Cell) bool { return of(&c) == name }); i >= 0 {
			return i
		}
	}
	return -1
}

// shown is what the cell is called for people: a setting of a server by its name in the
// report, because its label is made for files.
func (c *Cell) shown() string {
	if c.Run.Experiment.Server != nil {
		return c.Name
	}
	return c.Figures.Label
}

func (s *Selection) list() string {
	var all []string
	for i := range s.Cells {
		all = append(all, fmt.Sprintf("%d %q", s.Cells[i].Figures.Cell, s.Cells[i].shown()))
	}
	return strings.Join(all, ", ")
}

// Pairs are the cells that are compared, with their figures: the two that were named; else
// those with the same label; else, if each side has only one cell, these two. The other results
// are the cells without a partner. The error is a WordsError, or of reading a record.
func Pairs(a, b *Selection) (matches []Match, onlyA, onlyB []string, err error) {
	matches, onlyA, onlyB, err = partners(a, b)
	if err != nil {
		return nil, nil, nil, err
	}
	var ofA, ofB []*Cell
	for i := range matches {
		ofA, ofB = append(ofA, &matches[i].A), append(ofB, &matches[i].B)
	}
	if err = a.read(ofA); err == nil {
		err = b.read(ofB)
	}
	return matches, onlyA, onlyB, err
}

// partners are the pairs before their figures are read.
func partners(a, b *Selection) (matches []Match, onlyA, onlyB []string, err error) {
	if len(a.Cells) == 0 || len(b.Cells) == 0 {
		return nil, nil, nil, mistake("%s and %s: a record without cells", a.Record, b.Record)
	}
	if len(a.Cells) == 1 && len(b.Cells) == 1 {
		if sameFolder(a.Record, b.Record) && a.Cells[0].Figures.Cell == b.Cells[0].Figures.Cell {
			return nil, nil, nil, mistake("%s: a cell is compared with itself; its record has to be another, or the cell, as in %s#0 %s#1", a.Record, a.Record, a.Record)
		}
		if sameFolder(a.Record, b.Record) {
			b.Cells[0].Run = a.Cells[0].Run // one record: only what it varied differs
		}
		return []Match{{a.Cells[0], b.Cells[0]}}, nil, nil, nil
	}
	if sameFolder(a.Record, b.Record) {
		return nil, nil, nil, mistake("%s is named twice; name two of its cells, as in %s#0 %s#1; they are %s", a.Record, a.Record, a.Record, longer(a, b).list())
	}
	for i := range a.Cells {
		label := a.Cells[i].Figures.Label
		if k := byLabel(b, label); k >= 0 {
			matches = append(matches, Match{a.Cells[i], b.Cells[k]})
		} else {
			onlyA = append(onlyA, a.Cells[i].shown())
		}
	}
	for i := range b.Cells {
		if label := b.Cells[i].Figures.Label; byLabel(a, label) < 0 {
			onlyB = append(onlyB, b.Cells[i].shown())
		}
	}
	if len(matches) == 0 {
		return nil, nil, nil, mistake("no cell of %s has its label in %s; name one of each, as in %s#0 %s#0; cells of the first: %s; of the second: %s",
			a.Record, b.Record, a.Record, b.Record, a.list(), b.list())
	}
	if a.One || b.One { // the others were not asked for
		onlyA, onlyB = nil, nil
	}
	return matches, onlyA, onlyB, nil
}

func byLabel(s *Selection, label string) int {
	for i := range s.Cells {
		if s.Cells[i].Figures.Label == label {
			return i
		}
	}
	return -1
}

func longer(a, b *Selection) *Selection {
	if len(b.Cells) > len(a.Cells) {
		return b
	}
	return a
}

func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return a == b
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
