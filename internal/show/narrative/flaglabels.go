package narrative

import (
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

// flagLabels are the warnings of a cell in a few words, for tables and lists.
// summary.json and the CSV have the identifiers.
var flagLabels = map[summary.Flag]string{
	summary.FlagSkipped:             "skipped",
	summary.FlagNoTrials:            "no trial completed",
	summary.FlagFewTrials:           "few trials",
	summary.FlagFailed:              "a trial failed",
	summary.FlagInvalid:             "a limit did not hold",
	summary.FlagBusyNeighbour:       "busy neighbour",
	summary.FlagBusyHypervisor:      "busy hypervisor",
	summary.FlagSearchDisturbed:     "search disturbed",
	summary.FlagAgentThrottled:      "agent throttled",
	summary.FlagAgentLost:           "agent lost",
	summary.FlagDownAtEnd:           "down at the end",
	summary.FlagFrozen:              "frozen",
	summary.FlagAgentStopped:        "agent stopped",
	summary.FlagSentLate:            "sent late",
	summary.FlagGeneratorLimited:    "limited by the generator",
	summary.FlagRestarted:           "restarted",
	summary.FlagUnaccepted:          "connections not served",
	summary.FlagStuck:               "requests without an end",
	summary.FlagNoPorts:             "no free port",
	summary.FlagOtherSources:        "several source addresses",
	summary.FlagOOMKilled:           "killed for memory",
	summary.FlagUnsteady:            "not settled",
	summary.FlagDependencyThrottled: "dependency throttled",
	summary.FlagDependencyRestarted: "dependency restarted",
	summary.FlagNoWindows:           "throttle times unknown",
	summary.FlagSearchIncomplete:    "search incomplete",
	summary.FlagFewRequests:         "few requests for p99",
	summary.FlagMovingLoad:          "moving load",
}

// FlagLabel is a warning of a cell in a few words. One that this version does not know
// has the words of its identifier.
func FlagLabel(word summary.Flag) string {
	if text, ok := flagLabels[word]; ok {
		return text
	}
	return strings.TrimSpace(strings.ReplaceAll(display.Plain(string(word)), "_", " "))
}
