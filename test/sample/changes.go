package sample

import (
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
)

func Throttled(hit, of int64) Change {
	return func(c *summary.Cell) { c.CPU.ThrottledPeriods, c.CPU.Periods = &hit, &of }
}

func Rate(rps, low, high float64) Change {
	return func(c *summary.Cell) {
		c.RateRPS, c.Intervals["rate_rps"] = &rps, [2]float64{low, high}
		EachTrial(c, low, rps, high, func(t *summary.TrialFigures, v float64) { t.RateRPS = &v })
	}
}

func Available(percent float64) Change {
	return func(c *summary.Cell) {
		c.Availability = &percent
		for i := range c.PerTrial {
			c.PerTrial[i].Availability = &percent
		}
	}
}

func Asked(text string, met *bool) Change {
	return func(c *summary.Cell) { c.Objective = &summary.Objective{Text: text, Met: met, Outcome: outcomeOf(met)} }
}

// Beside lets another process disturb trials of a cell, and others not.
func Beside(noisy, quiet []float64, kept int) Change {
	return func(c *summary.Cell) {
		c.Disturbance = &summary.Disturbance{By: []string{summary.Neighbours}, Trials: len(noisy) + len(quiet), Disturbed: len(noisy), Kept: kept,
			Quantile: "p99", Noisy: noisy, Quiet: quiet}
	}
}

func AgentLimited(c *summary.Cell) { c.Generator.Limited = true }

func CausesOf(v summary.Causes) func(*summary.Cell) {
	return func(c *summary.Cell) {
		v.Quantile = "p99"
		c.Causes = &v
	}
}

// Silent makes a cell fail: nothing it measured remains.
func Silent(c *summary.Cell) {
	c.RateRPS, c.Availability, c.LatencyMS, c.Requests = nil, nil, nil, 0
}

func Open(rps float64) Change {
	return func(c *summary.Cell) { c.Load = summary.Load{Kind: "open", Rate: &rps} }
}

// Held adds a level of a staged open loop.
func Held(target, p99, available float64) Change {
	return func(c *summary.Cell) {
		c.Load = summary.Load{Kind: "open", Rate: &target, Stages: true}
		c.LatencyMS = nil
		c.Steps = append(c.Steps, summary.Step{Target: target, RateRPS: target, Availability: &available,
			LatencyMS: &summary.Quantiles{P99: p99}, Throttled: ptr(0.4)})
	}
}

// Flagged is a cell with flags.
func Flagged(all ...summary.Flag) func(*summary.Cell) {
	return func(c *summary.Cell) { c.Flags = all }
}

// Completed is a cell with a trial.
func Completed(c *summary.Cell) { c.Trials = 1 }

// EachAt sets the loads at which the cell's searches broke.
func EachAt(loads ...float64) Change {
	return func(c *summary.Cell) {
		c.PerTrial = nil
		for i := range loads {
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{Breaking: &loads[i]})
		}
	}
}

// BoundsAt adds searches that gave a lower bound only.
func BoundsAt(loads ...float64) Change {
	return func(c *summary.Cell) {
		for i := range loads {
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{BreakingFrom: &loads[i]})
		}
	}
}

// Holds gives a cell a lower bound.
func Holds(rps float64, by, reason string) Change {
	return func(c *summary.Cell) {
		low := rps * 0.98
		c.Load = summary.Load{Kind: "open"}
		c.Breaking = &summary.BreakingPoint{RateRPS: &rps, Low: &low, AtLeast: true, LimitedBy: by, Reason: reason, Searches: 6}
		for range 6 {
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{BreakingFrom: &rps})
		}
	}
}

// TestedAt adds the loads that a search tested.
func TestedAt(held, missed float64, untested bool) Change {
	return func(c *summary.Cell) {
		b := c.Breaking
		b.Untested = untested
		if held > 0 {
			b.Held = &summary.Step{Target: held, RateRPS: held, Seconds: 6, CPUOfLimit: ptr(0.67), LatencyMS: &summary.Quantiles{P99: 5.6}}
		}
		if missed > 0 {
			b.Missed = &summary.Step{Target: missed}
		}
	}
}

// RecoversAt adds a recovery from an overload, of one search; at 0: none.
func RecoversAt(at, notAt float64, lost string) Change {
	return func(c *summary.Cell) {
		c.Breaking.Recovery = &summary.Recovery{Overload: ptr(420.0), Lost: lost, Searches: [2]int{0, 1}}
		if at > 0 {
			c.Breaking.RecoversAt = &at
		}
		if notAt > 0 {
			c.Breaking.Recovery.NotAt = &notAt
		}
		if notAt > 0 || lost != "" {
			c.Breaking.Recovery.Searches[0] = 1
		}
	}
}

// EndedBy sets why a search ended.
func EndedBy(ended search.Ended) Change {
	return func(c *summary.Cell) { c.Breaking.Ended = string(ended) }
}

func KneeAt(rps float64, ofLimit *float64) Change {
	return func(c *summary.Cell) {
		c.Knee = &summary.Knee{Load: rps, Low: rps * 0.9, High: rps * 1.1, OfLimit: ofLimit, Quantile: "p99", FloorMS: 9}
	}
}

func TailOf(throttling, rest float64) Change {
	return func(c *summary.Cell) {
		c.Causes = &summary.Causes{Quantile: "p99", FromMS: 200, Requests: 300, MeanMS: 240, Throttling: throttling, Rest: rest}
	}
}

// DisturbedBy lets others have disturbed a search.
func DisturbedBy(who ...string) Change {
	return func(c *summary.Cell) {
		c.Flags, c.Breaking.DisturbedBy = append(c.Flags, "search_disturbed"), who
		c.Load.Find = !c.Load.Stages
		c.Disturbance = &summary.Disturbance{By: who, Trials: 20, Disturbed: 3}
	}
}

func Warned(word summary.Flag) Change {
	return func(c *summary.Cell) { c.Flags = append(c.Flags, word) }
}

func Numbered(cells ...summary.Cell) []summary.Cell {
	for i := range cells {
		cells[i].Cell = i
	}
	return cells
}

func SetTrials(n int) Change { return func(c *summary.Cell) { c.Trials = n } }

func Replicas(c *summary.Cell) { c.Limits.Replicas = 2 }

func Kept(c *summary.Cell) { c.Kept = true }

// LimitedTo is a cell whose breaking point was searched under a CPU limit.
func LimitedTo(service string, millis int64, load float64, change func(*summary.BreakingPoint)) summary.Cell {
	c := summary.Cell{Service: service, Label: service, Load: summary.Load{Kind: "open"}, Breaking: &summary.BreakingPoint{}}
	if millis > 0 {
		c.Limits.CPUMillis = &millis
	}
	if load > 0 {
		low, high := load*0.95, load*1.05
		c.Breaking.RateRPS, c.Breaking.Low, c.Breaking.High = &load, &low, &high
	}
	if change != nil {
		change(c.Breaking)
	}
	return c
}

// Below100 is an objective that was met or missed by all requests together.
func Below100(met bool) Change {
	return func(c *summary.Cell) {
		c.Objective = &summary.Objective{Text: "p99 <= 100ms", Quantile: "p99", LatencyMS: ptr(100.0), Met: &met, Outcome: outcomeOf(&met)}
	}
}
