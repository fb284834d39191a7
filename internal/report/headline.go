package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
)

const (
	// enoughAnswers is the availability in percent below which a cell's latency
	// is no merit: refused requests are quick, and not in the histogram.
	enoughAnswers = 99
	// fewNames is how many cells a sentence names before it gives the ends only.
	fewNames = 4
	// worthSaying is the share of throttled periods from which the headline
	// tells of it.
	worthSaying = 0.01
)

// Headline says in a sentence or two what a record answers: which cell has the
// lowest p99, against what, and how much is throttled. It is honest about what
// it cannot tell: cells whose intervals overlap are not ranked, a cell that
// refuses its requests does not win, and an interrupted record says so.
func Headline(s *analysis.Summary) string {
	h := headlineOf(s)
	return strings.Join(append([]string{h.first()}, h.more...), " ")
}

// headline is the answer with what belongs to it.
type headline struct {
	notice string   // that the record is not whole; "" where it is
	answer string   // the sentence that says the answer
	more   []string // sentences that add to it
}

func headlineOf(s *analysis.Summary) headline {
	sentences := newAnswer(s).sentences()
	h := headline{answer: sentences[0], more: sentences[1:]}
	if e := &s.Experiment; e.Interrupted {
		h.notice = fmt.Sprintf("Interrupted after %d of %s.", e.TrialsDone, display.Counted(int64(e.TrialsPlanned), "trial"))
	}
	return h
}

// first is the line that a report begins with.
func (h headline) first() string {
	if h.notice == "" {
		return h.answer
	}
	return h.notice + " " + h.answer
}

// contender is a cell in a comparison of one figure, with the interval that
// says how sure the figure is.
type contender struct {
	cell  *analysis.CellSummary
	name  string
	value float64
	low   float64
	high  float64
	sure  certainty
	// metric is the figure's field path, by which a test of it is found.
	metric string
}

// apart reports whether two figures can be told apart.
func apart(a, b contender) bool {
	if a.sure == unknown || b.sure == unknown {
		return a.value != b.value
	}
	return a.high < b.low || b.high < a.low
}

// apart reports whether two cells' figures can be told apart: by the test
// between them where there is one, else by their intervals.
func (a *answer) apart(x, y contender) bool {
	for i := range a.s.Comparisons {
		c := &a.s.Comparisons[i]
		pair := c.Cell == x.cell.Cell && c.Baseline == y.cell.Cell || c.Cell == y.cell.Cell && c.Baseline == x.cell.Cell
		if pair && x.metric != "" && strings.HasPrefix(c.Metric, x.metric) {
			return c.Significant
		}
	}
	return apart(x, y)
}

// answer holds what the sentences are made from.
type answer struct {
	s      *analysis.Summary
	names  []string
	good   []int // cells that answered
	failed []int // cells that did not
}

