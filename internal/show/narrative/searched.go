package narrative

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
)

// searched is the answer of a record that looked for breaking points: which cell
// holds the most, what limits it, and how far the others stay behind. Cells that
// intervals do not distinguish are not ranked, and a lower bound is named as such.
type searched struct {
	*answer
	found []verdict.Contender // the cells with a breaking point, the highest first
	tests *verdict.Ranking
	none  []int // those without
}

func (a *answer) searched() []string {
	found, none := verdict.BreakingContenders(a.s, a.names)
	return a.closing(searched{a, found, verdict.Rank(a.s, verdict.BreakingPointMetric), none}.sentences())
}

func (a searched) sentences() []string {
	if len(a.found) == 0 {
		return a.noneFound()
	}
	if len(a.found) > 1 && len(LoadUnits(a.s)) > 1 {
		return append(unlike(a.found), a.withoutPoint()...)
	}
	var all []string
	if len(a.found) == 1 {
		all = a.alone()
	} else {
		all = append(a.byLoad(), a.recoveries()...)
	}
	all = append(all, a.withoutPoint()...)
	if len(a.found) == 1 || len(verdict.Tied(a.found[0], a.found[1:], a.tests.Above)) == 0 {
		all = append(all, a.ofBest()...)
	}
	return all
}

// alone is the answer of the only cell with a breaking point.
func (a searched) alone() []string {
	c := a.found[0]
	text := breaks(c)
	if clause := recoveryClause(c.Cell); clause != "" {
		text += "; " + clause
	}
	all := []string{text + "."}
	if text := testedSentence(c.Cell); text != "" {
		all = append(all, text)
	}
	return all
}

// recoveries are the cells that do not recover from an overload, of several, and those
// whose breaking points are untested.
func (a searched) recoveries() []string {
	var all, untested []string
	for _, c := range a.found {
		if clause := recoveryClause(c.Cell); clause != "" {
			all = append(all, c.Name+": "+clause+".")
		}
		if c.Cell.Breaking.Untested {
			untested = append(untested, c.Name)
		}
	}
	switch n := len(untested); {
	case n == 0:
	case n > fewNames:
		all = append(all, fmt.Sprintf("%d of the breaking points are untested: no test window near them met the objective.", n))
	default:
		all = append(all, "Untested, as no test window near it met the objective: "+phrase.List(untested)+".")
	}
	return all
}

// ofBest is what else is known of the cell that holds the most.
func (a searched) ofBest() []string {
	var all []string
	best := a.found[0].Cell
	if text := contradicted(best.Breaking); text != "" {
		all = append(all, text)
	}
	if text := Reason(best.Breaking); text != "" && !best.Breaking.AtLeast {
		all = append(all, sentence(text))
	}
	if best.Knee != nil {
		who := "Its "
		if len(a.found) > 1 {
			who = a.found[0].Name + "'s "
		}
		all = append(all, who+kneeShort(best)+".")
	}
	return all
}

// breaks is where one cell breaks, and why; without a full stop, because more may
// follow.
func breaks(c verdict.Contender) string {
	b := c.Cell.Breaking
	label := display.Plain(c.Cell.Label)
	if b.AtLeast {
		return fmt.Sprintf("%s %s at least %s %s: %s", label, breaksAt(b), LoadFigure(b, c.Value), LoadUnit(c.Cell), BoundReason(b))
	}
	text := fmt.Sprintf("%s %s %s %s", label, breaksAt(b), LoadFigure(b, c.Value), LoadUnit(c.Cell))
	if ends := BreakInterval(b); ends != "" {
		text += " (" + ends + ")"
	}
	if b.LimitedBy != "" {
		text += ", limited by " + LimitPhrase(b.LimitedBy)
	}
	return text
}

// byLoad words several breaking points in one unit, the highest first.
func (a searched) byLoad() []string {
	best := a.found[0]
	level := verdict.Tied(best, a.found[1:], a.tests.Above)
	rest := verdict.Besides(a.found[1:], level)
	var text string
	if len(level) == 0 {
		text = breaks(best) + "; " + times(best, rest)
	} else {
		text = a.together(append([]verdict.Contender{best}, level...), rest)
	}
	all := []string{text + "."}
	if first := append([]verdict.Contender{best}, level...); len(level) > 0 && a.fewSearched(first) != "" {
		all = append(all, a.rankingNeeds(first))
	}
	if text := a.unordered(rest); text != "" {
		all = append(all, text)
	}
	return all
}

