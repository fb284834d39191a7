package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/show/narrative"
)

// caveats are at most two statements that qualify the answer and that it does not have,
// what changes it most first.
func (a *asked) caveats(answer Answer) []string {
	d := verdict.DisturbancesOf(a.counted())
	if fewDisturbed(d.Windows) {
		d.Windows = verdict.Tally{} // the trials at one load may be disturbed nevertheless
	}
	disturbed := disturbedBy(d)
	all := []string{a.invalid(), a.notRanked(), a.failedStarts(), a.unanswered(), a.stuck(), a.hysteresis(), a.killed(), a.workersEnded(), a.frozen(), a.limitedAgents(), disturbed, a.generatorsShare(), a.untestedPoints(), a.serves()}
	all = slices.DeleteFunc(all, func(text string) bool { return text == "" || strings.EqualFold(text, answer.Why) })
	all = answer.bounded(all)
	if i := slices.Index(all, disturbed); i >= 0 && answer.words(all) > mostWords {
		d.Neighbours = nil
		all[i] = disturbedBy(d)
	}
	return all
}

// fewDisturbed reports whether others disturbed less than a tenth of the windows of the
// searches. They do not count, and the others decide as well without them.
func fewDisturbed(w verdict.Tally) bool {
	return w.Disturbed > 0 && 10*w.Disturbed < w.Of
}

// some is a statement about the cells that have something, by name if they are few: with
// one verb of one cell, and with the other of several. "": no cell has it.
func (a *asked) some(has func(*summary.Cell) bool, one, several, what string) string {
	var names []string
	for i := range a.s.Cells {
		if has(&a.s.Cells[i]) {
			names = append(names, a.names[i])
		}
	}
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return fmt.Sprintf("%s %s %s.", names[0], one, what)
	case n > fewNames:
		return fmt.Sprintf("%d of %d cells %s %s.", n, len(a.s.Cells), several, what)
	}
	return fmt.Sprintf("%s %s %s.", phrase.List(names), several, what)
}

func (a *asked) invalid() string {
	for i := range a.s.Cells {
		if why := a.s.WhyInvalid(a.s.Cells[i].Cell); why != "" {
			return display.Capital(display.Plain(why)) + "; it does not count."
		}
	}
	return ""
}

// notRanked names the cells that are not ranked by another's fault.
func (a *asked) notRanked() string {
	if len(a.s.Cells) == 1 || a.s.Kind() == summary.KindSearch || len(a.comparable()) < 2 && a.s.Kind() == summary.KindTraffic {
		return ""
	}
	if text := a.some((*summary.Cell).MostlyDisturbed, "is", "are", "not ranked: others disturbed most trials"); text != "" {
		return text
	}
	return a.some(causes.GeneratorsTail, "is", "are", "not ranked: the generator made the slow tail")
}

// failedStarts is how many trials of a cell gave no figure, beside others that did.
func (a *asked) failedStarts() string {
	for i := range a.s.Cells {
		if why := a.s.WhyFailed(a.s.Cells[i].Cell); why != "" && a.s.Cells[i].Trials > 0 {
			first, _, _ := strings.Cut(display.Plain(why), ";")
			return "Of " + a.names[i] + ", " + strings.Replace(first, ":", " failed:", 1) + "."
		}
	}
	return ""
}

func (a *asked) unanswered() string {
	if text := a.some((*summary.Cell).Skipped, "had", "had", "to be skipped"); text != "" {
		return text
	}
	if len(a.good) == 0 || a.s.Kind() == summary.KindSearch || a.s.Kind() == summary.KindBenchmark {
		return ""
	}
	if text := a.some((*summary.Cell).Failed, "gave", "gave", "no good answer"); text != "" {
		return text
	}
	if len(a.s.Cells) == 1 || len(a.comparable()) < 2 {
		return "" // the answer has it
	}
	return a.some(func(c *summary.Cell) bool { return !answersEnough(c) },
		"answered", "answered", fmt.Sprintf("less than %d%% of the requests", verdict.EnoughAnswers))
}

