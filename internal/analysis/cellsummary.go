package analysis

import (
	"time"

	"github.com/millicore/millicore/internal/analysis/capacity"
	"github.com/millicore/millicore/internal/analysis/endpoints"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/analysis/verdict"
)

// summary returns what the trials show together; attempts are those of the record.
func (c *cell) summary(attempts []Attempt) summary.Cell {
	whole, all := sums.New(), sums.New() // of all frames, and of the figures
	held := true
	for _, t := range c.trials {
		if t.attempt.cut() || t.search != nil {
			t.all.Client.Errors.Dropped = 0 // the user ended the load, or the search did, not the service
		}
		of, ok := t.result()
		held = held && ok
		whole.Merge(t.all)
		all.Merge(of)
	}
	s := summary.Cell{
		Cell: c.plan.Index, Label: c.plan.Label(), Service: c.plan.Service.Name,
		Vary: map[string]*string{}, Limits: limitsOf(c.plan), Load: c.load(),
		Trials: len(c.trials), Kept: c.exp.Measure.Kept, Requests: all.Client.Requests(),
		RateRPS: all.Client.Rate(), Availability: all.Client.Availability(),
		Errors: all.Client.Errors, CPU: cpuOf(&all.Server), Replicas: replicasOf(&all.Server.Scaled), Memory: memoryOf(&whole.Server),
		WaitsMS: waitsOf(&all.Waits), Restarts: whole.Server.Restarts, Stuck: all.Client.Stuck, Ended: whole.Server.ProcessesEnded, Generator: c.generator(all), Host: hostOf(all.Noise.Machines()),
		Frozen:       c.frozen(),
		Start:        c.start(),
		Kinds:        inSteps(kindsOf(all, c.trials, endpoints.Enough, true), &c.plan.Load),
		Sessions:     sessionsOf(&all.Client),
		Dependencies: dependenciesOf(all, whole), Beside: c.beside(all), Benchmarks: c.benchmarks(), Steps: c.steps(), PerTrial: []summary.TrialFigures{},
	}
	if held {
		s.LatencyMS, s.ServiceMS = summary.QuantilesOf(all.Client.Latency), summary.QuantilesOf(all.Client.Service)
		if first := all.Client.FirstByte; first != nil {
			s.FirstByteMS = summary.QuantilesOf(first)
		}
		s.StreamsMS = summary.StreamsOf(all.Client.Streams)
		s.DialsMS = summary.DialsOf(all.Client.Dials)
		s.OfAll = objective.OfAll(all, held)
	}
	for _, v := range c.plan.Vary {
		s.Vary[v.Name] = v.Value
	}
	figures := make([]map[string]float64, 0, len(c.trials))
	for _, t := range c.trials {
		f := t.figures()
		figures = append(figures, f)
		one := trialFigures(t.attempt, f)
		one.OOMKills, one.Restarts = float(t.all.Server.OOMKills), float(t.all.Server.Restarts)
		one.Beyond = t.all.Client.Latency.Beyond()
		of, ok := t.result()
		one.OfAll, one.Kinds = objective.OfAll(of, ok), kindsOfTrial(of, t, len(c.trials) == 1)
		one.BreakingFrom, one.BreakingTo = c.bracket(t)
		s.PerTrial = append(s.PerTrial, one)
	}
	s.Intervals, s.IntervalsOf = intervals(figures), summary.OfTrials
	if len(s.Intervals) == 0 {
		s.Intervals, s.IntervalsOf = c.blocks.intervals(&s)
	}
	s.Breaking = c.breaking(s.Steps)
	s.Knee = c.knee(s.Breaking)
	if b := s.Breaking; b != nil && b.LimitedBy == summary.ByErrors {
		s.Knee = nil // the answers that arrive do not show a queue
	}
	if b := s.Breaking; b != nil && b.LimitedBy == summary.ByGenerator {
		s.Generator.Limited = true // it could not send more
	}
	if s.Breaking != nil && c.levels == nil && !c.unseen(all) {
		capacity.WithholdBeside(s.Breaking, func() (may, of float64) {
			return c.tail.late(c.trials, c.goal, usual(s.Breaking, all))
		})
	}
	if held && c.levels == nil && !c.unseen(all) {
		s.Causes = c.tail.result(c.trials, c.goal, all)
	}
	if held && c.levels == nil && s.Breaking == nil {
		if by, shown := capacity.UnderLoad(c.goal, all); by != "" {
			s.Own = &summary.OwnCause{By: by, Shown: shown}
		}
	}
	capacity.WithholdRefuted(&s)
	s.Objective = c.objective(&s, all, held)
	s.Disturbance = c.disturbance()
	s.Flags = c.flags(&s, whole, attempts)
	if s.Objective != nil {
		s.Objective.Outcome = verdict.OutcomeOf(&s)
	}
	return s
}

// usual is how long a request takes: one of the kind that is late, if it is of one kind. A
// request that sleeps is there beside the times in which a limit delays it.
func usual(b *summary.BreakingPoint, all *sums.Total) time.Duration {
	if k := all.Client.Kinds[b.FirstKind]; k != nil {
		return k.Latency.Quantile(0.5)
	}
	return all.Client.Service.Quantile(0.5)
}

// frozen is how the service was frozen at the end of a trial; "": it was not.
func (c *cell) frozen() string {
	how := ""
	for _, t := range c.trials {
		switch {
		case t.ending.held():
			return summary.FrozenBySignal
		case !c.plan.Load.Find && t.ending.hung():
			how = summary.FrozenHung
		}
	}
	return how
}

// unseen reports whether the service was throttled without throttle windows. It is
// then unknown which requests were slow because of that, and a share of 0 would be
// wrong.
func (c *cell) unseen(all *sums.Total) bool {
	return c.noWindows && sums.Value(all.Server.ThrottledPeriods) > 0
}

// breaking returns the breaking point and who took CPU while it was looked for; nil if
// it was not looked for.
func (c *cell) breaking(steps []summary.Step) *summary.BreakingPoint {
	var b *summary.BreakingPoint
	if c.plan.Load.Find {
		s := c.searches()
		b = s.BreakingPoint()
		b.EvidenceAt = s.EvidenceAt(b)
	} else {
		b = c.ramps().BreakingPoint(steps)
	}
	if b != nil {
		b.DisturbedBy = c.disturbedBy()
	}
	return b
}

// bracket returns what is known of the breaking point of a trial that has no value of its
// own.
func (c *cell) bracket(t *trial) (from, to *float64) {
	if t.search != nil {
		return t.search.Ends()
	}
	return c.ramps().Ends(t.ramp())
}

// knee is where the latency leaves its floor, beside a breaking point; nil if it does not.
func (c *cell) knee(b *summary.BreakingPoint) *summary.Knee {
	if c.plan.Load.Find {
		return c.searches().Knee(b)
	}
	return c.ramps().Knee()
}
