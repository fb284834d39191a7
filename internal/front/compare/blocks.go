package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/internal/show/narrative"
	"github.com/millicore/millicore/internal/show/report"
)

// sides are what is compared.
var sides = [2]string{"A", "B"}

// Blocks are a comparison as text: the answer, one table, and what was compared, or with
// details the whole.
func (r *Result) Blocks(details bool) []report.Block {
	if details {
		return r.whole()
	}
	blocks := r.answered()
	if len(r.Pairs) == 1 {
		blocks = append(blocks, report.Compared("metric", sides, r.shown(&r.Pairs[0]), headOf))
		blocks = append(blocks, r.Pairs[0].kinds()...)
	} else {
		blocks = append(blocks, r.mainTable())
	}
	return append(append(blocks, r.alone()...), r.heading())
}

// whole is all of a comparison as text: a table for each pair, with what was set differently
// and what to mind, and how the figures are to be read.
func (r *Result) whole() []report.Block {
	blocks := r.answered()
	for i := range r.Pairs {
		blocks = append(blocks, r.pairBlocks(&r.Pairs[i])...)
	}
	blocks = append(blocks, r.alone()...)
	return append(blocks, r.heading(), report.Paragraph{Text: r.footnote(), Tone: display.Quiet})
}

// alone names the cells without a partner.
func (r *Result) alone() (blocks []report.Block) {
	for _, side := range []struct {
		name  string
		cells []string
	}{{"A", r.OnlyInA}, {"B", r.OnlyInB}} {
		if len(side.cells) > 0 {
			blocks = append(blocks, report.Paragraph{Text: fmt.Sprintf("Only in %s: %s", side.name, display.Plain(strings.Join(side.cells, ", ")))})
		}
	}
	return blocks
}

// answered are the answer and what became of each bound.
func (r *Result) answered() []report.Block {
	pairs := make([]answer.Pair, len(r.Pairs))
	for i := range r.Pairs {
		p, m := &r.Pairs[i], &r.matches[i]
		pairs[i] = answer.Pair{Name: p.B, Main: p.Row(p.Main), A: m.A.Figures, B: m.B.Figures}
		for _, c := range p.Differs {
			pairs[i].Differs = append(pairs[i].Differs, c.change())
		}
	}
	of := answer.OfPairs(r.Pairs[0].Main, pairs, answer.Sides{Incomparable: len(r.Incomparable) > 0, TwoRecords: r.ofTwoRecords(), Benchmarks: r.matches[0].benchmarks()})
	blocks := []report.Block{report.Headline{Answer: of.What, Lines: of.Lines()[1:], Caveats: of.Caveats}}
	if len(r.FailOn) > 0 {
		blocks = append(blocks, r.judgments())
	}
	return blocks
}

// mainTable has a row for each pair, by the metric that answers.
func (r *Result) mainTable() report.Table {
	var rows []narrative.Difference
	var names []string
	for i := range r.Pairs {
		if d := r.Pairs[i].Row(r.Pairs[i].Main); d != nil {
			rows, names = append(rows, narrative.Difference{Difference: d}), append(names, display.Plain(r.Pairs[i].title()))
		}
	}
	head := ""
	if len(rows) > 0 {
		head = headOf(0, &rows[0])
	}
	return report.Compared(head, sides, rows, func(row int, _ *narrative.Difference) string { return names[row] })
}

// heading names both sides, and what makes them not comparable.
func (r *Result) heading() report.List {
	side := func(name string, s *Side, cell string) report.Item {
		text := fmt.Sprintf("%s  %s · %s · %s", name, display.Plain(s.Record), display.Plain(s.Experiment), s.Started)
		if len(r.Pairs) == 1 {
			text += " · " + display.Plain(cell)
		}
		return report.Item{Text: text, Tone: display.Quiet}
	}
	all := report.List{side("A", &r.A, r.Pairs[0].A), side("B", &r.B, r.Pairs[0].B)}
	for _, c := range r.Incomparable {
		all = append(all, report.Item{Name: "not comparable (--anyway)", Text: display.Plain(c.String()), Tone: display.Warning})
	}
	return all
}

// pairBlocks are a pair's table, with what was set differently and what to mind.
func (r *Result) pairBlocks(p *Pair) []report.Block {
	var blocks []report.Block
	if len(r.Pairs) > 1 {
		blocks = append(blocks, report.Paragraph{Text: display.Plain(p.title()), Tone: display.Strong})
	}
	blocks = append(blocks, report.Paragraph{Text: "Set differently: " + display.Plain(p.differs())}, report.Compared("metric", sides, r.shown(p), headOf))
	blocks = append(blocks, p.kinds()...)
	var notes report.List
	for _, note := range p.Notes {
		notes = append(notes, report.Item{Text: display.Plain(note), Tone: display.Warning})
	}
	if len(notes) > 0 {
		blocks = append(blocks, notes)
	}
	return blocks
}

