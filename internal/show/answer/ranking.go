package answer

import (
	"fmt"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
)

// ranking is the answer about which of several cells has the best figure.
type ranking struct {
	*asked
	inPlan []verdict.Contender // in the order of the plan
	ranked []verdict.Contender // the best first
	tests  *verdict.Ranking
	best   string // "lowest", "highest"
	what   string // "p99"
	figure func(verdict.Contender) string
	// interval follows the figure of the best; nil: there is none.
	interval func(*summary.Cell) string
}

// better reports whether x was shown to be better than y.
func (r *ranking) better(x, y verdict.Contender) bool {
	if r.best == "highest" {
		return r.tests.Above(x, y)
	}
	return r.tests.Below(x, y)
}

func (r *ranking) answer() Answer {
	answer := r.order()
	n, left := len(r.s.Cells), 0
	for i := range r.s.Cells {
		switch r.tests.Gap(&r.s.Cells[i]) {
		case summary.DisturbedTrials:
			left++
			answer.Do = r.undisturbed()
		case summary.GeneratorsDelay:
			left++
			answer.Do = generatorAdvice
		}
	}
	if left > 0 && n-left > 1 {
		answer.What = fmt.Sprintf("Of %d of %d cells, %s", n-left, n, answer.What)
	}
	return answer
}

// order is the answer about the cells that were tested.
func (r *ranking) order() Answer {
	tested := slices.DeleteFunc(slices.Clone(r.ranked), func(c verdict.Contender) bool { return r.tests.Gap(c.Cell) != "" })
	if len(tested) < 2 {
		return r.untested()
	}
	best, rest := tested[0], tested[1:]
	level := verdict.Tied(best, rest, r.better)
	behind := verdict.Besides(rest, level)
	switch {
	case len(level) == 0:
		figure := r.figure(best)
		if r.interval != nil && figure != failing {
			figure += r.interval(best.Cell)
		}
		return Answer{
			What: fmt.Sprintf("%s has the %s %s: %s, against %s; %s.", best.Name, r.best, r.what, figure, r.list(r.planned(rest)), chance(r.tests, best, rest)),
			Why:  r.contrast(best, rest),
			Do:   r.use([]verdict.Contender{best}, rest),
		}
	case len(behind) == 0:
		return Answer{
			What: fmt.Sprintf("No significant difference in %s: %s; %s.", r.what, r.list(r.planned(tested)), least(r.tests, best, rest)),
			Do:   r.more(),
		}
	}
	first := r.planned(append([]verdict.Contender{best}, level...))
	return Answer{
		What: fmt.Sprintf("The %s %s have %s, which do not differ significantly, against %s.", r.best, r.what, r.list(first), r.list(r.planned(behind))),
		Why:  r.contrast(best, behind),
		Do:   r.use(first, behind),
	}
}

// matters is the difference of two figures, as a share of the better one, below which nobody
// needs to change a setting.
const matters = 0.05

// use is what to do about cells that are better than the others.
func (r *ranking) use(first, behind []verdict.Contender) string {
	best, worst := first[0], behind[len(behind)-1]
	all := slices.Concat(first, behind)
	limits := slices.ContainsFunc(all, func(c verdict.Contender) bool { return !sameCPU(c.Cell, best.Cell) })
	missed := slices.ContainsFunc(all, func(c verdict.Contender) bool {
		met, known := objectiveMet(c.Cell)
		return c.Cell.Objective != nil && !(met && known)
	})
	switch {
	case limits:
		return "choose the lowest CPU limit that meets your objective."
	case !missed && !worst.AtLeast && math.Abs(worst.Value-best.Value) < matters*math.Abs(best.Value):
		return fmt.Sprintf("nothing: the difference is below %.0f%%.", 100*matters)
	case r.s.Kind() == summary.KindTraffic:
		return "use " + alternatives(first) + " at this load."
	}
	return "use " + alternatives(first) + "."
}

// disturbedMuch is the share of disturbed trials from which more of them decide nothing.
const disturbedMuch = 0.25