// hysteresis names a service that does not recover from an overload.
func (a *asked) hysteresis() string {
	for i := range a.s.Cells {
		c := &a.s.Cells[i]
		if b := c.Breaking; b != nil && b.Load() != nil && b.Recovery.Hysteresis() {
			who := "After an overload it"
			if len(a.s.Cells) > 1 && a.s.Experiment.Server == nil {
				who = "After an overload " + a.names[i]
			}
			switch {
			case b.RecoversAt != nil:
				return fmt.Sprintf("%s recovers only at %s %s: shed load above that.", who, narrative.LoadFigure(b, *b.RecoversAt), narrative.LoadUnit(c))
			case b.Recovery.Lost != "":
				return who + " was lost: " + display.Plain(b.Recovery.Lost) + "."
			}
			return who + " did not recover."
		}
	}
	return ""
}

func (a *asked) killed() string {
	if len(a.s.Cells) == 1 && a.s.Kind() == summary.KindTraffic {
		return "" // the answer says so
	}
	return a.some(func(c *summary.Cell) bool { return c.Has(summary.FlagOOMKilled) }, "was", "were", "killed at the memory limit")
}

// manyEnded is how many processes ended, and requests failed, that are hardly chance.
const manyEnded = 3

// workersEnded are the processes that a service lost beside its main one, as workers that
// their master kills, if requests failed: the connection ends, or the worker answers 500 at
// its end, as that of gunicorn does. One that ends its workers in turn fails none.
func (a *asked) workersEnded() string {
	for i := range a.s.Cells {
		c := &a.s.Cells[i]
		failed := c.Errors.Refused + c.Errors.Cut
		for status, n := range c.Errors.Status {
			if strings.HasPrefix(status, "5") {
				failed += n
			}
		}
		if c.Ended != nil && *c.Ended >= manyEnded && failed >= manyEnded {
			return fmt.Sprintf("Of %s %s ended beside the main one (its master may kill them), and requests failed: see its log.", a.names[i], display.Grouped(*c.Ended)+" processes")
		}
	}
	return ""
}

// stuck says which users, or requests, the figures do not have.
func (a *asked) stuck() string {
	for i := range a.s.Cells {
		if c := &a.s.Cells[i]; c.Has(summary.FlagStuck) && c.Stuck > 0 {
			return "Of " + a.names[i] + ", " + narrative.Stuck(c) + "."
		}
	}
	return ""
}

func (a *asked) frozen() string {
	if text := a.some(func(c *summary.Cell) bool { return c.Has(summary.FlagFrozen) }, "froze", "froze", "until the end of a trial"); text != "" {
		return text
	}
	return a.some(func(c *summary.Cell) bool { return c.Has(summary.FlagDownAtEnd) }, "lost", "lost", "a replica that was not back at the end of a trial")
}

func (a *asked) limitedAgents() string {
	if a.s.Kind() == summary.KindSearch {
		return ""
	}
	return a.some(func(c *summary.Cell) bool { return c.Generator.Limited }, "was", "were", "limited by the generator: rates are lower bounds")
}

// disturbed is how much of the record others disturbed, and who.
func (a *asked) disturbed() string { return disturbedBy(verdict.DisturbancesOf(a.counted())) }

// disturbedBy words disturbances: of the windows of searches, or else of trials that count.
func disturbedBy(d verdict.Disturbances) string {
	tally, unit := d.Trials, "trial"
	if d.Windows.Disturbed > 0 {
		tally, unit = d.Windows, "search window"
	} else if d.Kept == 0 {
		return ""
	}
	who := disturbers(d)
	if tally.Of == 1 {
		return fmt.Sprintf("%s disturbed the %s.", who, unit)
	}
	return fmt.Sprintf("%s disturbed %d of %s.", who, tally.Disturbed, display.Counted(int64(tally.Of), unit))
}

