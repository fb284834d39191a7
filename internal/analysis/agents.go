package analysis

import (
	"fmt"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/signals"
)

// Flags of agents that were throttled or stopped early, and of throttling without
// throttle windows.
const (
	agentThrottledFlag = "agent_throttled"
	agentLostFlag      = "agent_lost"
	noWindowsFlag      = "no_windows"
)

// agentThrottled reports whether the agents' own CPU limit throttled them for so much
// of their time that it shaped their figures.
func (n *Noise) agentThrottled() bool {
	return disturbance.AgentThrottled(n.throttled, n.clientSeconds)
}

// throttledText describes for how much of their time the agents were throttled.
func (n *Noise) throttledText() string {
	return fmt.Sprintf("an agent was throttled by its own CPU limit for %.2g s in each second", n.throttled/n.clientSeconds)
}

// lost returns how many agents stopped early, over all trials that count.
func (c *cell) lost() (n int) {
	for _, t := range c.trials {
		n += len(t.attempt.Lost)
	}
	return n
}

// generator summarizes the cell's generator. One that lost agents sent less load than
// configured, so it was the limit.
func (c *cell) generator(all *tally) GeneratorSummary {
	out := generatorOf(all, c.generatorLimited(all) || c.lost() > 0)
	out.Lost = c.lost()
	return out
}

// subtractLost turns a breaking point from a ramp into a lower bound if agents stopped
// early. The load was then lower than its level by at most their part, and so is the
// load that the service is known to handle.
func (c *cell) subtractLost(b *BreakingPoint) {
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
	b.Evidence = fmt.Sprintf("%.0f of %d agents ran until the end of trial %d", there*float64(agents), agents, trial)
	b.Reason = joinNotes(fmt.Sprintf("agents stopped early, and up to %.0f%% of the load was missing", 100*(1-there)), b.Reason)
}

// unseen reports whether the service was throttled without throttle windows. It is
// then unknown which requests were slow because of that, and a share of 0 would be
// wrong.
func (c *cell) unseen(all *tally) bool {
	return c.noWindows && deref(all.server.throttledPeriods) > 0
}

// scaled sums up how many replicas there were during the measurement.
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

// summary returns nil if the service was not scaled.
func (s *scaled) summary() *ReplicasSummary {
	if s.seconds == 0 {
		return nil
	}
	return &ReplicasSummary{Least: s.least, Most: s.most, Mean: s.replicas / s.seconds}
}
