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
	"github.com/millicore/millicore/internal/base/digits"
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
			Why:  a.costs(best, rest),
			Do:   "use " + best.Name + ".",
		}
	case len(rest):
		return Answer{
			What: fmt.Sprintf("No significant difference: %s; %s.", each(found), least(tests, best, rest)),
			Why:  a.limit(best.Cell),
			Do:   "nothing: none was shown to be better.",
		}
	}
	first := append([]verdict.Contender{best}, level...)
	return Answer{
		What: fmt.Sprintf("The highest breaking points are %s, which do not differ significantly, against %s.", loads(first), loads(verdict.Besides(rest, level))),
		Why:  a.costs(best, verdict.Besides(rest, level)),
		Do:   "use " + alternatives(first) + ".",
	}
}

// costlier is how many times as much CPU a request uses that explains a difference.
const costlier = 1.15

// dearer states that a request of the worse cell uses clearly more CPU, under the same limit;
// "": it does not.
func dearer(best, worst verdict.Contender) string {
	own, known := verdict.FigureOf(best.Cell, "cpu_per_request")
	of, alsoKnown := verdict.FigureOf(worst.Cell, "cpu_per_request")
	if !known || !alsoKnown || !sameCPU(best.Cell, worst.Cell) || of.Value < costlier*own.Value {
		return ""
	}
	return fmt.Sprintf("a request of %s uses %s ms of CPU, of %s %s ms", worst.Name, digits.Three(of.Value), best.Name, digits.Three(own.Value))
}

// costs is why others break before the best: under the same limit a request uses more CPU.
// Otherwise it is what limits the best.
func (a *asked) costs(best verdict.Contender, others []verdict.Contender) string {
	worst := others[len(others)-1]
	if text := dearer(best, worst); text != "" && limitedByCPU(best.Cell) && limitedByCPU(worst.Cell) {
		return "the CPU limit: " + text + "."
	}
	return a.limit(best.Cell)
}

// limitedByCPU reports whether the CPU limit is what limits a cell.
func limitedByCPU(c *summary.Cell) bool {
	return c.Breaking.Contradiction == "" && (c.Breaking.LimitedBy == summary.ByCPULimit || c.Breaking.LimitedBy == summary.ByThrottling)
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
	do := a.next(found[0].Cell)
	if again, ok := strings.CutSuffix(do, ", and run it again."); ok {
		do = fmt.Sprintf("%s: --set measure.repeats=%d ranks them, then.", again, summary.EnoughTrials)
	}
	return Answer{What: what, Why: reason(found[0].Cell), Do: do}
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
	if shown := cells[0].Breaking.Shown; slices.ContainsFunc(shown, awake) {
		f := shown[slices.IndexFunc(shown, awake)]
		answer.Why = strings.TrimSuffix(answer.Why, ".") + "; " + neverSleep(f, "its CPU limit") + "."
	}
	if b := cells[0].Breaking; search.Ended(b.Ended).Changed() {
		what, why, _ := strings.Cut(narrative.Reason(b), "; ")
		answer.What, answer.Why = who+" has no breaking point: "+what+".", why+"."
		if search.Ended(b.Ended) == search.Uneven { // it may have one
			answer.What = "No breaking point was found for " + who + ": " + what + "."
		}
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
	case !b.AtLeast && slices.ContainsFunc(b.Shown, awake):
		if limitedByCPU(c) {
			return awakeAdvice + ", or raise the CPU limit."
		}
		return awakeAdvice + "."
	case b.LimitedBy == summary.ByHost:
		return "use a machine with more CPUs."
	case b.LimitedBy == summary.ByGenerator || search.Ended(b.Ended) == search.Limited:
		return "send the load from another machine."
	case search.Ended(b.Ended) == search.Rose:
		if a.s.Experiment.Server != nil {
			return "let it warm up longer before it is searched."
		}
		return fmt.Sprintf("let it warm up longer, and search again: --set measure.warmup=%.0fm.", max(1, math.Ceil(3*b.TrafficS/60)))
	case search.Ended(b.Ended) == search.Fell:
		return "look for what grows while it runs (memory, threads, connections, a queue, heat), or stops it now and then."
	case search.Ended(b.Ended) == search.Uneven:
		return a.longer(c)
	case b.Load() == nil && len(b.Why) > 0 && b.Why[0].Kind == finding.MissesInBursts:
		return stopsAdvice(b) + ", or relax the objective."
	case (b.Refuted.Kind == finding.LateBesideLimit || b.Refuted.Kind == finding.MissesWithoutLimit) && b.Load() != nil:
		return stopsAdvice(b) + "."
	case search.Ended(b.Ended) == search.Lowest && slices.ContainsFunc(b.Why, fails):
		return logAdvice
	case search.Ended(b.Ended) == search.Lowest && b.FirstKind != "":
		return "relax the objective, or make " + display.Plain(b.FirstKind) + " faster."
	case search.Ended(b.Ended) == search.Lowest:
		return "relax the objective, or make a single request faster."
	case b.Load() == nil && (search.Ended(b.Ended) == search.Gone || search.Ended(b.Ended) == search.Silent):
		return logAdvice
	case b.AtLeast && search.Ended(b.Ended) == search.Most, b.AtLeast && c.Load.Stages:
		return "raise the highest load, and run it again."
	case (b.Load() == nil || b.AtLeast) && search.Ended(b.Ended) == search.Time:
		return a.longer(c)
	case (b.Load() == nil || b.AtLeast) && search.Ended(b.Ended) == search.Interrupted:
		return toTheEnd
	case b.Load() == nil && b.Ended == "": // it could not be searched
		return logAdvice
	case b.Load() == nil, b.AtLeast:
		return a.undisturbed()
	}
	if slices.ContainsFunc(b.Shown, func(f finding.Finding) bool { return f.Kind == finding.AlsoCollected }) {
		return collectorAdvice
	}
	if len(b.Shown) > 0 && b.Shown[0].Kind == finding.LimitOrLock && a.s.Experiment.Server == nil {
		return fmt.Sprintf("search without the limit, which decides: --set services.%s.limits.cpu=null.", display.Plain(c.Service))
	}
	switch b.LimitedBy {
	case summary.ByCPULimit, summary.ByThrottling:
		return "raise the CPU limit, or add replicas."
	case summary.ByErrors:
		if len(b.Shown) > 0 && b.Shown[0].N == 0 && commonError(b.Shown[0]) == summary.BadStatus {
			return refusesAdvice
		}
		return logAdvice
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
		return threadsAdvice(b.Shown)
	case summary.ByDependency:
		if len(b.Shown) > 0 && b.Shown[0].Kind == finding.DependencyOrPool {
			return "time a call at a low load: if it takes as long, let more calls run at a time; else relieve the dependency."
		}
		return "give the dependency more CPU, or ask it less."
	case summary.ByService:
		if n := len(b.Shown); n > 1 && b.Shown[n-1].Kind == finding.AlsoWaited && b.Shown[n-1].Other >= b.Shown[n-1].Value/2 {
			return "let it make more calls at a time (threads, or a pool of connections), or ask its dependency less."
		}
		if len(b.Shown) > 0 && b.Shown[0].Kind == finding.KeepsUp {
			return traceAdvice
		}
		return stackAdvice
	}
	return ""
}

