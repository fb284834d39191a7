package compare

import (
	"fmt"
	"io"
	"strings"

	"github.com/millicore/millicore/internal/display"
)

// columns lay out a pair's rows, each in the tone of its verdict.
func columns(rows []*Row) []display.Column {
	column := func(head string, left bool, of func(*Row) string) display.Column {
		c := display.Column{Head: head, Left: left, Tone: func(row int) display.Tone { return rows[row].tone() }}
		for _, r := range rows {
			c.Cells = append(c.Cells, of(r))
		}
		return c
	}
	return []display.Column{
		column("metric", true, func(r *Row) string { return r.metric.words + ", " + r.shown() }),
		column("A", false, (*Row).a),
		column("B", false, (*Row).b),
		column("shift", false, (*Row).difference),
		column("%", false, (*Row).percent),
		column("95% interval", false, (*Row).interval),
		column("p", false, (*Row).chance),
		column("verdict", true, (*Row).verdict),
	}
}

// tone sets off what differs.
func (r *Row) tone() display.Tone {
	switch r.verdict() {
	case "worse":
		return display.Bad
	case "better":
		return display.Good
	case "too few trials":
		return display.Warning
	}
	return display.Normal
}

// Table writes a comparison for the terminal: the answer, what was compared, and
// a table for each pair. Where the table is wider than the terminal, each metric
// gets a line of words.
func Table(w io.Writer, r *Result, o display.Terminal) error {
	t := terminal{o}
	var b strings.Builder
	b.WriteString(t.Line(display.Plain(r.Answer), display.Strong) + "\n")
	for _, line := range heading(r) {
		b.WriteString(t.Line(line, display.Quiet))
	}
	for _, c := range r.Incomparable {
		b.WriteString(t.warn("not comparable, and compared nevertheless: " + display.Plain(c.String())))
	}
	for i := range r.Pairs {
		b.WriteString("\n" + t.pair(r, &r.Pairs[i]))
	}
	for _, line := range partners(r) {
		b.WriteString("\n" + t.Line(line, display.Normal))
	}
	if len(r.FailOn) > 0 {
		b.WriteString("\n")
	}
	for _, j := range r.FailOn {
		b.WriteString(t.judgment(r, &j))
	}
	b.WriteString("\n" + t.Line(footnote(r), display.Quiet))
	return write(w, b.String())
}

func write(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}

// heading names both sides.
func heading(r *Result) []string {
	side := func(name string, s *Side, cell string) string {
		text := fmt.Sprintf("%s  %s · %s · %s", name, display.Plain(s.Record), display.Plain(s.Experiment), s.Started)
		if len(r.Pairs) == 1 {
			text += " · " + display.Plain(cell)
		}
		return text
	}
	return []string{side("A", &r.A, r.Pairs[0].A), side("B", &r.B, r.Pairs[0].B)}
}

// partners lists the cells that stand alone.
func partners(r *Result) []string {
	var lines []string
	for _, side := range []struct {
		name  string
		cells []string
	}{{"A", r.OnlyInA}, {"B", r.OnlyInB}} {
		if len(side.cells) > 0 {
			lines = append(lines, fmt.Sprintf("Only in %s: %s", side.name, display.Plain(strings.Join(side.cells, ", "))))
		}
	}
	return lines
}

// footnote says what the figures are.
func footnote(r *Result) string {
	text := "A and B are medians over trials; shift is how far B lies from A by Hodges and Lehmann, with its 95% interval; p is that of Mann-Whitney's test"
	if len(r.Pairs) > 1 {
		text += fmt.Sprintf(", corrected by Holm for %d cells", len(r.Pairs))
	}
	return text + "."
}

// terminal knows what can be shown.
type terminal struct{ display.Terminal }

// pair writes one pair's table, with what differs and what to mind.
func (t terminal) pair(r *Result, p *Pair) string {
	var b strings.Builder
	if len(r.Pairs) > 1 {
		b.WriteString(t.Paint(display.Plain(p.title()), display.Strong) + "\n")
	}
	b.WriteString(t.Line("Set differently: "+display.Plain(p.differs()), display.Normal))
	rows := r.shown(p)
	if cols := columns(rows); t.Fits(cols) {
		b.WriteString(t.Table(cols))
	} else {
		for _, row := range rows {
			b.WriteString(t.Line("· "+sentence(row), display.Normal))
		}
	}
	for _, note := range p.Notes {
		b.WriteString(t.warn(display.Plain(note)))
	}
	return b.String()
}

func (p *Pair) title() string {
	if p.A == p.B {
		return p.A
	}
	return p.A + " → " + p.B
}

func (p *Pair) differs() string {
	if len(p.Differs) == 0 {
		return "nothing that the records know of"
	}
	var all []string
	for _, c := range p.Differs {
		all = append(all, fmt.Sprintf("%s %s → %s", c.What, orNone(c.A), orNone(c.B)))
	}
	return strings.Join(all, ", ")
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// shown are a pair's rows, without those that are seldom asked for.
func (r *Result) shown(p *Pair) []*Row {
	var all []*Row
	for i := range p.Rows {
		row := &p.Rows[i]
		asked := row.Metric == p.Main
		for _, j := range r.FailOn {
			asked = asked || strings.HasPrefix(j.Bound, row.Metric+"<") || strings.HasPrefix(j.Bound, row.Metric+">")
		}
		if !row.metric.seldom || asked {
			all = append(all, row)
		}
	}
	return all
}

// judgment writes what became of one --fail-on.
func (t terminal) judgment(r *Result, j *Judgment) string {
	tone := display.Normal
	switch j.Outcome {
	case Broken:
		tone = display.Bad
	case Untold:
		tone = display.Warning
	}
	return t.Line(display.Plain(j.line(len(r.Pairs) > 1)), tone)
}

// line words a judgment: "BROKEN p99>+10%: p99 is 38% higher in B: …".
func (j *Judgment) line(cell bool) string {
	text := strings.ToUpper(string(j.Outcome)) + "  " + j.Bound
	if cell {
		text += " (" + j.Cell + ")"
	}
	return text + ": " + j.Why
}

func (t terminal) warn(text string) string {
	return t.Line("! "+text, display.Warning)
}

// Judgments writes what became of each --fail-on, a line each.
func Judgments(w io.Writer, r *Result) error {
	var b strings.Builder
	for i := range r.FailOn {
		b.WriteString(display.Plain(r.FailOn[i].line(len(r.Pairs) > 1)) + "\n")
	}
	return write(w, b.String())
}
