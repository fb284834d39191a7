// Package narrative words what analysis found: the headline of a record, its facts,
// findings and warnings, the answers of compare and try. Every front end takes its
// sentences from here, so that a result has one name everywhere.
//
// It ranks nothing and compares no figures: which cell is best, and how certain that
// is, are values of package analysis. How sentences are laid out is decided by packages
// report and compare.
package narrative

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/lab/wording"
)

const (
	// fewNames is how many cells a sentence names before it gives the ends only.
	fewNames = 4
	// worthSaying is the share of throttled periods from which the headline
	// mentions it.
	worthSaying = 0.01
)

// Headline is the answer of a record.
type Headline struct {
	Notice string   // that the record is not complete; "" if it is
	Answer string   // the sentence with the answer
	More   []string // sentences that add to it
}

// HeadlineOf is the answer of a record: which cell has the lowest p99, compared with
// what, and how much is throttled. It claims nothing that the record does not show:
// cells that were not tested are not ranked, a cell that refuses its requests does
// not win, and an interrupted record has a notice.
func HeadlineOf(s *summary.Summary) Headline {
	sentences := newAnswer(s).sentences()
	h := Headline{Answer: sentences[0], More: sentences[1:]}
	if e := &s.Experiment; e.Interrupted {
		h.Notice = fmt.Sprintf("Interrupted after %d of %s.", e.TrialsDone, display.Counted(int64(e.TrialsPlanned), "trial"))
	}
	return h
}

// First is the line that a report begins with.
func (h Headline) First() string {
	if h.Notice == "" {
		return h.Answer
	}
	return h.Notice + " " + h.Answer
}

// String is the whole headline.
func (h Headline) String() string {
	return strings.Join(append([]string{h.First()}, h.More...), " ")
}

// answer holds what the sentences are made from.
type answer struct {
	s      *summary.Summary
	names  []string
	good   []int // cells that answered
	failed []int // cells that did not
}

func newAnswer(s *summary.Summary) *answer {
	a := &answer{s: s, names: CellNames(s)}
	for i := range s.Cells {
		if s.Cells[i].Failed() {
			a.failed = append(a.failed, i)
		} else {
			a.good = append(a.good, i)
		}
	}
	return a
}

func (a *answer) sentences() []string {
	switch {
	case len(a.s.Cells) == 0:
		return []string{"The record holds no cell."}
	case a.s.Kind() == summary.KindSearch && a.s.Experiment.Server != nil && len(a.s.Experiment.Server.Settings) > 0:
		return Tried(a.s)
	case a.s.Kind() == summary.KindSearch:
		return a.searched()
	case a.s.Kind() == summary.KindBenchmark:
		return a.benchmarks()
	case len(a.good) == 0:
		return []string{a.allFailed()}
	case len(a.s.Cells) == 1:
		return a.single(0)
	}
	var all []string
	if len(a.good) == 1 {
		all = a.single(a.good[0])
	} else {
		all = a.comparison()
	}
	if text := a.failures(); text != "" {
		all = append(all, text)
	}
	if text := a.objective(); text != "" {
		all = append(all, text)
	}
	if text := a.lowerBounds(); text != "" {
		all = append(all, text)
	}
	return a.closing(all)
}

// closing adds what stands at the end of an answer: how the services ended, the slow tail,
// and who disturbed.
func (a *answer) closing(all []string) []string {
	for _, text := range []string{a.endings(), a.generatorsTail(), a.tail()} {
		if text != "" {
			all = append(all, text)
		}
	}
	return append(all, a.disturbed()...)
}

// allFailed is the answer if no cell gave a good answer: the most frequent error.
func (a *answer) allFailed() string {
	var requests int64
	trials := 0
	for i := range a.s.Cells {
		requests += a.s.Cells[i].Requests
		trials += a.s.Cells[i].Trials
	}
	who := fmt.Sprintf("None of the %d cells", len(a.s.Cells))
	if len(a.s.Cells) == 1 {
		who = a.names[0]
	}
	if requests == 0 && trials == 0 { // requests may have ended, as in a trial whose agent failed
		of := fmt.Sprintf("the %d cells", len(a.s.Cells))
		if len(a.s.Cells) == 1 {
			of = who
		}
		return "No trial of " + of + " was completed: nothing was measured."
	}
	if requests == 0 {
		if len(a.s.Cells) == 1 {
			return who + " failed before a request ended: nothing was measured."
		}
		return who + " got as far as an answer: nothing was measured."
	}
	return fmt.Sprintf("%s gave a good answer%s.", negated(who), worstError(a.s.Cells))
}

