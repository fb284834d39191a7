package narrative

import (
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
)

// ranking words which of several cells has the best figure: one is ahead with
// certainty, several share the first place, or none is ahead. All rankings of a
// report are worded here, whatever they are about.
type ranking struct {
	inPlan []analysis.Contender // in the order of the plan
	ranked []analysis.Contender // the best first
	better analysis.Better
	best   string // "lowest", "highest"
	what   string // "p99 (median of 6 trials)"
	figure func(analysis.Contender) string
}

// text is the ranking after a lead, such as "At 200 users ", without a full stop.
// alone reports whether one cell is ahead.
func (r ranking) text(lead string) (text string, alone bool) {
	best, rest := r.ranked[0], r.ranked[1:]
	switch level := analysis.Tied(best, rest, r.better); len(level) {
	case 0:
		among := ""
		if len(r.ranked) > fewNames {
			among = fmt.Sprintf(" of %d cells", len(r.ranked))
		}
		return fmt.Sprintf("%s%s has the %s %s%s%s: %s against %s", lead, best.Name, r.best, r.what, among, doubt(r.ranked), r.figure(best), r.others()), true
	case len(rest):
		return r.indistinct(lead), false
	default:
		return lead + r.leading(append([]analysis.Contender{best}, level...)), false
	}
}

// others lists what the best is compared with: if they are few, every cell in the
// order of the plan, else the next and the last.
func (r ranking) others() string {
	if len(r.ranked) > fewNames {
		return r.named(r.ranked[1]) + " to " + r.named(r.ranked[len(r.ranked)-1])
	}
	var words []string
	for _, c := range r.inPlan {
		if c.Cell != r.ranked[0].Cell {
			words = append(words, r.named(c))
		}
	}
	return display.List(words)
}

func (r ranking) named(c analysis.Contender) string {
	return fmt.Sprintf("%s (%s)", r.figure(c), c.Name)
}

// indistinct words that no cell is ahead: because no difference is significant, or
// because none could be tested.
func (r ranking) indistinct(lead string) string {
	names, figures := r.namesAndFigures(r.ranked)
	figures += " for " + names
	who := "no cell"
	if len(r.ranked) > fewNames {
		who, figures = fmt.Sprintf("none of %d cells", len(r.ranked)), r.fromTo(r.ranked)
	}
	text := fmt.Sprintf("%s has a significantly %s %s than all others: %s (%s)", who, r.than(), r.what, figures, overlap(r.ranked))
	if !tested(r.ranked) {
		text = fmt.Sprintf("too few trials to test which cell has the %s %s: %s (%s)", r.best, r.what, figures, overlap(r.ranked))
	}
	if len(r.ranked) <= fewNames && analysis.EveryPairTied(r.ranked, r.better) {
		text = r.pairs()
	}
	if lead == "" {
		return display.Capital(text)
	}
	return lead + text
}

// pairs words that no two of the cells differ.
func (r ranking) pairs() string {
	among := " between "
	if len(r.ranked) > 2 {
		among = " among "
	}
	names, figures := r.namesAndFigures(r.ranked)
	what := "no significant difference in "
	if !tested(r.ranked) {
		what = "too few trials to test the difference in "
	}
	return what + r.what + among + names + ": " + figures + " (" + overlap(r.ranked) + ")"
}

// than compares one cell with the others: "lower", "higher".
func (r ranking) than() string {
	if r.best == "highest" {
		return "higher"
	}
	return "lower"
}

// leading words that several cells share the first place, before the others.
func (r ranking) leading(first []analysis.Contender) string {
	rest := analysis.Besides(r.ranked, first)
	var against string
	if len(rest) > fewNames {
		against = fmt.Sprintf("%s for the other %d cells", r.fromTo(rest), len(rest))
	} else {
		var words []string
		for _, c := range rest {
			words = append(words, r.named(c))
		}
		against = display.List(words)
	}
	names, figures := r.namesAndFigures(first)
	if len(first) > fewNames {
		names, figures = fmt.Sprintf("%d cells", len(first)), r.fromTo(first)
	}
	verdict := "no significant difference"
	if !tested(first) {
		verdict = "too few trials to test"
	}
	return fmt.Sprintf("%s have the %s %s (%s; %s: %s) against %s", names, r.best, r.what, figures, verdict, overlap(first), against)
}

// fromTo gives the first and the last of figures in their order.
func (r ranking) fromTo(all []analysis.Contender) string {
	first, last := r.figure(all[0]), r.figure(all[len(all)-1])
	if first == last {
		return first + " each"
	}
	return first + " to " + last
}

// namesAndFigures lists cells and, in the same order, their figures; a figure that
// all of them share is written once.
func (r ranking) namesAndFigures(all []analysis.Contender) (names, figures string) {
	var who, what []string
	for _, c := range all {
		who, what = append(who, c.Name), append(what, r.figure(c))
	}
	if len(slices.Compact(slices.Clone(what))) == 1 {
		return display.List(who), what[0] + " each"
	}
	return display.List(who), display.List(what)
}

// overlap is why the difference of figures is not significant.
func overlap(all []analysis.Contender) string {
	weakest := analysis.IntervalOfTrials
	for _, c := range all {
		weakest = min(weakest, c.Sure)
	}
	if weakest >= analysis.RangeOfTrials && slices.ContainsFunc(all[1:], func(c analysis.Contender) bool { return analysis.Disjoint(all[0], c) }) {
		return "tested over their trials"
	}
	switch weakest {
	case analysis.IntervalOfTrials:
		return "their 95% intervals overlap"
	case analysis.RangeOfTrials:
		return "their trials overlap"
	case analysis.IntervalOfFrames:
		return "their intervals by frames overlap"
	}
	return "the same figure"
}

// tested reports whether every cell has enough trials for a test.
func tested(all []analysis.Contender) bool { return caveat(all) == "" }

// doubt qualifies a winner that no test shows.
func doubt(all []analysis.Contender) string {
	if tested(all) {
		return ""
	}
	return " (not tested)"
}

// caveat is the warning about a difference without intervals.
func caveat(all []analysis.Contender) string {
	weakest := analysis.IntervalOfTrials
	for _, c := range all {
		weakest = min(weakest, c.Sure)
	}
	switch weakest {
	case analysis.NoEnds, analysis.IntervalOfFrames:
		return "A cell has fewer than two trials, so the difference was not tested."
	case analysis.RangeOfTrials:
		return "Too few trials for 95% intervals, so the difference was not tested."
	}
	return ""
}
