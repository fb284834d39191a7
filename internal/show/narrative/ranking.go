package narrative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
)

// ranking words which of several cells has the best figure: one is significantly ahead,
// several share the first place, none is ahead, or they were not tested. All rankings
// of a report are worded here, whatever they are about.
type ranking struct {
	inPlan []verdict.Contender // in the order of the plan
	ranked []verdict.Contender // the best first
	tests  *verdict.Ranking
	best   string // "lowest", "highest"
	what   string // "p99", as in sentences
	figure func(verdict.Contender) string
}

// better reports whether x is significantly better than y.
func (r ranking) better(x, y verdict.Contender) bool {
	if r.best == "highest" {
		return r.tests.Above(x, y)
	}
	return r.tests.Below(x, y)
}

// text is the ranking after a lead, such as "At 200 users ", without a full stop.
// alone reports whether one cell is ahead of all others.
func (r ranking) text(lead string) (text string, alone bool) {
	untested := slices.DeleteFunc(slices.Clone(r.ranked), func(c verdict.Contender) bool { return r.tests.Gap(c.Cell) == "" })
	if len(r.ranked)-len(untested) < 2 {
		return r.untested(lead), false
	}
	r.ranked, r.inPlan = verdict.Besides(r.ranked, untested), verdict.Besides(r.inPlan, untested)
	text, alone = r.tested(lead)
	for len(untested) > 0 {
		gap := r.tests.Gap(untested[0].Cell)
		some := slices.DeleteFunc(slices.Clone(untested), func(c verdict.Contender) bool { return r.tests.Gap(c.Cell) != gap })
		untested = verdict.Besides(untested, some)
		text, alone = fmt.Sprintf("%s; %s not ranked: %s", text, r.list(some), r.gapText(some)), false
	}
	return text, alone
}

// tested ranks cells that were tested against one another.
func (r ranking) tested(lead string) (text string, alone bool) {
	best, rest := r.ranked[0], r.ranked[1:]
	switch level := verdict.Tied(best, rest, r.better); len(level) {
	case 0:
		among := ""
		if len(r.ranked) > fewNames {
			among = fmt.Sprintf(" of %d cells", len(r.ranked))
		}
		return fmt.Sprintf("%s%s has the %s %s%s: %s against %s", lead, best.Name, r.best, r.what, among, r.figure(best), r.others()), true
	case len(rest):
		return r.indistinct(lead), false
	default:
		return lead + r.leading(append([]verdict.Contender{best}, level...)), false
	}
}

// others lists what the best is compared with: if they are few, every cell in the
// order of the plan, else the next and the last.
func (r ranking) others() string {
	if len(r.ranked) > fewNames {
		return r.named(r.ranked[1]) + " to " + r.named(r.ranked[len(r.ranked)-1])
	}
	return r.list(verdict.Besides(r.inPlan, r.ranked[:1]))
}

func (r ranking) list(all []verdict.Contender) string {
	var words []string
	for _, c := range all {
		words = append(words, r.named(c))
	}
	return phrase.List(words)
}

func (r ranking) named(c verdict.Contender) string {
	return fmt.Sprintf("%s (%s)", r.figure(c), c.Name)
}

// untested gives the figures of cells that were not tested against one another, and
// why.
func (r ranking) untested(lead string) string {
	figures := r.list(r.ranked)
	if len(r.ranked) > fewNames {
		figures = fmt.Sprintf("%s in %d cells", r.fromTo(r.ranked), len(r.ranked))
	}
	return fmt.Sprintf("%s%s is %s; not ranked: %s", lead, r.what, figures, r.gapText(r.ranked))
}

func (r ranking) gapText(some []verdict.Contender) string {
	gap, fewest := summary.Gap(""), max(1, some[0].Trials)
	for _, c := range some {
		fewest = min(fewest, max(1, c.Trials))
		if own := r.tests.Gap(c.Cell); gap == "" || own != summary.FewTrials {
			gap = own
		}
	}
	first := r.tests.Between(some[0].Cell, some[0].Cell)
	if gap == summary.DisturbedTrials || gap == summary.GeneratorsDelay {
		of := slices.DeleteFunc(slices.Clone(some), func(c verdict.Contender) bool { return r.tests.Gap(c.Cell) != gap })
		whose := ""
		if len(of) < len(some) {
			if whose, _ = r.namesAndFigures(of); len(of) > fewNames {
				whose = fmt.Sprintf("%d cells", len(of))
			}
		}
		return spoiledText(gap, whose, verdict.Cells(of)...)
	}
	return gapText(gap, fewest, len(r.ranked), first.Quantile())
}

// gapText is why cells were not tested against one another. fewest is the number of
// trials of the cell that has the fewest; quantile is the latency, if it is one.
func gapText(gap summary.Gap, fewest, cells int, quantile string) string {
	switch gap {
	case summary.OneStart:
		return "the services were not restarted between trials, so each shows one start only"
	case summary.FewRequests:
		return fmt.Sprintf("a %s needs %s requests of each cell", QuantileName(quantile), display.Grouped(verdict.RequestsFor(quantile)))
	}
	return fmt.Sprintf("%d %s per cell, and a ranking needs at least %d", fewest, plural("trial", fewest), verdict.Needs(cells))
}

// plural is the word for a number of trials, searches or ramps.
func plural(what string, n int) string {
	switch {
	case n == 1:
		return what
	case what == "search":
		return "searches"
	}
	return what + "s"
}

