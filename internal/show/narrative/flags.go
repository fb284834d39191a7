package narrative

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
)

// flagTexts explain the warnings of a cell. FlagText adds the figures of the cell to
// some of them.
var flagTexts = map[summary.Flag]string{
	summary.FlagSkipped:             "The service was not available on this machine and was not measured. The warning has what to install.",
	summary.FlagNoTrials:            "No trial of this cell was completed: there is nothing to show.",
	summary.FlagFewTrials:           "Fewer than six trials: the median over trials has no 95% interval.",
	summary.FlagBusyNeighbour:       "Processes that the experiment did not start used the host's CPUs. That can reverse a comparison.",
	summary.FlagAgentThrottled:      "An agent was throttled by a CPU limit of its own, for at least 0.5% of its time: requests that were due meanwhile were sent late. Latencies include its pauses. Give agents no CPU limit.",
	summary.FlagAgentLost:           "An agent failed during the load, and the others continued without it: the load was lower than configured. Rates are lower bounds.",
	summary.FlagSentLate:            "Requests were sent late: latencies include the generator's own delay. " + generatorAdvice,
	summary.FlagGeneratorLimited:    "The agent sent late: it was the limit, not the service. Rates are lower bounds.",
	summary.FlagAgentStopped:        "A signal stopped the process of an agent (SIGSTOP): it sent nothing until it was continued, or killed. Latencies and rates of that trial are the agent's, not the service's.",
	summary.FlagDownAtEnd:           "A replica had died and was not back when a trial ended. Its restart is not in the figures. Its log has its last output.",
	summary.FlagFrozen:              "Until the end of a trial the service answered no request and used no CPU: it hung. That is no overload, which uses CPU.",
	summary.FlagNoPorts:             "The generator's machine had no free local port, so requests waited to be sent. Widen net.ipv4.ip_local_port_range, name further source addresses (load: --source), or let the service keep connections open.",
	summary.FlagOtherSources:        "Each 12,000 connections to this machine have a source address of their own, from 127.0.0.2 on, because of the number of ports. A service that only admits 127.0.0.1 refuses the others: use at most 12,000 connections, or admit 127.0.0.0/8.",
	summary.FlagUnaccepted:          "Connections that stay open hold the workers of the service, so that new ones wait. Use fewer connections, more workers, or close idle connections.",
	summary.FlagStuck:               "Requests of the warm-up did not end before the load did: the latencies do not have them.",
	summary.FlagRestarted:           "The service ended and was restarted during a trial. The first restart waits 1 s; a kubelet waits 10 s.",
	summary.FlagOOMKilled:           "The kernel killed the service because it reached its memory limit.",
	summary.FlagBusyHypervisor:      "The hypervisor gave CPUs of this machine to others. That can reverse a comparison.",
	summary.FlagDependencyThrottled: "A dependency was throttled by its own limit: part of the latency may be due to it.",
	summary.FlagDependencyRestarted: "A dependency ended and was started again during a trial.",
	summary.FlagFewRequests:         "Fewer than 1,000 requests were measured: their p99 is one of the slowest ten.",
	summary.FlagMovingLoad:          "The load changes over the trial, so no percentile over the whole trial is shown. See \"Levels held\".",
	summary.FlagFailed:              "A trial failed before its end and is excluded from the figures.",
	summary.FlagInvalid:             "A limit did not hold in a trial: it is invalid, and excluded from the figures. The warning has the reason.",
	summary.FlagSearchDisturbed:     "Other processes or the hypervisor took CPU while the breaking point was searched.",
	summary.FlagSearchIncomplete:    "The search ended before it could test its answer for longer. The answer is less certain than that of a complete search.",
	summary.FlagNoWindows:           "The service was throttled, but the times were not recorded. Use --node-agent to learn the share of the slow tail.",
	summary.FlagUnsteady:            "The first and the last third of the measured part differ: the service had not settled.",
}

// frozenText explains service_frozen where it was stopped.
const frozenText = "A signal (SIGSTOP) or a frozen control group (docker pause) stopped the service, which did not run until the end of a trial. That is no overload: find out what stopped it."

// generatorAdvice is what to do about a generator that is too slow.
const generatorAdvice = "Use a lower rate, fewer connections, or another machine."

