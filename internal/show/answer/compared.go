package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Pair is a cell of A and one of B that are held against each other.
type Pair struct {
	Name    string              // of the cell of B
	Main    *verdict.Difference // by the metric that answers; nil: measured on neither side
	A, B    *summary.Cell
	Differs []string // what was set differently
}

// Sides is what qualifies a comparison as a whole.
type Sides struct {
	Incomparable bool // the conditions differ
	TwoRecords   bool // they were not measured by turns
	Benchmarks   bool // both measured themselves
}

// OfPairs is the answer of a comparison by one metric.
func OfPairs(metric string, pairs []Pair, sides Sides) Answer {
	named := make([]narrative.ComparedPair, len(pairs))
	var better, worse, tested int
	var most *Pair
	for i := range pairs {
		p := &pairs[i]
		named[i] = narrative.ComparedPair{Name: p.Name, Main: p.Main}
		if p.Main == nil || p.Main.Verdict == verdict.OneSided || p.Main.Untested() {
			continue
		}
		if tested++; !p.Main.Significant() {
			continue
		}
		if worse++; p.Main.Better() {
			better, worse = better+1, worse-1
		}
		if most == nil || p.Main.Size() > most.Main.Size() {
			most = p
		}
	}
	said, gap := narrative.Compared(metric, named)
	answer := Answer{What: display.Plain(said) + "."}
	switch {
	case gap != "":
		answer.Why = gap + "."
	case most != nil:
		answer.Why = most.cause()
		if len(pairs) > 1 {
			answer.Why = "in " + display.Plain(most.Name) + ", " + answer.Why
		}
	}
	switch {
	case tested == 0 && sides.Benchmarks:
		answer.Do = "compare them with --format benchstat."
	case tested == 0:
		answer.Do = missing(pairs)
	case most != nil && sides.Incomparable:
		answer.Do = "measure both under the same conditions."
	case most != nil && sides.TwoRecords && len(most.Differs) == 0:
		answer.Do = "measure both by turns, in one run (docs/howto/ci.md)."
	case better > 0 && worse > 0:
		answer.Do = "use B where the table has it better."
	case better > 0:
		answer.Do = "use B."
	case worse > 0:
		answer.Do = "keep A."
	default:
		answer.Do = "nothing: no difference was shown."
	}
	if sides.Incomparable {
		answer.Caveats = append(answer.Caveats, "The conditions of A and B differ, as listed below.")
	}
	if sides.TwoRecords && most != nil {
		answer.Caveats = append(answer.Caveats, "Two runs: a machine that changed between them looks the same.")
	}
	answer.Caveats = append(answer.Caveats, disturbedSides(pairs)...)
	answer.Caveats = answer.bounded(answer.Caveats)
	return answer
}

// cause is why B differs from A: what limits or throttles the worse side, or the one thing
// that was set differently.
func (p *Pair) cause() string {
	best, last := verdict.Contender{Cell: p.A, Name: "A"}, verdict.Contender{Cell: p.B, Name: "B"}
	if p.Main.Better() {
		best, last = last, best
	}
	a := &asked{s: &summary.Summary{Cells: []summary.Cell{*last.Cell}}}
	if p.Main.Metric == verdict.BreakingPointMetric {
		if b := last.Cell.Breaking; b != nil && b.LimitedBy != "" && b.Contradiction == "" && !b.AtLeast {
			return fmt.Sprintf("in %s %s", last.Name, a.limit(last.Cell))
		}
	} else if p.Main.Metric == "availability" {
		if text := worst(last.Cell); text != "" {
			text = fmt.Sprintf("of %s, %s", last.Name, text)
			if len(p.Differs) == 1 {
				text = strings.TrimSuffix(text, ".") + "; only this was set differently: " + display.Plain(p.Differs[0]) + "."
			}
			return text
		}
	} else if text := a.contrast(best, []verdict.Contender{last}); text != "" {
		return text
	}
	switch n := len(p.Differs); {
	case n == 0:
		return "not known; the records show no setting that differs."
	case n == 1:
		return "only this was set differently: " + display.Plain(p.Differs[0]) + "."
	}
	return fmt.Sprintf("not known; %d settings differ (--details); change one at a time.", len(p.Differs))
}

// missing is what to do where no pair was tested.
func missing(pairs []Pair) string {
	for i := range pairs {
		d := pairs[i].Main
		if d == nil || !d.Untested() {
			continue
		}
		switch d.Gap {
		case summary.OneStart:
			return "set measure.restart to true, and run both again."
		case summary.FewRequests:
			return "run both again for longer (measure.duration)."
		case summary.DisturbedTrials:
			return "run both again on a quieter machine."
		case summary.GeneratorsDelay:
			return generatorAdvice
		}
		who := "both"
		switch enough := [2]bool{d.Trials[0] >= summary.EnoughTrials, d.Trials[1] >= summary.EnoughTrials}; enough {
		case [2]bool{false, true}:
			who = "A"
		case [2]bool{true, false}:
			who = "B"
		}
		return fmt.Sprintf("run %s again with --set measure.repeats=%d.", who, summary.EnoughTrials)
	}
	return "read both with millicore report: a side has no figure."
}

// disturbedSides are how many trials of each side others disturbed.
func disturbedSides(pairs []Pair) (all []string) {
	for i, name := range []string{"A", "B"} {
		s := summary.Summary{}
		for k := range pairs {
			s.Cells = append(s.Cells, *[]*summary.Cell{pairs[k].A, pairs[k].B}[i])
		}
		if text := (&asked{s: &s}).disturbed(); text != "" {
			all = append(all, strings.TrimSuffix(text, ".")+" of "+name+".")
		}
	}
	return all
}

// mostWords is how many words an answer has with its caveats, in each default output.
const mostWords = 60

// words is how many words the answer has with these caveats.
func (a Answer) words(caveats []string) (n int) {
	for _, line := range slices.Concat(a.Lines(), caveats) {
		n += len(strings.Fields(line))
	}
	return n
}

// bounded are at most two of the caveats of an answer: the second one only if there is room
// for it.
func (a Answer) bounded(caveats []string) []string {
	caveats = caveats[:min(len(caveats), mostCaveats)]
	if len(caveats) == mostCaveats && a.words(caveats) > mostWords {
		return caveats[:1]
	}
	return caveats
}