// times is how many times the load of the others the best one holds. Lower bounds are
// not among the others, because their interval has no upper end.
func times(best verdict.Contender, rest []verdict.Contender) string {
	one := func(c verdict.Contender) string {
		return fmt.Sprintf("%s times %s (%s)", ratio(best.Value/c.Value), c.Name, LoadFigure(c.Cell.Breaking, c.Value))
	}
	prefix := ""
	if best.Cell.Breaking.AtLeast {
		prefix = "at least "
	}
	if len(rest) > fewNames {
		return fmt.Sprintf("%s%s, the next of %d cells, and %s, the last", prefix, one(rest[0]), len(rest)+1, one(rest[len(rest)-1]))
	}
	var words []string
	for _, c := range rest {
		words = append(words, one(c))
	}
	return prefix + phrase.List(words)
}

// ratio writes how many times one figure is another.
func ratio(v float64) string {
	switch {
	case v < 1.095:
		return fmt.Sprintf("%.2f", v)
	case v < 9.95:
		return fmt.Sprintf("%.1f", v)
	}
	return display.Grouped(int64(math.Round(v)))
}

// together words that several cells share the first place.
func (a searched) together(first, rest []verdict.Contender) string {
	who, they := reached(first)
	among := "between"
	if len(first) > 2 {
		among = "among"
	}
	var text string
	switch few, bounds := a.fewSearched(first), lowerBoundsAmong(first); {
	case few != "":
		text = fmt.Sprintf("No ranking: %s, %s", strings.TrimSpace(who+" "+they), few)
	case bounds != "":
		text = fmt.Sprintf("No ranking: %s, and %s", strings.TrimSpace(who+" "+they), bounds)
	case verdict.EveryPairTied(first, a.tests.Above):
		text = fmt.Sprintf("No significant difference %s %s: they %s (%s)", among, who, they, chance(a.tests, first))
	default:
		text = fmt.Sprintf("No significantly highest breaking point among %s: they %s (%s)", who, they, chance(a.tests, first))
	}
	switch {
	case len(rest) > fewNames:
		text += fmt.Sprintf("; the other %d break at %s and below", len(rest), LoadFigure(rest[0].Cell.Breaking, rest[0].Value))
	case len(rest) > 0:
		var words []string
		for _, c := range rest {
			words = append(words, fmt.Sprintf("%s (%s)", c.Name, LoadFigure(c.Cell.Breaking, c.Value)))
		}
		verb := " break at a lower load"
		if len(rest) == 1 {
			verb = " breaks at a lower load"
		}
		text += "; " + phrase.List(words) + verb
	}
	return text
}

// reached names cells, and states what they hold or where they break. If some hold at
// least a load and others break at one, each has its own verb, and who is empty.
func reached(all []verdict.Contender) (who, they string) {
	unit := LoadUnit(all[0].Cell)
	bounds := 0
	for _, c := range all {
		if c.Cell.Breaking.AtLeast {
			bounds++
		}
	}
	who, loads := placed(all)
	they = "break at "
	switch {
	case bounds == len(all):
		they = "hold "
	case bounds > 0 && len(all) > fewNames:
		they = "reach "
	case bounds > 0:
		return "", byVerb(all) + " " + unit
	}
	if strings.HasPrefix(loads, "each ") {
		they, loads = "each "+they, strings.TrimPrefix(loads, "each ")
	}
	return who, they + loads + " " + unit
}

// byVerb states what cells hold, and where the others break: those with the same verb
// together, as in "a and b break at 400 (380–410) and 300 (290–310), and c holds at least
// 600".
func byVerb(all []verdict.Contender) string {
	var verbs, parts []string
	same := map[string][]verdict.Contender{}
	for _, c := range all {
		verb := breaksAt(c.Cell.Breaking)
		if same[verb] == nil {
			verbs = append(verbs, verb)
		}
		same[verb] = append(same[verb], c)
	}
	for _, verb := range verbs {
		some := same[verb]
		who, loads := placed(some)
		each, shared := strings.CutPrefix(loads, "each ")
		switch {
		case len(some) == 1:
			loads = each
		case shared:
			verb, loads = "each "+several[verb], each
		default:
			verb = several[verb]
		}
		parts = append(parts, who+" "+verb+" "+loads)
	}
	return strings.Join(parts, ", and ")
}

// several are the verbs of breaksAt for more than one cell.
var several = map[string]string{"breaks at": "break at", "holds": "hold", "breaks at an estimated": "break at an estimated", "is estimated to hold": "are estimated to hold"}

// placed names cells and, in the same order, their breaking points; "each" stands
// before one that all of them share.
func placed(all []verdict.Contender) (who, loads string) {
	figure := func(c verdict.Contender) string { return BreakFigure(c.Cell.Breaking) }
	if len(all) > fewNames {
		last := all[len(all)-1]
		return fmt.Sprintf("%d cells", len(all)), fmt.Sprintf("%s (%s) down to %s (%s)", figure(all[0]), all[0].Name, figure(last), last.Name)
	}
	var names, figures []string
	for _, c := range all {
		names, figures = append(names, c.Name), append(figures, figure(c))
	}
	if len(slices.Compact(slices.Clone(figures))) == 1 {
		return phrase.List(names), "each " + figures[0]
	}
	return phrase.List(names), phrase.List(figures)
}