// negated fits a subject to "gave a good answer": a single cell "never" did.
func negated(who string) string {
	if strings.HasPrefix(who, "None of") {
		return who
	}
	return who + " never"
}

// worstError names the most frequent error of cells: ": 1,200 of 1,200
// requests were refused". It is about requests that were sent.
func worstError(cells []summary.Cell) string {
	var requests int64
	all := summary.ErrorCounts{Status: map[string]int64{}}
	for i := range cells {
		e := &cells[i].Errors
		requests += cells[i].Requests
		all.Add(e)
	}
	all.Dropped = 0
	failures := all.Failures()
	if len(failures) == 0 {
		return ""
	}
	worst := slices.MaxFunc(failures, func(x, y summary.Failure) int { return cmp.Compare(x.N, y.N) })
	return fmt.Sprintf(": %s of %s requests %s", display.Grouped(worst.N), display.Grouped(requests), wording.Failed(worst.Name))
}

// single states the figures of one cell.
func (a *answer) single(i int) []string {
	c := &a.s.Cells[i]
	text := a.constantSingle(i)
	if a.staged() {
		text = a.stagedSingle(i)
	}
	all := []string{text}
	if len(a.s.Cells) > 1 {
		return all // the objective and the agent follow for all cells
	}
	switch o := c.Objective; {
	case o == nil:
	case o.Met == nil && o.Missed != "":
		all = append(all, "It is not known whether it meets the objective "+display.Plain(o.Text)+": "+display.Plain(o.Missed)+".")
	case o.Met == nil:
	case !verdict.NearObjective(c).None():
		all = append(all, "Whether it meets the objective "+display.Plain(o.Text)+" is not decided: "+wording.Of(verdict.NearObjective(c))+".")
	case *o.Met:
		all = append(all, "It meets the objective "+display.Plain(o.Text)+".")
	default:
		all = append(all, "It misses the objective "+display.Plain(o.Text)+".")
	}
	if c.Generator.Limited && sentOfDue(c) != "" {
		all = append(all, "The generator sent "+sentOfDue(c)+": the rate is a lower bound.")
	} else if c.Generator.Limited {
		all = append(all, "The agent was the limit: the rate is a lower bound.")
	}
	return a.closing(all)
}

// constantSingle states what one cell did under a constant load.
func (a *answer) constantSingle(i int) string {
	c := &a.s.Cells[i]
	rate, _ := verdict.FigureOf(c, "rate")
	figures := []string{display.Figure(rate.Value) + " requests/s"}
	if f, ok := verdict.FigureOf(c, a.s.Quantile()); ok {
		text := a.quantile() + " " + latency(f.Value, f.AtLeast)
		switch low, high, what := verdict.SpreadOf(c, a.s.Quantile()); what {
		case verdict.IntervalOfTrials:
			text += fmt.Sprintf(" (95%% interval %s)", interval(low, high))
		case verdict.IntervalOfFrames:
			text += fmt.Sprintf(" (95%% interval %s in this one trial)", interval(low, high))
		}
		figures = append(figures, text)
	}
	if c.Availability != nil {
		figures = append(figures, display.Percent(*c.Availability)+" available")
	}
	if part := c.ThrottledShare(); part != nil {
		figures = append(figures, "throttled in "+display.Share(*part)+" of its periods")
	}
	text := a.names[i] + ": " + strings.Join(figures, ", ")
	if c.LatencyMS == nil {
		text += "; " + a.noLatency()
	}
	return text + "."
}

// failures names the cells of a comparison that gave no good answer, and apart
// from them those that were never asked.
func (a *answer) failures() string {
	var skipped, failed []int
	for _, i := range a.failed {
		if a.s.Cells[i].Skipped() {
			skipped = append(skipped, i)
		} else {
			failed = append(failed, i)
		}
	}
	return strings.TrimSpace(a.some(failed, "gave no good answer.") + " " + a.some(skipped, "had to be skipped."))
}

// endings states which services did not run at the end of a trial. Users who wait for
// their answers send next to nothing meanwhile, so that no other figure shows it.
func (a *answer) endings() string {
	var frozen, down []int
	for _, i := range a.good {
		switch c := &a.s.Cells[i]; {
		case c.Has(summary.FlagFrozen):
			frozen = append(frozen, i)
		case c.Has(summary.FlagDownAtEnd):
			down = append(down, i)
		}
	}
	return strings.TrimSpace(a.some(frozen, "froze and did not run until the end of a trial: the figures include that time.") + " " +
		a.some(down, "lost a replica, which was not back at the end of a trial."))
}