// indistinct words that no cell is ahead.
func (r ranking) indistinct(lead string) string {
	names, figures := r.namesAndFigures(r.ranked)
	pairs, chance := r.pairs(r.ranked), r.chance(r.ranked)
	if pairs != "" { // the chance of another pair is smaller
		chance = "smallest p of " + r.ranked[0].Name + " " + strings.TrimPrefix(chance, "smallest p ")
	}
	text := fmt.Sprintf("no cell has a significantly %s %s than all others: %s for %s (%s)", r.than(), r.what, figures, names, chance)
	if len(r.ranked) > fewNames {
		text = fmt.Sprintf("none of %d cells has a significantly %s %s than all others: %s (%s)", len(r.ranked), r.than(), r.what, r.fromTo(r.ranked), chance)
	}
	text += pairs
	if len(r.ranked) <= fewNames && verdict.EveryPairTied(r.ranked, r.better) {
		among := "between"
		if len(r.ranked) > 2 {
			among = "among"
		}
		text = fmt.Sprintf("no significant difference in %s %s %s: %s (%s)", r.what, among, names, figures, r.chance(r.ranked))
	}
	if lead == "" {
		return display.Capital(text)
	}
	return lead + text
}

// pairs names those of some cells of which one is significantly better than the other,
// although none is better than all others: "; B has a significantly lower p99 than C (p
// 0.013)". Of many it has the number; "" if every pair is tied.
func (r ranking) pairs(some []verdict.Contender) string {
	var clauses []string
	n := 0
	for _, x := range some {
		var worse []string
		most := 0.0
		for _, y := range some {
			if r.better(x, y) {
				worse, most = append(worse, y.Name), max(most, r.tests.Between(x.Cell, y.Cell).PFamily)
			}
		}
		if n += len(worse); len(worse) == 0 {
			continue
		}
		chance := "p " + display.Chance(most)
		if len(worse) > 1 {
			chance = "p at most " + display.Chance(most)
		}
		clauses = append(clauses, fmt.Sprintf("; %s has a significantly %s %s than %s (%s)", x.Name, r.than(), r.what, phrase.List(worse), chance))
	}
	if len(clauses) > 2 || len(some) > fewNames && n > 0 {
		return fmt.Sprintf("; %d of %d pairs differ significantly", n, len(some)*(len(some)-1)/2)
	}
	return strings.Join(clauses, "")
}

// notAhead names the cells that share the first place and are yet not significantly better
// than a cell behind it, which only the first of them is: "; B does not differ
// significantly from C (p 0.11)". Of many it has the number; "" if all are ahead.
func (r ranking) notAhead(first, rest []verdict.Contender) string {
	var clauses []string
	n := 0
	for _, x := range first[1:] {
		var alike []string
		least := 1.0
		for _, y := range verdict.Tied(x, rest, r.better) {
			alike, least = append(alike, y.Name), min(least, r.tests.Between(x.Cell, y.Cell).PFamily)
		}
		if n += len(alike); len(alike) == 0 {
			continue
		}
		chance := "p "
		if len(alike) > 1 {
			chance = "smallest p "
		}
		clauses = append(clauses, fmt.Sprintf("; %s does not differ significantly from %s (%s%s)", x.Name, phrase.List(alike), chance, display.Chance(least)))
	}
	if len(clauses) > 2 || len(r.ranked) > fewNames && n > 0 {
		return fmt.Sprintf("; %d of %d pairs of the two groups do not differ significantly", n, len(first)*len(rest))
	}
	return strings.Join(clauses, "")
}

// than compares one cell with the others: "lower", "higher".
func (r ranking) than() string {
	if r.best == "highest" {
		return "higher"
	}
	return "lower"
}

// leading words that several cells share the first place, before the others.
func (r ranking) leading(first []verdict.Contender) string {
	rest := verdict.Besides(r.ranked, first)
	var against string
	if len(rest) > fewNames {
		against = fmt.Sprintf("%s for the other %d cells", r.fromTo(rest), len(rest))
	} else {
		against = r.list(rest)
	}
	names, figures := r.namesAndFigures(first)
	if len(first) > fewNames {
		names, figures = fmt.Sprintf("%d cells", len(first)), r.fromTo(first)
	}
	pairs, chance := r.pairs(first), r.chance(first)
	if pairs != "" { // the chance of another pair is smaller
		chance = "smallest p of " + first[0].Name + " " + strings.TrimPrefix(chance, "smallest p ")
	}
	return fmt.Sprintf("%s have the %s %s (%s; no significant difference: %s) against %s", names, r.best, r.what, figures, chance, against) + pairs + r.notAhead(first, rest)
}

// chance is the smallest P between the first of some cells and the others.
func (r ranking) chance(some []verdict.Contender) string { return chance(r.tests, some) }

func chance(tests *verdict.Ranking, some []verdict.Contender) string {
	least := 1.0
	for _, c := range some[1:] {
		least = min(least, tests.Between(some[0].Cell, c.Cell).PFamily)
	}
	if len(some) == 2 {
		return "p " + display.Chance(least)
	}
	return "smallest p " + display.Chance(least)
}

// fromTo gives the first and the last of figures in their order.
func (r ranking) fromTo(all []verdict.Contender) string {
	first, last := r.figure(all[0]), r.figure(all[len(all)-1])
	if first == last {
		return first + " each"
	}
	return first + " to " + last
}

// namesAndFigures lists cells and, in the same order, their figures; a figure that
// all of them share is written once.
func (r ranking) namesAndFigures(all []verdict.Contender) (names, figures string) {
	var who, what []string
	for _, c := range all {
		who, what = append(who, c.Name), append(what, r.figure(c))
	}
	if len(slices.Compact(slices.Clone(what))) == 1 {
		return phrase.List(who), what[0] + " each"
	}
	return phrase.List(who), phrase.List(what)
}
