// Package stats holds the statistics that comparisons and intervals rest on:
// Mann-Whitney's test, the Hodges-Lehmann shift with its interval, Holm's
// correction, and the block bootstrap of a quantile. It takes numbers and gives
// numbers: it knows no record, no cell and no words, and chance enters it only
// by a seed. docs/statistics.md says when which of them is used, and why.
package stats

import (
	"math"
	"slices"
)

// Level is the confidence of every interval, and 1 - Level the error that a
// test may make.
const Level = 0.95

// Interval is a two-sided confidence interval.
type Interval struct {
	Low, High float64
	// Level is the confidence that it has, at least Level: that of a discrete
	// distribution comes in steps. It is NaN where it is not known exactly.
	Level float64
}

// Contains reports whether v lies in the interval, its ends included.
func (i Interval) Contains(v float64) bool { return i.Low <= v && v <= i.High }

// Median is the middle of the values, or the mean of the two middle ones; NaN
// for none. It does not change them.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return middle(slices.Sorted(slices.Values(values)))
}

// middle is the median of sorted values.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