// stopsAdvice is what to look for if requests are late in bursts: of all kinds, or of one.
func stopsAdvice(b *summary.BreakingPoint) string {
	if b.FirstKind != "" {
		return "look for what " + display.Plain(b.FirstKind) + " waits for (a lock, a query, another service)"
	}
	return "look for what stops or slows it now and then (a collector, a checkpoint, a job, a wait for another service)"
}

// stackAdvice is how to find what requests wait for. A profile of CPU time does not show it.
const stackAdvice = "dump its threads' stacks under that load, and look where they wait."

// traceAdvice is how to find what single requests wait for where nothing is used up.
const traceAdvice = "trace a slow request under that load: timers, batches, a lock or a backend make it wait."

// fullLimit is the share of the CPU limit that busy threads use from which another thread
// needs a higher limit.
const fullLimit = 0.9

// threadsAdvice is what to do about busy threads, which may be a lock unless the threads were
// seen to be busy. A higher limit alone changes nothing for either.
func threadsAdvice(shown []finding.Finding) string {
	full := len(shown) > 0 && shown[0].Use.OfLimit != nil && *shown[0].Use.OfLimit >= fullLimit
	switch known := len(shown) > 0 && shown[0].Kind == finding.ThreadsFull; {
	case known && full:
		return "let more threads share the work and raise the CPU limit with them, or add replicas."
	case known:
		return "let more threads share the work, or add processes or replicas."
	case full:
		return "add threads and raise the CPU limit if its threads are busy (top -H), else look for a lock."
	}
	return "add threads or replicas if its threads are busy (top -H), else look for a lock."
}

// fails reports whether requests without a good answer, not late ones, miss an objective.
func fails(f finding.Finding) bool {
	switch f.Kind {
	case finding.FailsAtAnyLoad, finding.NothingAnswered, finding.WithoutGoodAnswer:
		return true
	}
	return slices.ContainsFunc(f.Because, fails)
}

// toTheEnd is what to do about a run that was interrupted.
const toTheEnd = "run it again, to its end."

// refusesAdvice is what to do about error answers of a service that used up nothing and did
// not die.
const refusesAdvice = "read its log: a rule of its own (a rate, a queue, a pool) may refuse requests."

// acceptAdvice is what to do about an accept queue that is full.
const acceptAdvice = "raise the backlog of its listening socket (and net.core.somaxconn), or accept faster."

// collectorAdvice is what to do about a CPU limit of which much collects garbage.
const collectorAdvice = "give its heap more memory, or raise the CPU limit."

// awakeAdvice is what to do about threads that never sleep.
const awakeAdvice = "let these threads sleep when they wait (top -H shows which)"

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
