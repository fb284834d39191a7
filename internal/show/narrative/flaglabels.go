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
	summary.FlagIncomplete:          "a trial was cut off",
	summary.FlagFailed:              "a trial failed",
	summary.FlagInvalid:             "a limit did not hold",
	summary.FlagBusyNeighbour:       "busy neighbour",
	summary.FlagBusyHypervisor:      "busy hypervisor",
	summary.FlagCPUStolen:           "steal time",
	summary.FlagLowIdle:             "little idle CPU",
	summary.FlagSearchDisturbed:     "search disturbed",
	summary.FlagAgentWaited:         "agent waited for a CPU",
	summary.FlagAgentThrottled:      "agent throttled",
	summary.FlagAgentLost:           "agent lost",
	summary.FlagAgentStopped:        "agent stopped",
	summary.FlagDownAtEnd:           "down at the end",
	summary.FlagFrozen:              "frozen",
	summary.FlagSentLate:            "sent late",
	summary.FlagGeneratorLimited:    "limited by the generator",
	summary.FlagDropped:             "requests dropped",
	summary.FlagRestarted:           "restarted",
	summary.FlagUnaccepted:          "connections not served",
	summary.FlagNoPorts:             "no free port",
	summary.FlagOOMKilled:           "killed for memory",
	summary.FlagUnsteady:            "not settled",
	summary.FlagDependencyThrottled: "dependency throttled",
	summary.FlagDependencyRestarted: "dependency restarted",
	summary.FlagNoWindows:           "throttle times unknown",
	summary.FlagLowerBound:          "lower bound",
	summary.FlagSearchIncomplete:    "search incomplete",
	summary.FlagFewPeriods:          "few periods for p99.9",
	summary.FlagFewRequests:         "few requests for p99",
	summary.FlagBeyondRange:         "latencies over an hour",
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

// ShownFlags are the warnings of a cell that a reader needs. Few periods are a warning
// only if the objective names p99.9: tables mark that figure anyway. A lower bound is no
// second warning beside the one about its generator.
func ShownFlags(c *summary.Cell) []summary.Flag {
	var shown []summary.Flag
	for _, word := range c.Flags {
		if o := c.Objective; word == summary.FlagFewPeriods && (o == nil || o.Quantile != "p999") {
			continue
		}
		if word == summary.FlagLowerBound && c.Has(summary.FlagGeneratorLimited) {
			continue
		}
		shown = append(shown, word)
	}
	return shown
}
