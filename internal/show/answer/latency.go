package answer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/lab/wording"
	"github.com/millicore/millicore/internal/show/narrative"
)

// quantile is the latency by which cells are compared: "p99".
func (a *asked) quantile() string { return narrative.QuantileName(a.s.Quantile()) }

// latencies is the answer about several cells under a constant load.
func (a *asked) latencies() Answer {
	inPlan := a.comparable()
	switch len(inPlan) {
	case 0:
		return a.availabilities()
	case 1:
		return a.onlyOne(inPlan[0])
	}
	r := ranking{a, inPlan, verdict.Sorted(inPlan), verdict.Rank(a.s, summary.LatencyPath(a.s.Quantile())), "lowest", a.quantile(),
		func(c verdict.Contender) string {
			if c.AtLeast {
				return failing
			}
			return display.WithUnit(c.Value)
		}, a.interval}
	answer := r.answer()
	if text := a.objectives(); text != "" {
		answer.What += " " + text
	}
	return answer
}

// onlyOne is the answer about several cells of which only one can be compared. Others that
// fail lose against it by how many requests they answer.
func (a *asked) onlyOne(one verdict.Contender) Answer {
	i := a.place(one.Cell)
	answer := Answer{What: "Only " + strings.Replace(a.measured(i), ":", " can be compared:", 1)}
	if beside := a.failingBeside(one.Cell); beside != notCompared {
		answer.What = strings.TrimSuffix(a.measured(i), ".") + "; " + beside + "."
	}
	for k := range a.s.Cells {
		c := &a.s.Cells[k]
		switch {
		case k == i || c.Skipped():
		case c.MostlyDisturbed():
			return Answer{What: answer.What, Why: "others disturbed most trials of " + a.names[k] + ".", Do: a.undisturbed()}
		case causes.GeneratorsTail(c):
			return Answer{What: answer.What, Why: "the generator made the slow tail of " + a.names[k] + ".", Do: generatorAdvice}
		case c.Has(summary.FlagOOMKilled):
			answer.Why = a.names[k] + " was killed at its memory limit."
		case answer.Why == "" && worst(c) != "":
			answer.Why = fmt.Sprintf("of %s, %s", a.names[k], worst(c))
		}
	}
	if met, judged := objectiveMet(one.Cell); answer.Why != "" && (met || !judged) {
		answer.Do = "use " + one.Name + "."
	}
	return answer
}

// interval is the 95% interval of a cell's latency over its trials, as it follows the figure:
// " (92.0–112)"; "": there is none.
func (a *asked) interval(c *summary.Cell) string {
	low, high, what := verdict.SpreadOf(c, a.s.Quantile())
	if what != verdict.IntervalOfTrials {
		return ""
	}
	return fmt.Sprintf(" (%s–%s)", display.Figure(low), display.Figure(high))
}

// availabilities is the answer about several cells of which none answers enough of its
// requests for its latency to be compared, or of which the generator made the slow tails.
func (a *asked) availabilities() Answer {
	var failing []verdict.Contender
	for _, i := range a.good {
		if one, ok := verdict.ContenderOf(&a.s.Cells[i], a.names[i], "availability"); ok && !answersEnough(one.Cell) {
			failing = append(failing, one)
		}
	}
	if len(failing) == 0 {
		return Answer{What: fmt.Sprintf("%s is not compared.", display.Capital(a.quantile())), Why: "the slow tails are mostly the generator's own.", Do: generatorAdvice}
	}
	if len(failing) == 1 {
		return Answer{What: fmt.Sprintf("Only %s of the requests were answered: %s is not compared.", answered(failing[0]), a.quantile())}
	}
	ranked := verdict.Sorted(failing)
	slices.Reverse(ranked)
	r := ranking{a, failing, ranked, verdict.Rank(a.s, "availability"), "highest", "availability", answered, nil}
	answer := r.answer()
	answer.Why, answer.Do = "so many requests failed that "+a.quantile()+" is not compared.", logAdvice
	return answer
}

// answered is the availability of a cell.
func answered(c verdict.Contender) string { return display.Percent(c.Value) }

// answersEnough reports whether a cell answered enough requests for its latency to be compared.
func answersEnough(c *summary.Cell) bool {
	return c.Availability == nil || *c.Availability >= verdict.EnoughAnswers
}

// failingBeside are the cells beside the only one that answers enough: which of them were
// shown to answer less, and that the others are not compared.
func (a *asked) failingBeside(one *summary.Cell) string {
	tests := verdict.Rank(a.s, "availability")
	var less []string
	highest := 0.0
	for _, i := range a.good {
		c := &a.s.Cells[i]
		e := tests.Between(c, one)
		if e.Sign >= 0 || answersEnough(c) {
			continue
		}
		less = append(less, fmt.Sprintf("%s (%s)", a.names[i], display.Percent(*c.Availability)))
		highest = max(highest, e.PFamily)
	}
	verb := "answer"
	switch n := len(less); {
	case n == 0 || n+1 < len(a.good) || n > fewNames:
		return notCompared
	case n == 1:
		verb = "answers"
	}
	return fmt.Sprintf("%s %s fewer requests, p %s", phrase.List(less), verb, display.Chance(highest))
}

