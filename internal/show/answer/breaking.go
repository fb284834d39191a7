package answer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// breaking is the answer about breaking points, by searches or by ramps.
func (a *asked) breaking() Answer {
	found, none := verdict.BreakingContenders(a.s, a.names)
	switch {
	case len(found) == 0:
		return a.noneFound(none)
	case len(found) == 1:
		c := found[0]
		return Answer{What: c.Name + " " + breaks(c.Cell) + ".", Why: a.limit(c.Cell), Do: a.next(c.Cell)}
	case len(narrative.LoadUnits(a.s)) > 1:
		return Answer{What: each(found) + ".", Why: "users and requests/s do not compare."}
	}
	tests := verdict.Rank(a.s, verdict.BreakingPointMetric)
	best, rest := found[0], found[1:]
	level := verdict.Tied(best, rest, tests.Above)
	if len(level) > 0 {
		if answer, ok := a.unranked(found, tests); ok {
			return answer
		}
	}
	switch len(level) {
	case 0:
		return Answer{
			What: fmt.Sprintf("%s %s, against %s; %s.", best.Name, breaks(best.Cell), loads(rest), chance(tests, best, rest)),
			Why:  a.limit(best.Cell),
			Do:   "use " + best.Name + ".",
		}
	case len(rest):
		return Answer{
			What: fmt.Sprintf("No significant difference: %s; %s.", each(found), least(tests, best, rest)),
			Why:  a.limit(best.Cell),
			Do:   "nothing: none was shown to be better. More searches show smaller differences (measure.repeats).",
		}
	}
	first := append([]verdict.Contender{best}, level...)
	return Answer{
		What: fmt.Sprintf("The highest breaking points are %s, which do not differ significantly, against %s.", loads(first), loads(verdict.Besides(rest, level))),
		Why:  a.limit(best.Cell),
		Do:   "use " + alternatives(first) + ".",
	}
}

// breaks is where a cell breaks: "breaks at 352 requests/s (338–366)".
func breaks(c *summary.Cell) string {
	b := c.Breaking
	verb := "breaks at"
	switch {
	case b.AtLeast && b.Untested:
		verb = "is estimated to hold"
	case b.AtLeast:
		verb = "holds"
	case b.Untested:
		verb = "breaks at an estimated"
	}
	return verb + " " + load(c)
}

// load is a breaking point with its unit: "352 requests/s (338–366)", "at least 900 users".
func load(c *summary.Cell) string {
	b := c.Breaking
	text := narrative.LoadFigure(b, *b.Load()) + " " + narrative.LoadUnit(c)
	if b.AtLeast {
		return "at least " + text
	}
	if ends := narrative.BreakInterval(b); ends != "" {
		text += " (" + ends + ")"
	}
	return text
}

// each states where each of several cells breaks.
func each(found []verdict.Contender) string {
	if len(found) > fewNames {
		return fmt.Sprintf("%d cells break at %s", len(found), loads(found))
	}
	var parts []string
	for _, c := range found {
		parts = append(parts, c.Name+" "+breaks(c.Cell))
	}
	return strings.Join(parts, "; ")
}

// loads lists breaking points: "352 (A) and 300 requests/s (B)", and the ends of many.
func loads(found []verdict.Contender) string {
	one := func(c verdict.Contender) string {
		text := narrative.LoadFigure(c.Cell.Breaking, c.Value)
		if c.AtLeast {
			text = "at least " + text
		}
		return text + " (" + c.Name + ")"
	}
	if len(found) > fewNames {
		return one(found[0]) + " to " + one(found[len(found)-1])
	}
	var words []string
	for _, c := range found {
		words = append(words, one(c))
	}
	return phrase.List(words)
}

// unranked is the answer about cells that were not tested against one another; false: they
// were.
func (a *asked) unranked(found []verdict.Contender, tests *verdict.Ranking) (Answer, bool) {
	if !slices.ContainsFunc(found, func(c verdict.Contender) bool { return !c.AtLeast }) {
		return a.onlyBounds(found), true
	}
	fewest := found[0].Trials
	for _, c := range found {
		fewest = max(1, min(fewest, c.Trials))
	}
	unit := "run"
	if found[0].Cell.Load.Stages {
		unit = "ramp"
	}
	why, do := a.gap(found, tests, fewest, unit)
	if a.restless(verdict.Cells(found)) {
		do = a.undisturbed()
	}
	return Answer{What: "Not ranked: " + each(found) + ".", Why: why, Do: do}, why != ""
}

// onlyBounds is the answer about cells that all hold at least a load.
func (a *asked) onlyBounds(found []verdict.Contender) Answer {
	what := each(found) + "."
	same := !slices.ContainsFunc(found, func(c verdict.Contender) bool { return load(c.Cell) != load(found[0].Cell) })
	if same {
		var names []string
		for _, c := range found {
			names = append(names, c.Name)
		}
		if what = phrase.List(names); len(names) > fewNames {
			what = fmt.Sprintf("all %d cells", len(names))
		}
		what += " each hold " + load(found[0].Cell) + ": not ranked."
	}
	return Answer{What: what, Why: reason(found[0].Cell), Do: a.next(found[0].Cell)}
}

