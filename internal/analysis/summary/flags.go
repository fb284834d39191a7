package summary

import (
	"slices"
	"strings"
)

// Flag is a mark on a cell that qualifies its figures, as summary.json has it. Package
// narrative explains each.
type Flag string

// The flags of a cell.
const (
	// Nothing, or little, was measured.
	FlagSkipped   Flag = "skipped"       // the service was not available
	FlagNoTrials  Flag = "no_trials"     // no trial was completed
	FlagFewTrials Flag = "few_trials"    // too few for a 95% interval of a median
	FlagFailed    Flag = "trial_failed"  // a trial failed, and does not count
	FlagInvalid   Flag = "invalid_trial" // a limit did not hold in a trial, which does not count

	// Others took CPU.
	FlagBusyNeighbour   Flag = "busy_neighbour"   // processes that the experiment did not start
	FlagBusyHypervisor  Flag = "busy_hypervisor"  // steal time
	FlagSearchDisturbed Flag = "search_disturbed" // in a search, or at the levels that decide a ramp's breaking point

	// The generator.
	FlagAgentThrottled   Flag = "agent_throttled"   // by its own CPU limit
	FlagAgentLost        Flag = "agent_lost"        // an agent stopped before the load ended
	FlagSentLate         Flag = "sent_late"         // latencies include the generator's own delay
	FlagGeneratorLimited Flag = "generator_limited" // it could not send the load
	FlagAgentStopped     Flag = "agent_stopped"     // by a signal, for a time or permanently
	FlagNoPorts          Flag = "no_ports"          // the generator's machine had no free local port
	FlagOtherSources     Flag = "other_sources"     // requests failed, and connections came from several addresses

	// The service and its dependencies.
	FlagRestarted           Flag = "restarted"
	FlagDownAtEnd           Flag = "down_at_end"            // a replica died, and was not back when the trial ended
	FlagFrozen              Flag = "service_frozen"         // it neither answered nor used CPU until the trial ended
	FlagUnaccepted          Flag = "unaccepted_connections" // timeouts behind connections that stay open
	FlagStuck               Flag = "stuck_requests"         // of the warm-up, which did not end before the load did
	FlagOOMKilled           Flag = "oom_killed"
	FlagUnsteady            Flag = "unsteady" // it had not settled
	FlagDependencyThrottled Flag = "dependency_throttled"
	FlagDependencyRestarted Flag = "dependency_restarted"

	// What the figures can show.
	FlagNoWindows        Flag = "no_windows"        // throttle windows are unknown
	FlagSearchIncomplete Flag = "search_incomplete" // a search did not test its answer
	FlagFewRequests      Flag = "few_requests_for_p99"
	FlagMovingLoad       Flag = "moving_load" // a percentile over all of it describes no level
)

// Flags are the flags of a cell.
type Flags []Flag

// Has reports whether a flag is among them.
func (f Flags) Has(flag Flag) bool { return slices.Contains(f, flag) }

// Join writes the flags with a separator between them.
func (f Flags) Join(sep string) string {
	words := make([]string, len(f))
	for i, flag := range f {
		words[i] = string(flag)
	}
	return strings.Join(words, sep)
}
