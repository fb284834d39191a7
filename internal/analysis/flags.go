package analysis

import (
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/sums"
)

// Flag is a mark on a cell that qualifies its figures, as summary.json has it. Package
// narrative explains each.
type Flag string

// The flags of a cell.
const (
	// Nothing, or little, was measured.
	FlagSkipped    Flag = "skipped"    // the service was not available
	FlagNoTrials   Flag = "no_trials"  // no trial was completed
	FlagFewTrials  Flag = "few_trials" // too few for a 95% interval of a median
	FlagIncomplete Flag = "incomplete_trial"
	FlagFailed     Flag = "trial_failed"  // a trial failed, and does not count
	FlagInvalid    Flag = "invalid_trial" // a limit did not hold in a trial, which does not count

	// Others took CPU.
	FlagBusyNeighbour   Flag = "busy_neighbour"   // processes that the experiment did not start
	FlagBusyHypervisor  Flag = "busy_hypervisor"  // steal time
	FlagCPUStolen       Flag = "cpu_stolen"       // too little steal time to disturb, and enough for its pauses to show
	FlagLowIdle         Flag = "low_idle"         // the host had almost no idle CPU
	FlagSearchDisturbed Flag = "search_disturbed" // in a search, or at the levels that decide a ramp's breaking point

	// The generator.
	FlagAgentWaited      Flag = "agent_waited"      // for a CPU
	FlagAgentThrottled   Flag = "agent_throttled"   // by its own CPU limit
	FlagAgentLost        Flag = "agent_lost"        // an agent stopped before the load ended
	FlagSentLate         Flag = "sent_late"         // latencies include the generator's own delay
	FlagGeneratorLimited Flag = "generator_limited" // it could not send the load
	FlagDropped          Flag = "requests_dropped"
	FlagAgentStopped     Flag = "agent_stopped" // by a signal, for a time or permanently
	FlagNoPorts          Flag = "no_ports"      // the generator's machine had no free local port

	// The service and its dependencies.
	FlagRestarted           Flag = "restarted"
	FlagDownAtEnd           Flag = "down_at_end"            // a replica died, and was not back when the trial ended
	FlagFrozen              Flag = "service_frozen"         // it neither answered nor used CPU until the trial ended
	FlagUnaccepted          Flag = "unaccepted_connections" // timeouts behind connections that stay open
	FlagOOMKilled           Flag = "oom_killed"
	FlagUnsteady            Flag = "unsteady" // it had not settled
	FlagDependencyThrottled Flag = "dependency_throttled"
	FlagDependencyRestarted Flag = "dependency_restarted"

	// What the figures can show.
	FlagNoWindows        Flag = "no_windows"        // throttle windows are unknown
	FlagLowerBound       Flag = "lower_bound"       // of the breaking point
	FlagSearchIncomplete Flag = "search_incomplete" // a search did not test its answer
	FlagFewPeriods       Flag = "few_periods_for_p999"
	FlagFewRequests      Flag = "few_requests_for_p99"
	FlagBeyondRange      Flag = "beyond_range" // latencies beyond the histograms' range
	FlagMovingLoad       Flag = "moving_load"  // a percentile over all of it describes no level
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

// Has reports whether a cell has a flag.
func (c *CellSummary) Has(f Flag) bool { return c.Flags.Has(f) }

// Skipped reports whether the cell's service was not available where the record was
// made, so that no trial ran.
func (c *CellSummary) Skipped() bool { return c.Has(FlagSkipped) }

// fewPeriods is how many CFS periods a p99.9 needs. One stall affects all requests in
// flight, so the sample size is the number of periods, not of requests.
const fewPeriods = 1000

// flags returns the flags of a cell; whole are the sums of all its frames.
func (c *cell) flags(s *CellSummary, whole *sums.Total, attempts []Attempt) Flags {
	flags := Flags{}
	flag := func(f Flag, when bool) {
		if when && !flags.Has(f) {
			flags = append(flags, f)
		}
	}
	flag(FlagSkipped, c.skipped != "")
	flag(FlagNoTrials, len(c.trials) == 0 && c.skipped == "")
	find := c.plan.Load.Find // a search gives its own interval, and overloads on purpose
	flag(FlagFewTrials, !find && len(c.trials) > 0 && len(c.trials) < minTrials)
	for _, t := range c.trials {
		if find {
			flag(FlagSearchDisturbed, t.search.sources() != 0)
			flag(FlagSearchIncomplete, t.search.tested() == nil && t.search.result().Load > 0)
		}
		for _, f := range noiseFlags(&t.noise().Noise, c.goal.late()) {
			flag(f, true)
		}
		flag(FlagIncomplete, t.attempt.cut())
	}
	flag(FlagAgentLost, s.Generator.Lost > 0)
	flag(FlagSearchDisturbed, c.ramps().disturbed() > 0)
	flag(FlagNoWindows, c.noWindows && s.LatencyMS != nil && c.levels == nil && deref(s.CPU.ThrottledPeriods) > 0)
	flag(FlagLowerBound, s.Breaking != nil && s.Breaking.AtLeast && s.Breaking.LimitedBy != "")
	flag(FlagUnsteady, c.levels == nil && !find && 2*c.drifts() > len(c.trials))
	for _, d := range s.Dependencies {
		flag(FlagDependencyThrottled, deref(d.ThrottledPeriods) > 0)
		flag(FlagDependencyRestarted, deref(d.Restarts) > 0)
	}
	flag(FlagSentLate, s.Generator.SentLate && !s.Generator.Limited)
	flag(FlagGeneratorLimited, s.Generator.Limited)
	flag(FlagNoPorts, s.Generator.NoPorts > 0)
	flag(FlagUnaccepted, unaccepted(&whole.Client.Errors))
	flag(FlagRestarted, deref(s.Restarts) > 0)
	for _, t := range c.trials {
		flag(FlagDownAtEnd, !find && !c.plan.Load.Benchmark && t.ending.down())
	}
	flag(FlagFrozen, s.Frozen != "")
	flag(FlagOOMKilled, deref(s.Memory.OOMKills) > 0)
	flag(FlagDropped, !find && s.Errors.Dropped > 0)
	flag(FlagFewPeriods, s.LatencyMS != nil && s.CPU.Periods != nil && *s.CPU.Periods < fewPeriods && c.plan.Limits.CPUMillis > 0)
	flag(FlagFewRequests, s.LatencyMS != nil && !s.Supports("p99"))
	flag(FlagBeyondRange, whole.Client.Latency.Beyond() > 0)
	flag(FlagMovingLoad, c.levels != nil && len(c.levels.held) != 1 && !c.exp.Measure.Whole)
	for _, a := range attempts {
		flag(FlagFailed, a.Cell == c.plan.Index && a.State == Failed)
		flag(FlagAgentStopped, a.Cell == c.plan.Index && len(a.Held) > 0)
		flag(FlagInvalid, a.Cell == c.plan.Index && a.State == Invalid)
	}
	return flags
}

// fewUnaccepted is so few timeouts on new connections that they may be chance.
const fewUnaccepted = 3

// unaccepted reports whether most timeouts were on new connections on which nothing
// arrived, while answers arrived on others: open connections hold the service's workers.
func unaccepted(e *sums.Errors) bool {
	return e.Unaccepted >= fewUnaccepted && 2*e.Unaccepted >= e.Timeouts
}

// noiseFlags returns the flags for what did not come from the service; late is the share
// of requests that may be.
func noiseFlags(n *disturbance.Noise, late float64) Flags {
	var flags Flags
	by := n.Disturbing(late)
	for _, one := range []struct {
		flag Flag
		when bool
	}{
		{FlagBusyNeighbour, by&disturbance.Neighbour != 0}, {FlagBusyHypervisor, by&disturbance.Hypervisor != 0},
		{FlagCPUStolen, n.Stolen()}, {FlagAgentWaited, n.AgentWaited() != ""}, {FlagAgentThrottled, n.AgentThrottled()}, {FlagLowIdle, n.LowIdle()},
	} {
		if one.when {
			flags = append(flags, one.flag)
		}
	}
	return flags
}

// drifts counts the trials in which the service had not settled. Where the generator sent
// late or others disturbed the trial, a change shows them, and nothing about the service.
func (c *cell) drifts() int {
	n := 0
	for _, t := range c.trials {
		by := &t.noise().Noise
		if t.drift.unsteady() && t.attempt.State != Disturbed && !by.SentLate() && by.Disturbing(c.goal.late()) == 0 {
			n++
		}
	}
	return n
}
