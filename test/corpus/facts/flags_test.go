package facts

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// flags checks that what the flags of a cell state is in the record.
func (e *examined) flags(c *cell, s *summary.Cell) {
	whole := sum(c.trials, nil)
	for _, flag := range s.Flags {
		if !e.flagged(c, flag, whole) {
			e.wrong(c, "the flag %s has no ground in the record", flag)
		}
	}
	for flag, known := range map[summary.Flag]bool{summary.FlagFewTrials: len(c.trials) > 0 && len(c.trials) < 6 && !c.Load.Find, summary.FlagRestarted: whole.restarts > 0,
		summary.FlagOOMKilled: whole.kills > 0, summary.FlagFailed: e.attempted(c, "failed"), summary.FlagInvalid: e.attempted(c, "invalid")} {
		if known && !s.Has(flag) {
			e.wrong(c, "the flag %s is missing", flag)
		}
	}
}

// attempted reports whether an attempt of a cell had an outcome.
func (e *examined) attempted(c *cell, outcome string) bool {
	return slices.ContainsFunc(e.attempts, func(t *trial) bool { return t.cell == c.Index && t.outcome == outcome })
}

func (e *examined) flagged(c *cell, flag summary.Flag, whole *part) bool {
	switch flag {
	case summary.FlagFewTrials:
		return len(c.trials) < 6
	case summary.FlagFewRequests:
		return c.Load.Find || c.all().requests() < 1000
	case summary.FlagMovingLoad:
		return len(c.staged()) > 1
	case summary.FlagRestarted:
		return whole.restarts > 0
	case summary.FlagOOMKilled:
		return whole.kills > 0
	case summary.FlagBusyNeighbour:
		return c.disturbedBy(summary.Neighbours)
	case summary.FlagBusyHypervisor:
		return c.disturbedBy(summary.Hypervisor)
	case summary.FlagSearchDisturbed:
		return slices.ContainsFunc(c.loads(), func(h held) bool { return len(disturbed(h.part)) > 0 })
	case summary.FlagGeneratorLimited:
		if c.Load.Rate != nil && !c.Load.Find && c.sentAll() {
			return false
		}
		return c.Load.Find || c.anyTrial(late)
	case summary.FlagSentLate:
		return c.Load.Find || late(whole) || c.anyTrial(late)
	case summary.FlagFailed:
		return e.attempted(c, "failed")
	case summary.FlagInvalid:
		return e.attempted(c, "invalid")
	case summary.FlagSkipped, summary.FlagNoTrials:
		return len(c.trials) == 0
	case summary.FlagSearchIncomplete: // see breaking
		return true
	case summary.FlagUnsteady: // others and the generator may change the latency of most trials
		settled := 0
		for _, p := range c.each() {
			if late(p) || len(disturbed(p)) > 0 {
				settled++
			}
		}
		return 2*settled < len(c.trials)
	case summary.FlagStuck:
		return c.anyTrial(func(p *part) bool { return p.stuck >= 3 })
	case summary.FlagDownAtEnd:
		return c.anyTrial(func(p *part) bool { return p.down })
	}
	return false // no case of the corpus has it
}

// anyTrial reports whether a trial of the cell has a property.
func (c *cell) anyTrial(of func(*part) bool) bool { return slices.ContainsFunc(c.each(), of) }

// late reports whether the generator sent a part late.
func late(p *part) bool {
	lag := float64(p.lag.Quantile(0.99)) / 1e6
	return lag >= 2 && lag >= 0.05*p.ms("p99")
}

// sentAll reports whether the generator sent what was due.
func (c *cell) sentAll() bool {
	var due int64
	for _, t := range c.trials {
		for _, f := range t.frames {
			if f.Client != nil && f.Phase == signals.Measure {
				due += f.Client.Intended
			}
		}
	}
	p := c.all()
	return p.rate() > 0.98*float64(due)/p.seconds
}

// ends are the ends of a quantile of a cell: the 95% interval of the median over trials, or
// the range of few trials. known is false for one trial, whose interval is a bootstrap.
func (c *cell) ends(quantile string) (low, high float64, known bool) {
	values := c.values(quantileOf(quantile))
	if low, high, known = medianEnds(values); known {
		return low, high, true
	}
	if len(values) < 2 {
		return 0, math.Inf(1), false
	}
	return slices.Min(values), slices.Max(values), true
}

// undecided reports whether an interval of the cell contains the objective, or a range of its
// few trials is as near to it as they are to each other. A latency that meets it is also
// undecided if 4% more CPU for each request would make the queues that much longer, and if
// the late requests, in such bursts as lateAtMost allows for, may be too many.
func (c *cell) undecided(lateAtMost float64) bool {
	o := c.objective
	if o.Quantile != "" {
		limit := float64(o.Latency) / 1e6
		low, high, _ := c.ends(o.Quantile)
		if len(c.trials) < 6 {
			low, high = low*math.Pow(low/high, 5), high*math.Pow(high/low, 5)
		}
		slack := 1.1
		if used := c.all().ofLimit(); used > 0 && c.Load.Users == nil {
			if slack = max(slack, 1.01*(1-used)/(1-1.04*used)); 1.04*used >= 1 {
				slack = math.Inf(1)
			}
		}
		if low <= limit && limit < slack*high || lateAtMost > 1-shareOf(o.Quantile) {
			return true
		}
	}
	low, high := proportion(c)
	return o.Availability > 0 && low <= 1-o.Availability/100 && 1-o.Availability/100 < high
}
