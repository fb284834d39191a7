package summary

import (
	"math"
	"slices"
)

// Kind is what a record is about, which decides what its report shows.
type Kind int

const (
	KindTraffic   Kind = iota // latency under a constant load
	KindRamp                  // latency at levels of a rising load, without an objective
	KindSearch                // breaking points
	KindBenchmark             // services that measure themselves
)

// Kind is the kind of a record. A ramp with an objective has breaking points.
func (s *Summary) Kind() Kind {
	has := func(of func(*Cell) bool) bool {
		return slices.ContainsFunc(s.Cells, func(c Cell) bool { return of(&c) })
	}
	switch {
	case has((*Cell).Searched):
		return KindSearch
	case has((*Cell).MeasuresItself):
		return KindBenchmark
	case has(func(c *Cell) bool { return c.Load.Stages }):
		return KindRamp
	}
	return KindTraffic
}

// Searched reports whether the breaking point of a cell was looked for.
func (c *Cell) Searched() bool { return c.Breaking != nil }

// MeasuresItself reports whether the service of a cell printed its own figures:
// it has no requests.
func (c *Cell) MeasuresItself() bool { return c.Load.Kind == "benchmark" }

// Failed reports whether a cell gave no good answer.
func (c *Cell) Failed() bool { return c.RateRPS == nil || *c.RateRPS == 0 }

// ThrottledShare is the share of a cell's periods in which it was throttled, 0 to
// 1; nil for a cell without a limit, which has no periods.
func (c *Cell) ThrottledShare() *float64 {
	if c.CPU.Periods == nil || c.CPU.ThrottledPeriods == nil || *c.CPU.Periods == 0 {
		return nil
	}
	share := float64(*c.CPU.ThrottledPeriods) / float64(*c.CPU.Periods)
	return &share
}

// CellAt is the place of a cell of the plan in a summary; -1: it is not there.
func (s *Summary) CellAt(cell int) int {
	if cell >= 0 && cell < len(s.Cells) && s.Cells[cell].Cell == cell { // of a whole plan
		return cell
	}
	for i := range s.Cells {
		if s.Cells[i].Cell == cell {
			return i
		}
	}
	return -1
}

// Finite is a figure that can be shown; nil for one that is not measured, not a
// number or infinite.
func Finite(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}