// counted are the cells that have figures, with those at the common load.
func (a *asked) counted() (cells []*summary.Cell) {
	for i := range a.s.Cells {
		if c := &a.s.Cells[i]; !c.Failed() || c.Searched() || len(c.Benchmarks) > 0 {
			cells = append(cells, c)
		}
	}
	if a.s.Common == nil {
		return cells
	}
	for i := range a.s.Common.Cells {
		if c := &a.s.Common.Cells[i]; c.Limits.CPUMillis != nil { // without the limit, nothing rests on it
			cells = append(cells, c)
		}
	}
	return cells
}

// disturbers name who took CPU: "Other processes (sh, PID 12439)", "The hypervisor".
func disturbers(d verdict.Disturbances) string {
	var words []string
	for _, who := range d.By {
		switch who {
		case summary.Neighbours:
			text := "other processes"
			if len(d.Neighbours) > 0 {
				text += ", most of all " + neighbours(d.Neighbours) + ","
			}
			words = append(words, text)
		case summary.Hypervisor:
			words = append(words, "the hypervisor")
		case summary.Waiting:
			words = append(words, "a generator that waited for a CPU")
		case summary.Stops:
			words = append(words, "a signal that stopped the service")
		}
	}
	if len(words) == 0 { // by a rule of an older version
		return "Others"
	}
	return display.Capital(phrase.List(words))
}

// neighbours names processes: "sh (PID 4242)", "cc1 (12 processes)".
func neighbours(all []signals.Neighbour) string {
	var words []string
	for _, n := range all {
		which := fmt.Sprintf("PID %d", n.PID)
		if n.Processes > 1 {
			which = fmt.Sprintf("%d processes", n.Processes)
		}
		words = append(words, fmt.Sprintf("%s (%s)", display.Plain(n.Name), which))
	}
	return phrase.List(words)
}

// undisturbed is what to do against those who disturbed; "": nobody did.
func (a *asked) undisturbed() string {
	d := verdict.DisturbancesOf(a.counted())
	switch {
	case len(d.Neighbours) > 0:
		return "run it again without " + neighbours(d.Neighbours) + "."
	case slices.Contains(d.By, summary.Neighbours):
		return "run it again without other processes."
	case slices.Contains(d.By, summary.Waiting):
		return generatorAdvice
	case len(d.By) > 0:
		return "run it again on a quieter machine."
	}
	return ""
}

// untestedPoints names the breaking points that no test confirms.
func (a *asked) untestedPoints() string {
	if len(a.s.Cells) == 1 || a.s.Experiment.Server != nil {
		return "" // the answer says "estimated"
	}
	return a.some(func(c *summary.Cell) bool {
		return c.Breaking != nil && c.Breaking.Load() != nil && c.Breaking.Untested
	},
		"is", "are", "estimated: no test window near it met the objective")
}

// serves names a cell that serves more under a closed load than the one with the lowest
// latency.
func (a *asked) serves() string {
	if a.s.Kind() != summary.KindTraffic || len(a.good) < 2 {
		return ""
	}
	all := a.comparable()
	if len(all) < 2 {
		return ""
	}
	best := verdict.Sorted(all)[0]
	var rates []verdict.Contender
	for _, c := range all {
		if one, ok := verdict.ContenderOf(c.Cell, c.Name, "rate"); ok {
			rates = append(rates, one)
		}
	}
	top, own, ok := verdict.MoreServed(a.s, best.Cell, rates)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s serves more: %s requests/s, against %s.", top.Name, display.Figure(top.Value), display.Figure(own.Value))
}

// generatorAdvice is what to do about a generator that is too slow.
const generatorAdvice = "use a lower rate, fewer connections, or another machine."

// slowerReplay is the same about a replay, whose rate is that of its log.
const slowerReplay = "replay it with a lower --speed, fewer connections, or from another machine."