const notCompared = "the others are not compared"

// objectives states which of several cells meet their objective, and of which that is not
// known; "": all do, or none has one.
func (a *asked) objectives() string {
	var met, near, few, unknown []string
	missed := 0
	for i := range a.s.Cells {
		c := &a.s.Cells[i]
		if c.Objective == nil || c.Skipped() {
			continue
		}
		switch meets, known := objectiveMet(c); verdict.NearObjective(c).Kind {
		case finding.DisturbedMiss: // it is not ranked either
		case finding.NearByTrials, finding.NearByFew, finding.NearAvailability:
			near = append(near, a.names[i])
		case finding.TooFewRequests:
			few = append(few, a.names[i])
		default:
			switch {
			case !known:
				unknown = append(unknown, a.names[i])
			case meets:
				met = append(met, a.names[i])
			default:
				missed++
			}
		}
	}
	list := func(names []string) string {
		if len(names) > fewNames {
			return fmt.Sprintf("%d cells", len(names))
		}
		return phrase.List(names)
	}
	switch {
	case len(near) > 0:
		return "Too close to tell whether the objective is met: " + list(near) + "."
	case len(few) > 0:
		return "Too few requests to decide whether the objective is met: " + list(few) + "."
	case missed == 0 && len(unknown) == 0:
		return ""
	case len(met) == 0 && missed > 0:
		return "None meets the objective."
	case len(met) == 0:
		return "It is not known whether the objective is met."
	case len(met) == 1:
		return "Only " + met[0] + " meets the objective."
	case len(met) > fewNames:
		return fmt.Sprintf("%d of %d meet the objective.", len(met), len(met)+missed+len(unknown))
	}
	return phrase.List(met) + " meet the objective."
}

// failing stands for the figure of a cell that fails so many requests that it has none.
const failing = "which fails"

// comparable are the cells whose latency can be compared, in the order of the plan: they
// answered enough of their requests, and the generator did not make their slow tail.
func (a *asked) comparable() (all []verdict.Contender) {
	for _, i := range a.good {
		c := &a.s.Cells[i]
		if !answersEnough(c) || causes.GeneratorsTail(c) {
			continue
		}
		if one, ok := verdict.ContenderOf(c, a.names[i], a.s.Quantile()); ok {
			all = append(all, one)
		}
	}
	return all
}

// contrast is the known cause that the worst of the others has and the best has not; "":
// there is none.
func (a *asked) contrast(best verdict.Contender, others []verdict.Contender) string {
	worst := others[len(others)-1]
	work := dearer(best, worst)
	cause, known := mainCause(worst.Cell)
	switch {
	case !known && work != "":
		return work + "."
	case !known:
		return ""
	case work != "":
		work += "; "
	}
	if cause.Name != "throttling" {
		return work + fmt.Sprintf("%s explains %s of the slow tail of %s.", cause.Long, cause.Text(), worst.Name)
	}
	of, own := worst.Cell.ThrottledShare(), best.Cell.ThrottledShare()
	if of == nil {
		return work + fmt.Sprintf("the CPU limit: throttling explains %s of the slow tail of %s.", cause.Text(), worst.Name)
	}
	text := work + fmt.Sprintf("the CPU limit stops %s in %s of its periods", worst.Name, display.Share(*of))
	if own != nil && *own < *of/2 {
		text += fmt.Sprintf(", and %s in %s", best.Name, display.Share(*own))
	}
	return text + "."
}

// worthNaming is the share of a slow tail below which a cause explains none of it.
const worthNaming = 0.2

// worstError is the most frequent error of a cell that answered too few of its requests:
// "1,188 of 1,200 requests were refused."; "" otherwise.
func worstError(c *summary.Cell) string {
	if c.Availability == nil || *c.Availability >= verdict.EnoughAnswers && (c.Objective.Availability == nil || *c.Availability >= *c.Objective.Availability) {
		return ""
	}
	return worst(c)
}

// worst is the most frequent error of the requests that a cell sent; "": none failed.
func worst(c *summary.Cell) string {
	sent := c.Errors
	sent.Dropped = 0
	failures := sent.Failures()
	if len(failures) == 0 {
		return ""
	}
	most := slices.MaxFunc(failures, func(x, y summary.Failure) int { return cmp.Compare(x.N, y.N) })
	return fmt.Sprintf("%s of %s requests %s.", display.Grouped(most.N), display.Grouped(c.Requests), wording.Failed(most.Name))
}

