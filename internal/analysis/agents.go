package analysis

import (
	"fmt"

	"github.com/millicore/millicore/internal/signals"
)

// The flags of agents that were not all there, and of throttling that nobody saw.
const (
	agentThrottledFlag = "agent_throttled"
	agentLostFlag      = "agent_lost"
	noWindowsFlag      = "no_windows"
)

// agentThrottled reports whether a CPU limit of their own throttled the agents for
// so much of their time that their figures are its doing.
func (n *Noise) agentThrottled() bool { return signals.AgentThrottled(n.throttled, n.clientSeconds) }

// throttledText says for how much of their time the agents were throttled.
func (n *Noise) throttledText() string {
	return fmt.Sprintf("an agent was throttled by its own CPU limit for %.2g s in each second", n.throttled/n.clientSeconds)
}

// lost is how many agents broke off, over all trials that count.
func (c *cell) lost() (n int) {
	for _, t := range c.trials {
		n += len(t.attempt.Lost)
	}
	return n
}

// generator is the cell's. One that lost a part of itself made less load than was
// asked for, whatever else it shows.
func (c *cell) generator(all *tally) GeneratorSummary {
	out := generatorOf(all, c.generatorLimited(all) || c.lost() > 0)
	out.Lost = c.lost()
	return out
}

// withoutThem makes a breaking point that was read from a load raised in steps a
// lower bound where agents broke off: the load was less than its level says, by
// their part of it at most, and so is what the service is known to bear.
func (c *cell) withoutThem(b *BreakingPoint) {
	if c.lost() == 0 || b.Load() == nil {
		return
	}
	agents, there, trial := c.plan.Load.Agents, 1.0, 0
	for _, t := range c.trials {
		if share := 1 - float64(len(t.attempt.Lost))/float64(max(agents, 1)); share < there {
			there, trial = share, t.attempt.Trial
		}
	}
	less := func(v *float64) *float64 {
		if v == nil {
			return nil
		}
		return ptr(*v * there)
	}
	b.RateRPS, b.Users, b.Low, b.High = less(b.RateRPS), less(b.Users), less(b.Low), nil
	b.AtLeast, b.LimitedBy = true, ByGenerator
	b.Evidence = fmt.Sprintf("%.0f of %d agents were there to the end of trial %d", there*float64(agents), agents, trial)
	b.Reason = noted(fmt.Sprintf("agents broke off, and up to %.0f%% of the load was missing", 100*(1-there)), b.Reason)
}

// unseen reports whether the service was throttled, and nobody saw when: which
// requests that made slow is not known, and a share of nothing would be wrong.
func (c *cell) unseen(all *tally) bool {
	return c.noWindows && deref(all.server.throttledPeriods) > 0
}

// scaled sums up how many replicas there were in the measured part.
type scaled struct {
	seconds     float64
	replicas    float64 // times seconds
	least, most int
}

func (s *scaled) add(f *signals.Frame) {
	n := f.Scale.Replicas
	if s.seconds == 0 {
		s.least = n
	}
	s.least, s.most = min(s.least, n), max(s.most, n)
	s.seconds += f.Seconds()
	s.replicas += float64(n) * f.Seconds()
}

func (s *scaled) merge(o *scaled) {
	switch {
	case o.seconds == 0:
		return
	case s.seconds == 0:
		s.least = o.least
	}
	s.least, s.most = min(s.least, o.least), max(s.most, o.most)
	s.seconds += o.seconds
	s.replicas += o.replicas
}

// summary is null where the service was not scaled.
func (s *scaled) summary() *ReplicasSummary {
	if s.seconds == 0 {
		return nil
	}
	return &ReplicasSummary{Least: s.least, Most: s.most, Mean: s.replicas / s.seconds}
}