// headOf names a row: its metric in short, and its unit.
func headOf(_ int, d *narrative.Difference) string {
	m := metricOf(d.Metric)
	unit := d.UnitName()
	if m.per != "" && unit == m.Unit {
		unit = m.per
	}
	return cmp.Or(m.short, m.Words) + ", " + unit
}

// shown are a pair's differences, without those that are seldom asked for.
func (r *Result) shown(p *Pair) []narrative.Difference {
	var all []narrative.Difference
	for i := range p.Rows {
		d := &p.Rows[i]
		asked := d.Metric == p.Main
		for _, j := range r.FailOn {
			asked = asked || strings.HasPrefix(j.Bound, d.Metric+"<") || strings.HasPrefix(j.Bound, d.Metric+">")
		}
		if m := metricOf(d.Metric); !m.seldom || asked {
			all = append(all, narrative.Difference{Difference: d})
		}
	}
	return all
}

// kinds is the table of the kinds of requests, of loads that have several.
func (p *Pair) kinds() []report.Block {
	var rows []narrative.Difference
	for i := range p.Kinds {
		rows = append(rows, narrative.Difference{Difference: &p.Kinds[i].Difference})
	}
	if len(rows) == 0 {
		return nil
	}
	t := report.Compared("metric", sides, rows, func(row int, d *narrative.Difference) string {
		return display.Plain(p.Kinds[row].Kind) + ": " + headOf(row, d)
	})
	t.Title = "Kinds of requests"
	return []report.Block{t}
}

func (p *Pair) title() string {
	if p.A == p.B {
		return p.A
	}
	return p.A + " → " + p.B
}

// change words a setting that differs.
func (c Contrast) change() string {
	return fmt.Sprintf("%s %s → %s", c.What, cmp.Or(c.A, "none"), cmp.Or(c.B, "none"))
}

func (p *Pair) differs() string {
	if len(p.Differs) == 0 {
		return "nothing, as far as the records show"
	}
	var all []string
	for _, c := range p.Differs {
		all = append(all, c.change())
	}
	return strings.Join(all, ", ")
}

// judgments are what became of each --fail-on.
func (r *Result) judgments() report.List {
	tones := map[verdict.Outcome]display.Tone{verdict.Held: display.Good, verdict.Broken: display.Bad, verdict.Undecided: display.Warning}
	var all report.List
	for i := range r.FailOn {
		j := &r.FailOn[i]
		all = append(all, report.Item{Text: display.Plain(j.line(len(r.Pairs) > 1)), Tone: tones[j.Outcome], Bare: true})
	}
	return all
}

// line words a judgment: "BROKEN p99>+10%: p99 is 38% higher in B: …".
func (j *Judgment) line(cell bool) string {
	outcome := string(j.Outcome)
	if j.Outcome == verdict.Undecided {
		outcome = "undecided"
	}
	text := strings.ToUpper(outcome) + "  " + j.Bound
	if cell {
		text += " (" + j.Cell + ")"
	}
	return text + ": " + j.Why
}

// footnote names the figures and the tests.
func (r *Result) footnote() string {
	text := "A and B are medians over n trials of each. The shift is the Hodges-Lehmann estimate of how far B lies from A, with its 95% interval in the unit of the metric; % is the shift in percent of A. ~: no significant difference. p is that of the Brunner-Munzel test"
	if len(r.Pairs) > 1 {
		text += fmt.Sprintf(", corrected by Holm for %d cells", len(r.Pairs))
	}
	if slices.ContainsFunc(r.Pairs, func(p Pair) bool { return len(p.Kinds) > 0 }) {
		text += "; by kind of request corrected for all kinds"
	}
	if r.ofTwoRecords() {
		text += ". " + TwoRecords
	}
	return text + "."
}

// TwoRecords is what the intervals of two records leave out.
const TwoRecords = "The two records are of different runs: the interval and p assume that the machine did not change between them, and do not include how runs of one service differ. To exclude that, measure both versions as cells of one record (docs/howto/ci.md)"

// ofTwoRecords reports whether the sides were not measured in one run, by turns.
func (r *Result) ofTwoRecords() bool {
	return !sameFolder(r.A.Record, r.B.Record)
}