// usedUp is the share of its CPU limit from which errors are those of an overload.
const usedUp = 0.95

// oftenStopped is the share of throttled periods from which such a limit is what requests
// wait for: a lock whose work nearly uses the limit leaves most periods some quota.
const oftenStopped = 0.8

// unthrottled is a share of throttled periods that explains no slow tail.
const unthrottled = 0.01

// mainCause is the cause of most of a cell's slow tail; false: it is not known, it is the
// service's own work, or the generator's delay.
func mainCause(c *summary.Cell) (narrative.Part, bool) {
	if c.Causes == nil || causes.GeneratorsTail(c) {
		return narrative.Part{}, false
	}
	top, known := narrative.MainPart(c.Causes)
	return top, known && top.Name != "rest" && top.Low >= worthNaming
}

// single is the answer about one cell under a constant load.
func (a *asked) single(i int) Answer {
	c := &a.s.Cells[i]
	answer := Answer{What: a.measured(i)}
	top, known := mainCause(c)
	switch {
	case causes.GeneratorsTail(c):
		answer.Why = "not known: the slowest requests waited mostly in the generator."
		if c.Causes.Divided() {
			answer.Why = fmt.Sprintf("not known: %s of the slow tail is the generator's own.", display.Share(c.Causes.OfGenerator()))
		}
		answer.Do = generatorAdvice
		if c.Load.Replay {
			answer.Do = slowerReplay
		}
	case known && top.Name == "throttling":
		answer.Why = fmt.Sprintf("its CPU limit: throttling is %s of the slow tail.", top.Text())
		answer.Do = "raise the CPU limit, or lower the parallelism: millicore try measures both."
	case known:
		answer.Why = fmt.Sprintf("%s is %s of the slow tail.", top.Long, top.Text())
	}
	if c.Own != nil && answer.Why == "" {
		answer.Why, answer.Do = limits[c.Own.Shown.Kind](c.Own.Shown)+".", ownAdvice[c.Own.By]
	}
	if c.Causes != nil && c.Causes.Divided() && answer.Why == "" && c.Causes.ThrottlingHigh >= causes.MainShare {
		answer.Why = fmt.Sprintf("perhaps its CPU limit: throttling is %s of the slow tail.", display.Shares(c.Causes.Throttling, c.Causes.ThrottlingHigh))
		answer.Do = "measure it without the limit: millicore try does."
	}
	if c.Load.Replay && answer.Do == "" && c.Errors.Dropped+c.Errors.Timeouts > 0 {
		answer.Do = "replay it with a lower --speed, or give the service more CPU."
		if answer.Why == "" {
			answer.Why = fmt.Sprintf("it did not keep up with the log: %s waited too long to be sent, or for an answer.", display.Counted(c.Errors.Dropped+c.Errors.Timeouts, "request"))
		}
	}
	met, judged := objectiveMet(c)
	switch share := c.ThrottledShare(); {
	case judged && met:
		answer.Why, answer.Do = "", "nothing: it meets its objective."
	case c.MostlyDisturbed():
		answer.Why, answer.Do = uncapital(a.disturbed()), a.undisturbed()
	case c.Has(summary.FlagOOMKilled):
		answer.Why, answer.Do = "its memory limit: it was killed there.", "raise the memory limit, or look for what grows."
	case judged && answer.Why == "" && worstError(c) != "" && c.Restarts != nil && *c.Restarts > 0:
		answer.Why = fmt.Sprintf("it was restarted %s: %s", display.Counted(*c.Restarts, "time"), worstError(c))
		answer.Do = logAdvice
	case judged && answer.Why == "" && worstError(c) != "" && c.CPU.OfLimit != nil && *c.CPU.OfLimit >= usedUp:
		answer.Why = fmt.Sprintf("its CPU limit: %s used; %s", whole(*c.CPU.OfLimit), worstError(c))
		answer.Do = "raise the CPU limit, or send less."
	case judged && answer.Why == "" && worstError(c) != "":
		answer.Why = worstError(c)
		answer.Do = logAdvice
	case judged && answer.Why == "" && c.Causes != nil && share != nil && *share < unthrottled:
		answer.Why, answer.Do = a.unstopped(c, *share)
	case answer.Why == "" && share != nil && *share >= oftenStopped && c.CPU.OfLimit != nil && *c.CPU.OfLimit >= usedUp:
		answer.Why = fmt.Sprintf("its CPU limit: %s used, throttled in %s of the periods.", whole(min(1, *c.CPU.OfLimit)), whole(*share)) // counters are read a moment apart
		answer.Do = "raise the CPU limit, or send less."
	}
	if answer.Do == "" {
		answer.Do = a.decides(c)
	}
	return answer
}