// waitedText explains generator_limited where users wait for their answers, and
// were not late.
const waitedText = "The agent waited for a CPU for at least 10% of the time: it was the limit, not the service. Rates are lower bounds."

// besideText explains it if another warning gives the reason.
const besideText = "The agents were the limit, not the service, as another warning of the cell explains. Rates are lower bounds."

// FlagText explains a warning of a cell in a sentence or two; "" for a word that
// this version does not know.
func FlagText(word summary.Flag, c *summary.Cell) string {
	has := c.Has
	generatorAdvice := generatorAdvice
	if c.Load.Replay {
		generatorAdvice = "Use a lower --speed, fewer connections, or another machine."
	}
	switch lag := summary.Finite(c.Generator.SendLagP99US); {
	case word == summary.FlagFewTrials && c.Trials < verdict.MinRanked:
		return "Fewer than four trials: the median over trials has no 95% interval, and the cell is not tested against others."
	case word == summary.FlagFrozen && c.Frozen == summary.FrozenBySignal:
		return frozenText
	case word == summary.FlagSearchDisturbed:
		return disturbedSearch(c)
	case word == summary.FlagRestarted && c.Load.Find && c.Restarts != nil:
		return fmt.Sprintf("The service ended %s while its breaking point was searched, and was restarted. Its log has its last output.", display.Counted(*c.Restarts, "time"))
	case word == summary.FlagUnaccepted && c.Errors.Unaccepted > 0:
		return fmt.Sprintf("%s of %s were on new connections on which nothing arrived, while the service answered on others. %s",
			display.Grouped(c.Errors.Unaccepted), display.Counted(c.Errors.Timeouts, "timeout"), flagTexts[word])
	case word == summary.FlagStuck && c.Stuck > 0:
		return Stuck(c) + "."
	case word == summary.FlagNoPorts && c.Generator.NoPorts > 0:
		return fmt.Sprintf("%s could not be made for lack of a free local port. %s", display.Counted(c.Generator.NoPorts, "connection"), flagTexts[word])
	case word == summary.FlagNoWindows && c.ThrottledShare() != nil:
		return fmt.Sprintf("The service was throttled in %s of its periods, but the times were not recorded. Use --node-agent to learn the share of the slow tail.", display.Share(*c.ThrottledShare()))
	case word == summary.FlagGeneratorLimited && (has(summary.FlagAgentThrottled) || has(summary.FlagAgentLost)):
		return besideText
	case word == summary.FlagGeneratorLimited && c.Load.Kind == "closed" && lag != nil && *lag < float64(disturbance.LateLag.Microseconds()):
		return waitedText
	case word == summary.FlagSentLate && lag != nil && has(summary.FlagFewRequests): // their 99th percentile is that of no 1%
		return fmt.Sprintf("At least one request was sent %s late: latencies include the generator's own delay.", display.WithUnit(*lag/1000))
	case word == summary.FlagSentLate && lag != nil:
		return fmt.Sprintf("1%% of the requests were sent more than %s late: latencies include the generator's own delay. %s", display.WithUnit(*lag/1000), generatorAdvice)
	case word == summary.FlagGeneratorLimited && c.Load.Find && sentOfDue(c) == "":
		return "At higher loads the generator sent late: it was the limit, not the service. The breaking point is a lower bound. " + generatorAdvice
	case word == summary.FlagGeneratorLimited && sentOfDue(c) != "":
		return "The generator sent " + sentOfDue(c) + ": it was the limit, not the service. Rates are lower bounds. " + generatorAdvice
	}
	return flagTexts[word]
}

// Stuck is how many requests of the warm-up did not end before the load did, and what that
// says about the figures, without a full stop.
func Stuck(c *summary.Cell) string {
	each := float64(c.Stuck) / float64(max(1, c.Trials))
	if c.Load.Users != nil {
		return fmt.Sprintf("%s of %s users waited for one answer all the time, and the figures are those of the others", display.Figure(math.Round(each)), display.Figure(*c.Load.Users))
	}
	return display.Counted(c.Stuck, "request") + " of the warm-up did not end before the load did: the latencies do not have them"
}