// searches counts searches or ramps of a cell.
func searches(c *summary.Cell, n int) string {
	switch {
	case c.Load.Stages:
		return display.Counted(int64(n), "ramp")
	case n == 1:
		return "one search"
	}
	return fmt.Sprintf("%d searches", n)
}

// noneFound is the answer of searches that found no breaking point.
func (a *asked) noneFound(none []int) Answer {
	var names []string
	var cells []*summary.Cell
	for _, i := range none {
		names, cells = append(names, a.names[i]), append(cells, &a.s.Cells[i])
	}
	who := phrase.List(names)
	if len(names) > fewNames {
		who = fmt.Sprintf("any of %d cells", len(names))
	}
	return a.notFound(who, cells)
}

// notFound is the answer about cells, named who, without a breaking point. The reason is
// that of the first.
func (a *asked) notFound(who string, cells []*summary.Cell) Answer {
	answer := Answer{What: "No breaking point was found for " + who + ".", Why: reason(cells[0]), Do: a.next(cells[0])}
	if b := cells[0].Breaking; search.Ended(b.Ended).Changed() {
		what, why, _ := strings.Cut(narrative.Reason(b), "; ")
		answer.What, answer.Why = who+" has no breaking point: "+what+".", why+"."
	}
	if a.restless(cells) {
		answer.Why, answer.Do = uncapital(a.disturbed()), a.undisturbed()
	}
	return answer
}

// reason is why a search found nothing, or only a bound.
func reason(c *summary.Cell) string {
	if text := narrative.Reason(c.Breaking); text != "" {
		first, _, _ := strings.Cut(text, ";")
		return first + "."
	}
	return ""
}

// next is what to do about a cell that was searched.
func (a *asked) next(c *summary.Cell) string {
	b := c.Breaking
	switch {
	case a.restless([]*summary.Cell{c}) && (b.Load() == nil || b.AtLeast || b.Untested):
		return a.undisturbed()
	case b.LimitedBy == summary.ByHost:
		return "use a machine with more CPUs."
	case b.LimitedBy == summary.ByGenerator || search.Ended(b.Ended) == search.Limited:
		return "send the load from another machine."
	case search.Ended(b.Ended) == search.Rose:
		if a.s.Experiment.Server != nil {
			return "let it warm up longer before it is searched."
		}
		return "let it warm up longer, and search again: --set measure.warmup=1m."
	case search.Ended(b.Ended) == search.Fell:
		return "look for what grows while it runs (memory, threads, connections, a queue, heat), or stops it now and then."
	case b.Load() == nil && len(b.Why) > 0 && b.Why[0].Kind == finding.MissesInBursts:
		return "look for what stops or slows it now and then (a collector, a checkpoint, a job), or raise the objective."
	case search.Ended(b.Ended) == search.Lowest:
		return "raise the objective, or look at the log of the service: no load meets it."
	case b.AtLeast && search.Ended(b.Ended) == search.Most, b.AtLeast && c.Load.Stages:
		return "raise the highest load, and run it again."
	case b.Load() == nil, b.AtLeast:
		return a.longer(c)
	}
	if len(b.Shown) > 0 && b.Shown[0].Kind == finding.LimitOrLock && a.s.Experiment.Server == nil {
		return fmt.Sprintf("search without the limit, which decides: --set services.%s.limits.cpu=null.", display.Plain(c.Service))
	}
	switch b.LimitedBy {
	case summary.ByCPULimit, summary.ByThrottling:
		return "raise the CPU limit, or add replicas."
	case summary.ByAcceptQueue:
		return acceptAdvice
	case summary.ByDelayedAck:
		return ackAdvice
	case summary.ByMemory:
		if len(b.Shown) > 0 && b.Shown[0].Kind != finding.OOMKills {
			return ownAdvice[summary.ByMemory]
		}
		return "raise the memory limit, or look for what grows."
	case summary.ByParallelism:
		if len(b.Shown) > 0 && b.Shown[0].Kind == finding.ThreadsFull {
			return "let more threads share the work, or add processes or replicas."
		}
		return "add threads or replicas if its threads are busy (top -H), else look for a lock."
	case summary.ByDependency:
		return "give the dependency more CPU, or ask it less."
	case summary.ByService:
		return "look for a lock, a pool or a backend: --set measure.profile=true shows the code."
	}
	return ""
}

// acceptAdvice is what to do about an accept queue that is full.
const acceptAdvice = "raise the backlog of its listening socket (and net.core.somaxconn), or accept faster."

// ackAdvice is what to do about answers in parts.
const ackAdvice = "set TCP_NODELAY on its connections, or write each answer at once."

// longer is how a search gets twice its time.
func (a *asked) longer(c *summary.Cell) string {
	flag := "--set measure.duration="
	if a.s.Experiment.Server != nil {
		flag = "--traffic "
	}
	return fmt.Sprintf("give it more time: %s%.0fm.", flag, max(2, math.Ceil(2*c.Breaking.TrafficS/60)))
}

// restless reports whether others took CPU while cells were searched.
func (a *asked) restless(cells []*summary.Cell) bool {
	return slices.ContainsFunc(cells, func(c *summary.Cell) bool {
		d := c.Disturbance
		return d != nil && 2*d.Disturbed > d.Trials
	})
}

// uncapital begins a text in the middle of a line.
func uncapital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToLower(text[:1]) + text[1:]
}