// unstopped is why a cell is slow that its CPU limit stops in few of its periods, and what to
// do. Its slowest requests wait if they would use more CPU than all requests did.
func (a *asked) unstopped(c *summary.Cell, share float64) (why, do string) {
	work, known := verdict.FigureOf(c, "cpu_per_request")
	if tail, ok := verdict.FigureOf(c, a.s.Quantile()); ok && known && work.Value < (1-summary.QuantileShare(a.s.Quantile()))*tail.Value {
		return fmt.Sprintf("it waits: a request uses %s ms of CPU, and the CPU limit stops it in %s of the periods.", digits.Three(work.Value), display.Share(share)), stackAdvice
	}
	return fmt.Sprintf("not its CPU limit, which stops it in %s of the periods: its own work, its queues, or what it waits for.", display.Share(share)),
		"take a profile of it: --set profile=true."
}

// decides is what would decide whether a cell meets its objective; "": it is known, or nothing
// decides it.
func (a *asked) decides(c *summary.Cell) string {
	switch near := verdict.NearObjective(c); near.Kind {
	case finding.NearByTrials, finding.NearByFew, finding.NearAvailability:
		return fmt.Sprintf("run it again with more trials: --set measure.repeats=%d.", max(summary.EnoughTrials, 2*c.Trials))
	case finding.TooFewRequests:
		return a.longEnough([]*summary.Cell{c})
	}
	return ""
}

// longEnough is how long to measure for enough requests of each cell for the quantile.
func (a *asked) longEnough(cells []*summary.Cell) string {
	need, slowest := float64(verdict.RequestsFor(a.s.Quantile())), math.Inf(1)
	for _, c := range cells {
		if c.RateRPS != nil {
			slowest = min(slowest, *c.RateRPS)
		}
	}
	seconds := math.Ceil(1.2 * need / slowest / summary.EnoughTrials)
	if !(seconds >= 1 && seconds <= 3600) {
		return "measure for longer (measure.duration)."
	}
	return fmt.Sprintf("measure for longer: --set measure.duration=%.0fs --set measure.repeats=%d.", seconds, summary.EnoughTrials)
}

// ownAdvice is what to do about a cause that a service's own counters show.
var ownAdvice = map[string]string{
	summary.ByAcceptQueue: acceptAdvice,
	summary.ByDelayedAck:  ackAdvice,
	summary.ByMemory:      "raise the memory limit, and measure again.",
}

// measured states the figures of one cell under a constant load.
func (a *asked) measured(i int) string {
	c := &a.s.Cells[i]
	var figures []string
	if f, ok := verdict.FigureOf(c, a.s.Quantile()); ok {
		text := a.quantile() + " " + latency(f.Value, f.AtLeast)
		if rate, ok := verdict.FigureOf(c, "rate"); ok && f.AtLeast && c.Availability != nil {
			return fmt.Sprintf("%s: %s of the requests fail, %s/s are answered%s.", a.names[i], display.Percent(100-*c.Availability), display.Figure(rate.Value), a.objective(c))
		}
		if low, high, what := verdict.SpreadOf(c, a.s.Quantile()); what != verdict.NoEnds {
			text += fmt.Sprintf(" (%s–%s)", display.Figure(low), display.Figure(high))
		}
		figures = append(figures, text)
	}
	if rate, ok := verdict.FigureOf(c, "rate"); ok {
		figures = append(figures, "at "+display.Figure(rate.Value)+" requests/s")
	}
	text := a.names[i] + ": " + strings.Join(figures, " ")
	if v := c.Availability; v != nil && *v < 100 {
		text += ", " + display.Percent(*v) + " available"
	}
	return text + a.objective(c) + "."
}

// objective states whether one cell meets its objective; "": it has none.
func (a *asked) objective(c *summary.Cell) string {
	if c.Objective == nil {
		return ""
	}
	text := display.Plain(c.Objective.Text)
	switch met, known := objectiveMet(c); {
	case c.Objective.Met == nil, verdict.NearObjective(c).Kind == finding.DisturbedMiss:
		return ". It is not known whether it meets " + text
	case !known && verdict.NearObjective(c).Kind == finding.TooFewRequests:
		return ". Its requests are too few to decide whether it meets " + text
	case !known:
		return ". Too close to tell whether it meets " + text
	case met:
		return ". It meets " + text
	}
	return ". It misses " + text
}

// objectiveMet reports whether a cell meets its objective; false: that is not known, or too
// close to tell.
func objectiveMet(c *summary.Cell) (met, known bool) {
	if c.Objective == nil || c.Objective.Met == nil || !verdict.NearObjective(c).None() {
		return false, false
	}
	return *c.Objective.Met, true
}