// more is what would show a difference, or decide whether an objective is met.
func (a *asked) more() string {
	if d := verdict.DisturbancesOf(a.counted()); d.Kept > 0 && float64(d.Trials.Disturbed) >= disturbedMuch*float64(d.Trials.Of) {
		return a.undisturbed()
	}
	for i := range a.s.Cells {
		if text := a.decides(&a.s.Cells[i]); text != "" {
			return text
		}
	}
	return "nothing: none was shown to be better."
}

// untested is the answer about cells that were not tested against one another.
func (r *ranking) untested() Answer {
	answer := Answer{What: fmt.Sprintf("Not ranked: %s %s.", r.what, r.list(r.inPlan))}
	fewest := r.inPlan[0].Trials
	for _, c := range r.inPlan {
		fewest = max(1, min(fewest, c.Trials))
	}
	answer.Why, answer.Do = r.gap(r.inPlan, r.tests, fewest, "trial")
	return answer
}

// gap is why cells were not tested against one another, and what to do about it.
func (a *asked) gap(cells []verdict.Contender, tests *verdict.Ranking, fewest int, unit string) (why, do string) {
	gap := summary.Gap("")
	for _, c := range cells {
		if own := tests.Gap(c.Cell); own != "" {
			gap = own
		}
	}
	switch gap {
	case "":
		return "", ""
	case summary.OneStart:
		return "the services were not restarted, so each shows one start.", "set measure.restart to true, and run it again."
	case summary.FewRequests:
		return fmt.Sprintf("%s needs %s requests of each cell.", a.quantile(), display.Grouped(verdict.RequestsFor(a.s.Quantile()))), a.longEnough(verdict.Cells(cells))
	case summary.DisturbedTrials:
		return uncapital(a.disturbed()), a.undisturbed()
	case summary.GeneratorsDelay:
		return "the slow tail is mostly the generator's own.", generatorAdvice
	}
	why = fmt.Sprintf("%s of each, and starts differ: a ranking needs %d.", display.Counted(int64(fewest), unit), verdict.Needs(len(cells)))
	if a.s.Experiment.Interrupted {
		return why, toTheEnd
	}
	return why, fmt.Sprintf("run it again with --set measure.repeats=%d.", summary.EnoughTrials)
}

// planned are some of the cells, in the order of the plan.
func (r *ranking) planned(some []verdict.Contender) []verdict.Contender {
	return verdict.Besides(r.inPlan, verdict.Besides(r.inPlan, some))
}

// list writes contenders with their figures: "18.4 ms (A) and 18.9 ms (B)". Of many it has
// the ends.
func (r *ranking) list(all []verdict.Contender) string {
	one := func(c verdict.Contender) string {
		if r.figure(c) == failing {
			return c.Name + ", " + failing
		}
		return fmt.Sprintf("%s (%s)", r.figure(c), c.Name)
	}
	if len(all) > fewNames {
		in := verdict.Besides(r.ranked, verdict.Besides(r.ranked, all))
		return fmt.Sprintf("%s to %s in %d cells", one(in[0]), one(in[len(in)-1]), len(in))
	}
	var words []string
	for _, c := range all {
		words = append(words, one(c))
	}
	return phrase.List(words)
}

// alternatives names cells of which any will do: "A or B".
func alternatives(all []verdict.Contender) string {
	if len(all) > fewNames {
		return fmt.Sprintf("any of the %d", len(all))
	}
	text := all[0].Name
	for i, c := range all[1:] {
		if i == len(all)-2 {
			text += " or " + c.Name
		} else {
			text += ", " + c.Name
		}
	}
	return text
}

// least is the lowest P, corrected over all pairs, of one cell against others: "p 0.24",
// "smallest p 0.24".
func least(tests *verdict.Ranking, one verdict.Contender, others []verdict.Contender) string {
	lowest := 1.0
	for _, c := range others {
		lowest = min(lowest, tests.Between(one.Cell, c.Cell).PFamily)
	}
	if len(others) == 1 {
		return "p " + display.Chance(lowest)
	}
	return "smallest p " + display.Chance(lowest)
}

// chance is the highest P, corrected over all pairs, of one cell against others: "p 0.002".
func chance(tests *verdict.Ranking, one verdict.Contender, others []verdict.Contender) string {
	highest := 0.0
	for _, c := range others {
		highest = max(highest, tests.Between(one.Cell, c.Cell).PFamily)
	}
	return "p " + display.Chance(highest)
}
