package file

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment"
)

// Error is one mistake in an experiment, and its place. Line and Column count from 1,
// Column in characters. Both are 0 for a mistake in a setting: File is then what the
// user wrote, such as "--set limits.cpu=1x" or "-c".
type Error struct {
	File    string
	Line    int
	Column  int
	Path    string // of the field, such as "limits.cpu"; empty where Message or File names it
	Message string
}

func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	}
	if e.Path != "" {
		text += ": " + e.Path
	}
	return text + ": " + e.Message
}

// Errors are all mistakes in an experiment, in the order of the file and then of the
// settings.
type Errors []*Error

// Error has one line for each error.
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

// place is where something was written: in the file, or in the setting of that
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

// compare orders places as errors are printed: places of the file by position, then
// the settings by number.
func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.set, q.set), cmp.Compare(p.line, q.line), cmp.Compare(p.column, q.column))
}

func later(places ...place) place { return slices.MaxFunc(places, place.compare) }

// problems collects errors.
type problems struct {
	file    string
	origins []origin // of the settings
	list    []problem
	seen    map[problem]bool // see addOnce
	root    *node            // of which errors show no secrets; nil: the file could not be read
}

// origin is what the user wrote for a setting.
type origin struct {
	words string // "--set limits.cpu=1x", "-c"; empty: the program set it
	path  string // of the field that a flag stands for; empty for --set, whose words have it
}

type problem struct {
	at      place
	path    string // of the field; empty: the message names it, or there is none
	message string
}

func (p *problems) add(at place, path, format string, args ...any) {
	p.list = append(p.list, problem{at, path, fmt.Sprintf(format, args...)})
}

// report adds an error about the value of a field.
func (p *problems) report(n *node, format string, args ...any) {
	p.add(n.at, n.path, format, args...)
}

// addOnce adds an error that many cells may have: only the first error with the
// same place and key.
func (p *problems) addOnce(at place, path, same, message string) {
	one := problem{at: at, message: same}
	if p.seen[one] {
		return
	}
	if p.seen == nil {
		p.seen = make(map[problem]bool)
	}
	p.seen[one] = true
	p.list = append(p.list, problem{at, path, message})
}

// err is nil when nothing was added, and Errors otherwise.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b problem) int { return a.at.compare(b.at) })
	var hidden []pair
	if p.root != nil {
		hidden = p.root.copy().hide(nil)
	}
	var all Errors
	for _, one := range p.list {
		e := &Error{File: p.file, Line: one.at.line, Column: one.at.column, Path: one.path, Message: hiddenMessage(one.path, one.message, hidden)}
		if one.at.set > 0 {
			from := p.origins[one.at.set-1]
			if set, ok := strings.CutPrefix(from.words, setPrefix); ok {
				from.words = setPrefix + hiddenSet(set)
			}
			from.name(e)
		}
		all = append(all, e)
	}
	return all
}

// name replaces the place of an error by the setting. A flag stands for its field,
// so that the path of the field is omitted.
func (o origin) name(e *Error) {
	e.Line, e.Column = 0, 0
	if o.words == "" {
		return
	}
	e.File = o.words
	if o.path != "" && (strings.HasPrefix(o.path, e.Path) || strings.HasPrefix(e.Path, o.path)) {
		e.Path = ""
	}
}

// wrong reports an invalid value. If a value in vary causes the error, it is reported
// at that value.
func (d *decoder) wrong(n *node, format string, args ...any) {
	d.failed = true
	if d.cell == nil {
		n.bad = true
		d.report(n, format, args...)
		return
	}
	at, message := n.at, fmt.Sprintf(format, args...)
	same, names := message, d.varying(n)
	if len(names) > 0 {
		same, at = format, d.cell.values[names[0]].at
		message += fmt.Sprintf(" (from %q at %s", n.text, n.at)
		if len(names) > 1 {
			message += " with " + d.settings(names)
		}
		message += ")"
	}
	d.addOnce(at, n.path, n.path+same, message)
}

// conflict reports values that contradict one another: at the one that was set last,
// or else at the first of a service's own, or else at the first of nodes. path names
// the field in the error.
func (d *decoder) conflict(path string, nodes []*node, format string, args ...any) {
	d.failed = true
	at, message := nodes[0].at, fmt.Sprintf(format, args...)
	found, own := false, false
	for _, n := range nodes {
		mine := strings.HasPrefix(n.path, "services.")
		better := n.at.set > at.set || n.at.set == at.set && mine && !own
		if !n.absent && (!found || better) {
			at, found, own = n.at, true, mine
		}
	}
	if names := d.varying(nodes...); len(names) > 0 {
		message += " (where " + d.settings(names) + ")"
	}
	d.addOnce(at, path, format, message)
}

// varying are the names of the cell that texts depend on, each once.
func (d *decoder) varying(nodes ...*node) []string {
	var all []string
	for _, n := range nodes {
		parts, err := experiment.Segments(n.text)
		if err != nil {
			continue
		}
		for _, name := range experiment.NamesIn(parts) {
			if _, known := d.cell.values[name]; known && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

func (d *decoder) settings(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = name + "=" + d.cell.values[name].String()
	}
	return strings.Join(all, ", ")
}