// allSent is the share of an open load from which a generator has sent all of it.
const allSent = 0.98

// sentOfDue is how much of an open load a generator sent if it could not send all of it:
// "333 of 400 requests/s"; "" otherwise.
func sentOfDue(c *summary.Cell) string {
	g := &c.Generator
	if c.Load.Kind != "open" || !g.Limited || g.DueRPS == nil || g.SentRPS == nil || *g.SentRPS >= allSent**g.DueRPS {
		return ""
	}
	return fmt.Sprintf("%s of %s requests/s", display.Figure(*g.SentRPS), display.Figure(*g.DueRPS))
}

// disturbedSearch names who took CPU during a search, and what follows from it.
func disturbedSearch(c *summary.Cell) string {
	text := flagTexts[summary.FlagSearchDisturbed]
	if c.Breaking != nil && len(c.Breaking.DisturbedBy) > 0 {
		text = "The search for the breaking point was " + disturbers(c.Breaking.DisturbedBy) + "."
	}
	switch {
	case c.Load.Find:
		text += " A disturbed window is repeated or left out, which widens the interval or leaves none."
	case c.Load.Stages:
		text += " The level that missed the objective meanwhile, and those above it, do not show where the service breaks."
	}
	return text
}

// Finding is what was found under one title, for one cell or the whole record. A busy
// host has the same finding for every trial, which is shown once.
type Finding struct {
	Warning  bool
	Title    string
	Texts    []string
	Searched bool // the answer of a search, which tables and explanations have too
}

// Findings gathers the record's findings by their titles, in their order.
// Warnings come last.
func Findings(s *summary.Summary, names []string) []Finding {
	var all []Finding
	for _, f := range s.Findings {
		title := display.Plain(f.Title)
		if f.Cell != nil {
			if at := s.CellAt(*f.Cell); at >= 0 && !strings.Contains(title, names[at]) {
				title = names[at] + ": " + title
			}
		}
		one := Finding{Warning: f.Level == "warning", Title: title, Searched: f.Searched}
		at := slices.IndexFunc(all, func(o Finding) bool { return o.Title == one.Title && o.Warning == one.Warning })
		if at < 0 {
			all = append(all, one)
			at = len(all) - 1
		}
		if text := display.Plain(f.Text); text != "" {
			all[at].Texts = append(all[at].Texts, text)
		}
	}
	if f, ok := disturbedTrials(s); ok {
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		switch {
		case a.Warning == b.Warning:
			return 0
		case b.Warning:
			return -1
		}
		return 1
	})
	return all
}

// Others is how many texts follow the first.
func (f Finding) Others() int { return len(f.Texts) - 1 }

// First is the first text, and how many follow it.
func (f Finding) First() string {
	switch len(f.Texts) {
	case 0:
		return ""
	case 1:
		return f.Texts[0]
	}
	return fmt.Sprintf("%s (and %d more like it, see report.html)", f.Texts[0], f.Others())
}

// Flagged is one warning with the cells that have it.
type Flagged struct {
	Word  string // its identifier
	Text  string // "" for a word that this version does not know
	Cells []int  // indices in the summary
}

// Flags collects the warnings that are shown of the cells, in the order in which they
// first appear: those that mean the same together.
func Flags(s *summary.Summary) []Flagged {
	var all []Flagged
	for i := range s.Cells {
		for _, word := range s.Cells[i].Flags {
			text := FlagText(word, &s.Cells[i])
			at := slices.IndexFunc(all, func(f Flagged) bool { return f.Word == string(word) && f.Text == text })
			if at < 0 {
				all = append(all, Flagged{Word: string(word), Text: text})
				at = len(all) - 1
			}
			all[at].Cells = append(all[at].Cells, i)
		}
	}
	return all
}

// who names the cells of a warning: all of them, or each by name.
func (f Flagged) Who(names []string) string {
	if len(f.Cells) == len(names) && len(names) > 1 {
		return "all cells"
	}
	if len(f.Cells) > 2*fewNames {
		return display.Counted(int64(len(f.Cells)), "cell")
	}
	var words []string
	for _, i := range f.Cells {
		words = append(words, names[i])
	}
	return phrase.List(words)
}