func newAnswer(s *analysis.Summary) *answer {
	a := &answer{s: s, names: cellNames(s)}
	for i := range s.Cells {
		if failed(&s.Cells[i]) {
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
	case anySearched(a.s):
		return a.searched()
	case benchmarked(a.s):
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
	for _, text := range append([]string{a.tail(), a.lowerBounds()}, a.disturbed()...) {
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}

// allFailed says that nothing answered, and how the most of it failed.
func (a *answer) allFailed() string {
	var requests int64
	for i := range a.s.Cells {
		requests += a.s.Cells[i].Requests
	}
	who := fmt.Sprintf("None of the %d cells", len(a.s.Cells))
	if len(a.s.Cells) == 1 {
		who = a.names[0]
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
// requests refused".
func worstError(cells []analysis.CellSummary) string {
	var requests, timeouts, refused, cut, malformed, failed, status int64
	for i := range cells {
		e := &cells[i].Errors
		requests += cells[i].Requests
		timeouts += e.Timeouts
		refused += e.Refused
		cut += e.Cut
		malformed += e.Malformed
		failed += e.Failed
		status += badAnswers(e)
	}
	kinds := []struct {
		n    int64
		text string
	}{
		{timeouts, "timed out"},
		{refused, "were refused"},
		{cut, "were cut off"},
		{malformed, "got an answer that was not HTTP"},
		{failed, "got an answer that failed a check"},
		{status, "got an error status"},
	}
	worst := kinds[0]
	for _, k := range kinds[1:] {
		if k.n > worst.n {
			worst = k
		}
	}
	if worst.n == 0 {
		return ""
	}
	return fmt.Sprintf(": %s of %s requests %s", display.Grouped(worst.n), display.Grouped(requests), worst.text)
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
	if o := c.Objective; o != nil && o.Met != nil {
		if *o.Met {
			all = append(all, "It meets the objective "+display.Plain(o.Text)+".")
		} else {
			all = append(all, "It misses the objective "+display.Plain(o.Text)+".")
		}
	}
	if c.Generator.Limited {
		all = append(all, "The agent was the limit: the rate is a lower bound.")
	}
	return a.closing(all)
}

// constantSingle states what one cell did under a constant load.
func (a *answer) constantSingle(i int) string {
	c := &a.s.Cells[i]
	figures := []string{display.Figure(*c.RateRPS) + " requests/s"}
	if c.LatencyMS != nil {
		text := "p99 " + milliseconds(c.LatencyMS.P99)
		switch low, high, what := spread(c); what {
		case interval:
			text += fmt.Sprintf(" (95%% interval %s to %s)", display.Figure(low), milliseconds(high))
		case byFrames:
			text += fmt.Sprintf(" (95%% interval %s to %s in this one trial)", display.Figure(low), milliseconds(high))
		}
		figures = append(figures, text)
	}
	if c.Availability != nil {
		figures = append(figures, percent(*c.Availability)+" available")
	}
	if part := throttledShare(c); part != nil {
		figures = append(figures, "throttled in "+share(*part)+" of its periods")
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

// some says something of cells, by name where they are few; "" of none.
func (a *answer) some(cells []int, what string) string {
	switch n := len(cells); {
	case n == 0:
		return ""
	case n <= fewNames:
		var names []string
		for _, i := range cells {
			names = append(names, a.names[i])
		}
		return list(names) + " " + what
	default:
		return fmt.Sprintf("%d of %d cells %s", n, len(a.s.Cells), what)
	}
}

// objective says which of the cells that were tried meet what was asked, where
// that differs or is missed.
func (a *answer) objective() string {
	var met, unknown []string
	text, total := "", 0
	for i := range a.s.Cells {
		o := a.s.Cells[i].Objective
		if o == nil || a.s.Cells[i].Skipped() {
			continue
		}
		total++
		text = display.Plain(o.Text)
		switch {
		case o.Met == nil:
			unknown = append(unknown, a.names[i])
		case *o.Met:
			met = append(met, a.names[i])
		}
	}
	switch {
	case total == len(unknown):
		return ""
	case total == 1 && len(met) == 1:
		return met[0] + " meets the objective " + text + "."
	case len(met) == total:
		return "All meet the objective " + text + "."
	case len(met) == 0:
		return "None meets the objective " + text + "."
	case len(unknown) > 0:
		return fmt.Sprintf("%d of %d cells meet the objective %s; of %s it cannot be told.", len(met), total, text, list(unknown))
	case len(met) == 1:
		return "Only " + met[0] + " meets the objective " + text + "."
	case len(met) <= fewNames:
		return list(met) + " meet the objective " + text + "."
	default:
		return fmt.Sprintf("%d of %d cells meet the objective %s.", len(met), total, text)
	}
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
		return "The agent was the limit for " + list(names) + ": " + what
	}
	return fmt.Sprintf("The agent was the limit for %d cells: their rates are lower bounds.", len(names))
}

// contenders collects the cells that have a figure, with what is known of its
// spread.
func (a *answer) contenders(cells []int, path string, of func(*analysis.CellSummary) *float64,
	trial func(*analysis.TrialFigures) *float64) []contender {
	var all []contender
	for _, i := range cells {
		c := &a.s.Cells[i]
		v := of(c)
		if v == nil {
			continue
		}
		one := contender{cell: c, name: a.names[i], value: *v, metric: path}
		one.low, one.high, one.sure = spreadOf(c, path, trial)
		if ends, ok := c.Intervals[path]; ok && one.sure == ranged { // two trials may be close to one another by chance
			one.low, one.high = min(one.low, ends[0]), max(one.high, ends[1])
		}
		all = append(all, one)
	}
	return all
}

// byValue sorts contenders upwards, and by their place in the plan where equal.
func byValue(all []contender) {
	slices.SortStableFunc(all, func(x, y contender) int {
		switch {
		case x.value < y.value:
			return -1
		case x.value > y.value:
			return 1
		}
		return 0
	})
}