// some is a statement about cells, by name if they are few; "": no cells.
func (a *answer) some(cells []int, what string) string {
	switch n := len(cells); {
	case n == 0:
		return ""
	case n <= fewNames:
		var names []string
		for _, i := range cells {
			names = append(names, a.names[i])
		}
		return phrase.List(names) + " " + what
	default:
		return fmt.Sprintf("%d of %d cells %s", n, len(a.s.Cells), what)
	}
}

// objective names the cells that meet the objective, and those of which the record does
// not show it.
func (a *answer) objective() string {
	var met, missed, near []int
	var unknown []string
	text, total := "", 0
	for i := range a.s.Cells {
		c := &a.s.Cells[i]
		if c.Objective == nil || c.Skipped() {
			continue
		}
		total++
		text = display.Plain(c.Objective.Text)
		switch {
		case c.Objective.Met == nil:
			unknown = append(unknown, a.names[i])
		case !verdict.NearObjective(c).None():
			near = append(near, i)
		case *c.Objective.Met:
			met = append(met, i)
		default:
			missed = append(missed, i)
		}
	}
	switch {
	case total == len(unknown):
		return ""
	case len(near) > 0:
		return a.undecided(met, missed, near, text)
	case total == 1 && len(met) == 1:
		return a.some(met, "meets the objective "+text+".")
	case len(met) == total:
		return "All meet the objective " + text + "."
	case len(met) == 0:
		return "None meets the objective " + text + "."
	case len(unknown) > 0:
		return fmt.Sprintf("%d of %d cells meet the objective %s; for %s it is not known.", len(met), total, text, phrase.List(unknown))
	case len(met) == 1:
		return "Only " + a.names[met[0]] + " meets the objective " + text + "."
	}
	return a.some(met, "meet the objective "+text+".")
}

// undecided is objective if the intervals of some cells contain the objective.
func (a *answer) undecided(met, missed, near []int, objective string) string {
	verb := func(cells []int, one, several string) string {
		if len(cells) == 1 {
			return one
		}
		return several
	}
	what := "it"
	if len(met)+len(missed) == 0 {
		what = "the objective " + objective
	}
	whether := "Whether " + a.some(near, verb(near, "meets", "meet")) + " " + what + " is not decided: "
	if len(near) == 1 {
		whether += wording.Of(verdict.NearObjective(&a.s.Cells[near[0]])) + "."
	} else {
		whether += "their intervals contain it."
	}
	var all []string
	for _, text := range []string{a.some(met, verb(met, "meets", "meet")+" the objective "+objective+"."),
		a.some(missed, verb(missed, "misses", "miss")+" the objective "+objective+"."), whether} {
		if text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, " ")
}

// lowerBounds names the cells whose figures the agent limited.
func (a *answer) lowerBounds() string {
	var names []string
	for _, i := range a.good {
		if a.s.Cells[i].Generator.Limited {
			names = append(names, a.names[i])
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) == len(a.good):
		return "The agent was the limit throughout: the rates are lower bounds."
	case len(names) <= fewNames:
		what := "its rate is a lower bound."
		if len(names) > 1 {
			what = "their rates are lower bounds."
		}
		return "The agent was the limit for " + phrase.List(names) + ": " + what
	}
	return fmt.Sprintf("The agent was the limit for %d cells: their rates are lower bounds.", len(names))
}

// contenders collects the cells that have a figure, in the order of the plan.
func (a *answer) contenders(cells []int, metric string) []verdict.Contender {
	var all []verdict.Contender
	for _, i := range cells {
		if one, ok := verdict.ContenderOf(&a.s.Cells[i], a.names[i], metric); ok {
			all = append(all, one)
		}
	}
	return all
}

// interval writes the ends of a latency in ms: "8.92 to 9.65 ms", "365 ms to 1.30 s". A
// unit that both have is written once.
func interval(low, high float64) string {
	from, to := display.WithUnit(low), display.WithUnit(high)
	if text, unit, ok := strings.Cut(from, " "); ok && strings.HasSuffix(to, " "+unit) {
		from = text
	}
	return from + " to " + to
}

// latency writes a figure of a cell's latency: "113 ms", "≥10.0 s" if the failed
// requests hide it.
func latency(v float64, atLeast bool) string {
	if atLeast {
		return "≥" + display.WithUnit(v)
	}
	return display.WithUnit(v)
}