// lowerBoundsAmong names the breaking points that are lower bounds; "": none is.
func lowerBoundsAmong(all []verdict.Contender) string {
	var bounds []string
	for _, c := range all {
		if c.Cell.Breaking.AtLeast {
			bounds = append(bounds, c.Name)
		}
	}
	switch n := len(bounds); {
	case n == 0:
		return ""
	case n == 1:
		return "that of " + bounds[0] + " is a lower bound"
	case n > fewNames:
		return fmt.Sprintf("%d of these are lower bounds", n)
	}
	return "those of " + phrase.List(bounds) + " are lower bounds"
}

// fewSearched is why cells cannot be ranked: "measured by 1 search per cell"; "": they
// can.
func (a searched) fewSearched(all []verdict.Contender) string {
	fewest, most, gap := math.MaxInt, 0, false
	for _, c := range all {
		if a.tests.Gap(c.Cell) == summary.OneStart {
			return "measured on one start of each service"
		}
		gap = gap || a.tests.Gap(c.Cell) != ""
		fewest, most = min(fewest, max(c.Trials, 1)), max(most, c.Trials)
	}
	if !gap {
		return ""
	}
	what := "search"
	if all[0].Cell.Load.Stages {
		what = "ramp"
	}
	text := fmt.Sprintf("%d %s per cell", fewest, plural(what, fewest))
	if fewest < most {
		text = "as few as " + text
	}
	return "measured by " + text
}

// rankingNeeds is how often cells must be measured to be ranked.
func (a searched) rankingNeeds(all []verdict.Contender) string {
	if strings.HasPrefix(a.fewSearched(all), "measured on one") {
		return "Results differ from start to start; a ranking needs trials that restart the service (restart: true)."
	}
	several := "searches"
	if all[0].Cell.Load.Stages {
		several = "ramps"
	}
	return fmt.Sprintf("Results differ from start to start; a ranking needs at least %d %s per cell (measure.repeats, %d advised).",
		verdict.Needs(len(a.found)), several, summary.EnoughTrials)
}

// unordered names neighbours in the order of breaking points that cannot be
// distinguished, behind the first place.
func (a searched) unordered(rest []verdict.Contender) string {
	var groups []string
	for i := 0; i < len(rest); {
		k := i + 1
		for k < len(rest) && !a.tests.Above(rest[k-1], rest[k]) {
			k++
		}
		if k > i+1 {
			var names []string
			for _, c := range rest[i:k] {
				names = append(names, c.Name)
			}
			if len(names) > fewNames {
				names = []string{names[0], fmt.Sprintf("%d more", len(names)-1)}
			}
			groups = append(groups, phrase.List(names))
		}
		i = k
	}
	if len(groups) == 0 {
		return ""
	}
	return "The order of " + strings.Join(groups, ", and that of ") + " is not significant."
}

// unlike words breaking points that are counted in different units.
func unlike(found []verdict.Contender) []string {
	var all []string
	for _, c := range found[:min(len(found), fewNames)] {
		all = append(all, breaks(c)+".")
	}
	return append(all, "Users and requests/s do not compare.")
}

// noneFound words a record in which no search gave an answer.
func (a searched) noneFound() []string {
	if len(a.none) > 1 {
		same := Reason(a.s.Cells[a.none[0]].Breaking)
		if !slices.ContainsFunc(a.none, func(i int) bool { return Reason(a.s.Cells[i].Breaking) != same }) {
			return []string{notFound(fmt.Sprintf("any of the %d cells", len(a.none)), same)}
		}
	}
	return a.withoutPoint()
}

// withoutPoint names the cells whose search gave no answer, and why: those with the
// same reason together.
func (a searched) withoutPoint() []string {
	if len(a.none) > fewNames {
		return []string{fmt.Sprintf("No breaking point was found for %d of %d cells.", len(a.none), len(a.s.Cells))}
	}
	var reasons []string
	names := map[string][]string{}
	for _, i := range a.none {
		why := Reason(a.s.Cells[i].Breaking)
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], a.names[i])
	}
	var all []string
	for _, why := range reasons {
		all = append(all, notFound(phrase.List(names[why]), why))
	}
	return all
}

// notFound states that cells have no breaking point, and why if that is known.
func notFound(who, why string) string {
	text := "No breaking point was found for " + who
	if why != "" {
		text += ": " + why
	}
	return text + "."
}

// sentence gives a text a capital letter and a full stop.
func sentence(text string) string { return display.Capital(text) + "." }
