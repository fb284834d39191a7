package report

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis"
)

// flagTexts explain the warnings that analysis gives a cell as words.
var flagTexts = map[string]string{
	"no_trials":            "No trial of this cell got as far as its load: there is nothing to show.",
	"few_trials":           "Fewer than six trials: the median over trials has no 95% interval, and a difference may be chance.",
	"busy_neighbour":       "Processes that the experiment did not start used the host's CPUs. That can turn a comparison round: repeat it on a quiet host.",
	"agent_waited":         "The agent waited for a CPU and sent late: part of the latency is its own.",
	"low_idle":             "The host had less than 0.2 idle cores: the service and the agent may have been in each other's way.",
	"incomplete_trial":     "A trial was cut off before its end, and counts as far as it got.",
	"generator_limited":    "The agent sent late: it was the limit, not the service. Rates are lower bounds.",
	"restarted":            "The service ended and was started again during a trial.",
	"oom_killed":           "The kernel killed the service because it reached its memory limit.",
	"requests_dropped":     "Requests were due and never sent, as the trial had ended or was stopped.",
	"few_periods_for_p999": "Fewer than 1,000 quota periods were measured: p99.9 rests on too few of them to be relied on.",
	"moving_load":          "The load moves: no percentile over all of it describes a level. See the levels held.",
	"trial_failed":         "A trial failed before its end; other attempts or trials stand in for it.",
	"unsteady":             "The first and the last third of the measured part differ: the service had not settled.",
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
