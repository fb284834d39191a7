package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
)

// flagTexts explain the warnings that analysis gives a cell as words.
var flagTexts = map[string]string{
	"no_trials":            "No trial of this cell was completed: there is nothing to show.",
	"few_trials":           "Fewer than six trials: the median over trials has no 95% interval, and a difference may be chance.",
	"busy_neighbour":       "Processes that the experiment did not start used the host's CPUs. That can turn a comparison round: repeat it on a quiet host.",
	"agent_waited":         "The agent waited for a CPU and sent late: part of the latency is its own.",
	"low_idle":             "The host had less than 0.2 idle cores: the service and the agent may have been in each other's way.",
	"incomplete_trial":     "A trial was cut off before its end, and counts as far as it got.",
	"generator_limited":    "The agent sent late: it was the limit, not the service. Rates are lower bounds.",
	"restarted":            "The service ended and was started again during a trial, after 1 s at first; a kubelet begins at 10 s.",
	"oom_killed":           "The kernel killed the service because it reached its memory limit.",
	"cpu_stolen":           "The hypervisor took more than 0.1 cores from this machine: latencies hold its pauses.",
	"dependency_throttled": "A dependency was throttled by its own limit: part of the latency may be its.",
	"dependency_restarted": "A dependency ended and was started again during a trial.",
	"requests_dropped":     "Requests were due and never sent, as the trial had ended or was stopped.",
	"few_periods_for_p999": "Fewer than 1,000 quota periods were measured: p99.9 rests on too few of them to be relied on.",
	"moving_load":          "The load moves: no percentile over all of it describes a level. See the levels held.",
	"trial_failed":         "A trial failed before its end, and is left out of the figures.",
	"unsteady":             "The first and the last third of the measured part differ: the service had not settled.",
}

// finding is what was found under one title, for one cell or the whole record:
// a busy host says the same of every trial, and is read once.
type finding struct {
	Warning bool
	Title   string
	Texts   []string
}

// findings gathers the record's findings by their titles, in their order.
// Warnings come last.
func findings(s *analysis.Summary, names []string) []finding {
	var all []finding
	for _, f := range s.Findings {
		title := plain(f.Title)
		if f.Cell != nil {
			if at := cellAt(s, *f.Cell); at >= 0 && !strings.Contains(title, names[at]) {
				title = names[at] + ": " + title
			}
		}
		one := finding{Warning: f.Level == "warning", Title: title}
		at := slices.IndexFunc(all, func(o finding) bool { return o.Title == one.Title && o.Warning == one.Warning })
		if at < 0 {
			all = append(all, one)
			at = len(all) - 1
		}
		if text := plain(f.Text); text != "" {
			all[at].Texts = append(all[at].Texts, text)
		}
	}
	slices.SortStableFunc(all, func(a, b finding) int {
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
func (f finding) Others() int { return len(f.Texts) - 1 }

// sentence is the finding on one line: the first text, and how many follow.
func (f finding) sentence() string {
	switch len(f.Texts) {
	case 0:
		return f.Title
	case 1:
		return f.Title + " – " + f.Texts[0]
	}
	return fmt.Sprintf("%s – %s (and %d more like it, see report.html)", f.Title, f.Texts[0], f.Others())
}

// flagged is one warning word with the cells that have it.
type flagged struct {
	Word  string
	Text  string // "" for a word that this version does not know
	Cells []int  // indices in the summary
}

// flags collects the cells' warnings, in the order in which they first appear.
func flags(s *analysis.Summary) []flagged {
	var all []flagged
	for i := range s.Cells {
		for _, word := range s.Cells[i].Flags {
			at := slices.IndexFunc(all, func(f flagged) bool { return f.Word == word })
			if at < 0 {
				all = append(all, flagged{Word: word, Text: flagTexts[word]})
				at = len(all) - 1
			}
			all[at].Cells = append(all[at].Cells, i)
		}
	}
	return all
}

// who names the cells of a warning: all of them, or each by name.
func (f flagged) who(names []string) string {
	if len(f.Cells) == len(names) && len(names) > 1 {
		return "all cells"
	}
	if len(f.Cells) > 2*fewNames {
		return plural(len(f.Cells), "cell")
	}
	var words []string
	for _, i := range f.Cells {
		words = append(words, names[i])
	}
	return list(words)
}
