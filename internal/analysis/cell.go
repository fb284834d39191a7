package analysis

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/capacity"
	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// cell collects the counted trials of one cell, and those that were repeated.
type cell struct {
	exp       *experiment.Experiment
	plan      *experiment.Cell
	goal      objective.Goal
	levels    *capacity.Levels // nil: constant load
	trials    []*trial
	repeated  []*trial // to compare with: they count nowhere else
	numbered  map[int]*trial
	blocks    frameBlocks // of a constant load, for intervals where trials are few
	tail      slowTail
	series    map[int]*seriesBuilder // by trial
	latest    [2]*seriesBuilder      // of the trials that began last, the later one first
	noWindows bool                   // whether throttle windows are unknown
	skipped   string                 // why the service was not available; "": it was
}

func newCell(e *experiment.Experiment, plan *experiment.Cell) *cell {
	return &cell{exp: e, plan: plan, goal: objective.Of(e, plan), numbered: map[int]*trial{}, series: map[int]*seriesBuilder{}, levels: capacity.LevelsOf(e, plan), tail: slowTail{causes: causes.New(plan.Service.Name, plan.Limits.Period)}}
}

func (c *cell) begin(a Attempt, steps []signals.SearchStep) {
	t := newTrial(c.exp, c.plan, c.levels, a, steps)
	c.trials, c.numbered[a.Trial] = append(c.trials, t), t
}

// repeat takes an attempt that was disturbed and repeated.
func (c *cell) repeat(a Attempt) {
	t := newTrial(c.exp, c.plan, c.levels, a, nil)
	t.repeated = true
	c.repeated, c.numbered[a.Trial] = append(c.repeated, t), t
}

func (c *cell) add(f *signals.Frame) {
	t := c.numbered[f.Trial]
	switch {
	case t == nil:
		return
	case t.repeated:
		t.add(f)
		return
	}
	t.add(f)
	if c.levels == nil && t.search == nil {
		c.blocks.add(f)
	}
	c.tail.add(t, f)
}

// trial returns a trial by its number; nil if it does not count.
func (c *cell) trial(number int) *trial {
	if t := c.numbered[number]; t != nil && !t.repeated {
		return t
	}
	return nil
}

// stretch returns a part of the cell's trials, to ask what limits it.
func (c *cell) stretch(t *sums.Total) capacity.Stretch {
	return capacity.Stretch{Goal: c.goal, Open: c.plan.Load.Users == nil, Sums: t}
}

// generator summarizes the cell's generator. One that lost agents sent less load than
// configured, so it was the limit.
func (c *cell) generator(all *sums.Total) summary.Generator {
	lost := 0
	for _, t := range c.trials {
		lost += len(t.attempt.Lost)
	}
	out := generatorOf(all)
	out.Limited, out.Lost = lost > 0 || c.stretch(all).GeneratorLimited(), lost
	return out
}

// load is the load at which the cell's figures were measured. For a search it is the
// load that was tested last.
func (c *cell) load() summary.Load {
	s := loadOf(c.plan)
	if !c.plan.Load.Find {
		return s
	}
	s.Find, s.Rate, s.Users = true, nil, nil
	var tested []float64
	for _, t := range c.trials {
		if load := t.search.Result().Tested; load > 0 {
			tested = append(tested, load)
		}
	}
	if len(tested) == 0 {
		return s
	}
	slices.Sort(tested)
	middle := &tested[len(tested)/2]
	if c.plan.Load.Users != nil {
		s.Users = middle
	} else {
		s.Rate = middle
	}
	return s
}

// steps returns one entry per level that was held, over all trials; nil for a constant
// load. Those of a search are ordered by load.
func (c *cell) steps() []summary.Step {
	if c.plan.Load.Find {
		return c.searches().Steps()
	}
	return c.ramps().Steps()
}

// searches are the searches of the cell's trials.
func (c *cell) searches() *capacity.Searches {
	s := &capacity.Searches{Goal: c.goal, Users: c.plan.Load.Users != nil, Skipped: c.skipped != ""}
	for _, t := range c.trials {
		s.All = append(s.All, t.search)
	}
	return s
}

// ramps are the ramps of the cell's trials.
func (c *cell) ramps() *capacity.Ramps {
	r := &capacity.Ramps{Goal: c.goal, Users: c.plan.Load.Users != nil, Agents: c.plan.Load.Agents, Levels: c.levels}
	for _, t := range c.trials {
		r.Trials = append(r.Trials, t.ramp())
	}
	return r
}
