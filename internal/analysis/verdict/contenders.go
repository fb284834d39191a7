package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// BreakingContenders splits the searched cells into those that have a breaking point,
// the highest first, and the places of those that have none. names are the cells' in
// sentences.
func BreakingContenders(s *summary.Summary, names []string) (found []Contender, none []int) {
	for i := range s.Cells {
		c := &s.Cells[i]
		switch {
		case c.Breaking == nil:
		case c.Breaking.Load() == nil:
			none = append(none, i)
		default:
			found = append(found, breakingContender(c, names[i]))
		}
	}
	slices.SortStableFunc(found, func(x, y Contender) int { return cmp.Compare(y.Value, x.Value) })
	return found, none
}

func breakingContender(c *summary.Cell, name string) Contender {
	b := c.Breaking
	one := Contender{Cell: c, Name: name, Value: *b.Load(), AtLeast: b.AtLeast, Trials: b.Searches}
	if b.Low != nil {
		one.Low, one.High, one.Sure = *b.Low, math.Inf(1), RangeOfTrials
		if b.OverStarts() {
			one.Sure = IntervalOfTrials
		}
		if b.High != nil {
			one.High = *b.High
		}
	}
	return one
}

// BenchmarkEnds of a benchmark's median, and what they are: its 95% interval, or the range of
// few trials.
func BenchmarkEnds(b *summary.Benchmark) (low, high float64, what Certainty) {
	switch {
	case len(b.Values) < 2:
		return 0, 0, NoEnds
	case b.Low != nil && b.High != nil:
		return *b.Low, *b.High, IntervalOfTrials
	}
	return slices.Min(b.Values), slices.Max(b.Values), RangeOfTrials
}

// BenchmarkContenders are the cells that have a figure of a benchmark, in the order of
// the plan, and the best first.
func BenchmarkContenders(s *summary.Summary, path string, names []string) (inPlan, ranked []Contender) {
	higher := false
	for i := range s.Cells {
		for k := range s.Cells[i].Benchmarks {
			b := &s.Cells[i].Benchmarks[k]
			if b.Path() != path {
				continue
			}
			one := Contender{Cell: &s.Cells[i], Name: names[i], Value: b.Median, Trials: len(b.Values)}
			one.Low, one.High, one.Sure = BenchmarkEnds(b)
			inPlan, higher = append(inPlan, one), b.HigherIsBetter()
		}
	}
	ranked = Sorted(inPlan)
	if higher {
		slices.Reverse(ranked)
	}
	return inPlan, ranked
}

// Answers reports whether enough requests of a level were answered for its latency
// to be ranked.
func Answers(s *summary.Step) bool { return s.Availability == nil || *s.Availability >= EnoughAnswers }

// CommonLevel is the highest level that all of the cells held and at which at least
// one still answers. common reports whether there is a level that all held, and
// answered whether one of them was answered.
func CommonLevel(cells []*summary.Cell) (target float64, common, answered bool) {
	for i := range cells[0].Steps {
		level := cells[0].Steps[i].Target
		if slices.ContainsFunc(cells, func(c *summary.Cell) bool { return c.StepAt(level) == nil }) {
			continue
		}
		common = true
		if slices.ContainsFunc(cells, func(c *summary.Cell) bool { return Answers(c.StepAt(level)) }) && (!answered || level > target) {
			target, answered = level, true
		}
	}
	return target, common, answered
}

// Cells returns the cells of some contenders, in their order.
func Cells(all []Contender) (cells []*summary.Cell) {
	for _, c := range all {
		cells = append(cells, c.Cell)
	}
	return cells
}
