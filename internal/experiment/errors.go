package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing wrong with an experiment, and where. Line and Column count
// from 1, Column in characters; both are 0 for a --set, whose text File then
// holds ("--set limits.cpu=1x").
type Error struct {
	File    string
	Line    int
	Column  int
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Errors are all that is wrong with an experiment, in the order of the file and
// then of --set.
type Errors []*Error

// Error gives one line an error.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the single errors.
func (es Errors) Unwrap() []error {
	all := make([]error, len(es))
	for i, e := range es {
		all[i] = e
	}
	return all
}

// place is where something was written: in the file, or in the --set of that
// number.
type place struct {
	set          int // index + 1; 0: in the file
	line, column int
}

func (p place) String() string {
	if p.set > 0 {
		return "--set"
	}
	return fmt.Sprintf("%d:%d", p.line, p.column)
}

// compare orders places as errors are printed: the file's by position, then
// those of --set by number.
func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.set, q.set), cmp.Compare(p.line, q.line), cmp.Compare(p.column, q.column))
}

func later(places ...place) place { return slices.MaxFunc(places, place.compare) }

// problems gathers errors.
type problems struct {
	file string
	sets []string
	list []problem
	seen map[problem]bool // see addOnce
}

type problem struct {
	at      place
	message string
}

func (p *problems) add(at place, format string, args ...any) {
	p.list = append(p.list, problem{at, fmt.Sprintf(format, args...)})
}

// addOnce adds an error that many cells may share: the first of those that
// complain of the same at the same place.
func (p *problems) addOnce(at place, same, message string) {
	one := problem{at, same}
	if p.seen[one] {
		return
	}
	if p.seen == nil {
		p.seen = make(map[problem]bool)
	}
	p.seen[one] = true
	p.list = append(p.list, problem{at, message})
}

// err is nil when nothing was added, and Errors otherwise.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b problem) int { return a.at.compare(b.at) })
	var all Errors
	for _, one := range p.list {
		e := &Error{File: p.file, Line: one.at.line, Column: one.at.column, Message: one.message}
		if one.at.set > 0 {
			e.File, e.Line, e.Column = "--set "+p.sets[one.at.set-1], 0, 0
		}
		all = append(all, e)
	}
	return all
}
