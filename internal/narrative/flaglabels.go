package narrative

import (
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
)

// flagLabels are the warnings of a cell in a few words, for tables and lists.
// summary.json and the CSV have the identifiers.
var flagLabels = map[analysis.Flag]string{
	analysis.FlagSkipped:             "skipped",
	analysis.FlagNoTrials:            "no trial completed",
	analysis.FlagFewTrials:           "few trials",
	analysis.FlagIncomplete:          "a trial was cut off",
	analysis.FlagFailed:              "a trial failed",
	analysis.FlagInvalid:             "a limit did not hold",
	analysis.FlagBusyNeighbour:       "busy neighbour",
	analysis.FlagBusyHypervisor:      "busy hypervisor",
	analysis.FlagCPUStolen:           "steal time",
	analysis.FlagLowIdle:             "little idle CPU",
	analysis.FlagSearchDisturbed:     "search disturbed",
	analysis.FlagAgentWaited:         "agent waited for a CPU",
	analysis.FlagAgentThrottled:      "agent throttled",
	analysis.FlagAgentLost:           "agent lost",
	analysis.FlagAgentStopped:        "agent stopped",
	analysis.FlagDownAtEnd:           "down at the end",
	analysis.FlagFrozen:              "frozen",
	analysis.FlagSentLate:            "sent late",
	analysis.FlagGeneratorLimited:    "limited by the generator",
	analysis.FlagDropped:             "requests dropped",
	analysis.FlagRestarted:           "restarted",
	analysis.FlagUnaccepted:          "connections not served",
	analysis.FlagNoPorts:             "no free port",
	analysis.FlagOOMKilled:           "killed for memory",
	analysis.FlagUnsteady:            "not settled",
	analysis.FlagDependencyThrottled: "dependency throttled",
	analysis.FlagDependencyRestarted: "dependency restarted",
	analysis.FlagNoWindows:           "throttle times unknown",
	analysis.FlagLowerBound:          "lower bound",
	analysis.FlagSearchIncomplete:    "search incomplete",
	analysis.FlagFewPeriods:          "few periods for p99.9",
	analysis.FlagFewRequests:         "few requests for p99",
	analysis.FlagBeyondRange:         "latencies over an hour",
	analysis.FlagMovingLoad:          "moving load",
}

// FlagLabel is a warning of a cell in a few words. One that this version does not know
// has the words of its identifier.
func FlagLabel(word analysis.Flag) string {
	if text, ok := flagLabels[word]; ok {
		return text
	}
	return strings.TrimSpace(strings.ReplaceAll(display.Plain(string(word)), "_", " "))
}

// ShownFlags are the warnings of a cell that a reader needs. Few periods are a warning
// only if the objective names p99.9: tables mark that figure anyway. A lower bound is no
// second warning beside the one about its generator.
func ShownFlags(c *analysis.CellSummary) []analysis.Flag {
	var shown []analysis.Flag
	for _, word := range c.Flags {
		if o := c.Objective; word == analysis.FlagFewPeriods && (o == nil || o.Quantile != "p999") {
			continue
		}
		if word == analysis.FlagLowerBound && c.Has(analysis.FlagGeneratorLimited) {
			continue
		}
		shown = append(shown, word)
	}
	return shown
}
