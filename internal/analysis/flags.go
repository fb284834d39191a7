package analysis

import (
	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/analysis/verdict"
)

// flags returns the flags of a cell; whole are the sums of all its frames.
func (c *cell) flags(s *summary.Cell, whole *sums.Total, attempts []Attempt) summary.Flags {
	flags := summary.Flags{}
	flag := func(f summary.Flag, when bool) {
		if when && !flags.Has(f) {
			flags = append(flags, f)
		}
	}
	flag(summary.FlagSkipped, c.skipped != "")
	flag(summary.FlagNoTrials, len(c.trials) == 0 && c.skipped == "")
	find := c.plan.Load.Find // a search gives its own interval, and overloads on purpose
	flag(summary.FlagFewTrials, !find && len(c.trials) > 0 && len(c.trials) < summary.EnoughTrials)
	for _, t := range c.trials {
		if find {
			flag(summary.FlagSearchDisturbed, t.search.Sources() != 0)
			flag(summary.FlagSearchIncomplete, t.search.Tested() == nil && t.search.Result().Load > 0)
		}
		for _, f := range noiseFlags(&t.noise().Noise, c.goal.Late()) {
			flag(f, true)
		}
	}
	flag(summary.FlagAgentLost, s.Generator.Lost > 0)
	flag(summary.FlagSearchDisturbed, c.ramps().Disturbed() > 0)
	flag(summary.FlagNoWindows, c.noWindows && s.LatencyMS != nil && c.levels == nil && sums.Value(s.CPU.ThrottledPeriods) > 0)
	flag(summary.FlagUnsteady, c.levels == nil && !find && c.plan.Load.Replay == "" && 2*c.drifts() > len(c.trials))
	for _, d := range s.Dependencies {
		flag(summary.FlagDependencyThrottled, !c.isNeighbour(d.Name) && sums.Value(d.ThrottledPeriods) > 0)
		flag(summary.FlagDependencyRestarted, sums.Value(d.Restarts) > 0)
	}
	flag(summary.FlagSentLate, s.Generator.SentLate && !s.Generator.Limited)
	flag(summary.FlagGeneratorLimited, s.Generator.Limited)
	flag(summary.FlagNoPorts, s.Generator.NoPorts > 0)
	flag(summary.FlagOtherSources, s.Generator.OtherSources > 0 && s.Errors.OfService() > 0)
	flag(summary.FlagUnaccepted, unaccepted(&whole.Client.Errors))
	flag(summary.FlagStuck, !find && c.stuck(s))
	flag(summary.FlagRestarted, sums.Value(s.Restarts) > 0)
	for _, t := range c.trials {
		flag(summary.FlagDownAtEnd, !find && !c.plan.Load.Benchmark && t.ending.down())
	}
	flag(summary.FlagFrozen, s.Frozen != "")
	flag(summary.FlagOOMKilled, sums.Value(s.Memory.OOMKills) > 0)
	flag(summary.FlagFewRequests, s.LatencyMS != nil && !verdict.Supports(s, "p99"))
	flag(summary.FlagMovingLoad, c.levels != nil && len(c.levels.Held) != 1 && !c.exp.Measure.Whole)
	for _, a := range attempts {
		flag(summary.FlagFailed, a.Cell == c.plan.Index && a.State == Failed)
		flag(summary.FlagAgentStopped, a.Cell == c.plan.Index && len(a.Held) > 0)
		flag(summary.FlagInvalid, a.Cell == c.plan.Index && a.State == Invalid)
	}
	return flags
}

// fewUnaccepted is so few timeouts on new connections that they may be chance.
const fewUnaccepted = 3

// unaccepted reports whether most timeouts were on new connections on which nothing
// arrived, while answers arrived on others: open connections hold the service's workers.
func unaccepted(e *summary.ErrorCounts) bool {
	return e.Unaccepted >= fewUnaccepted && 2*e.Unaccepted >= e.Timeouts
}

// fewStuck is so few requests of one trial without an end that they may be slow ones.
const fewStuck = 3

// stuck reports whether requests of the warm-up did not end before the load did, and would
// change the figures: the slowest of all, they are not in the latencies. In a closed loop
// each holds a user, who sends nothing else.
func (c *cell) stuck(s *summary.Cell) bool {
	of := float64(s.Requests)
	if s.Load.Users != nil {
		of = *s.Load.Users * float64(s.Trials)
	}
	return s.Stuck > 0 && s.Stuck >= fewStuck*int64(s.Trials) && float64(s.Stuck) >= c.goal.Late()*of
}

// noiseFlags returns the flags for what did not come from the service; late is the share
// of requests that may be.
func noiseFlags(n *disturbance.Noise, late float64) summary.Flags {
	var flags summary.Flags
	by := n.Disturbing(late)
	for _, one := range []struct {
		flag summary.Flag
		when bool
	}{
		{summary.FlagBusyNeighbour, by&finding.Neighbour != 0}, {summary.FlagBusyHypervisor, by&finding.Hypervisor != 0},
		{summary.FlagAgentThrottled, n.AgentThrottled()},
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
		if t.drift.unsteady() && t.attempt.State != Disturbed && !by.SentLate() && by.Disturbing(c.goal.Late()) == 0 {
			n++
		}
	}
	return n
}
