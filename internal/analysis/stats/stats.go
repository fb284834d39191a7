// Package stats has the statistics behind comparisons and intervals: Brunner's and
// Munzel's test, the Hodges-Lehmann shift with its interval, Holm's correction, and the block
// bootstrap of a quantile. It takes and returns numbers. It knows no record, no cell
// and no words, and its only randomness comes from a seed. docs/statistics.md explains
// when each is used, and why.
package stats

import (
	"math"
	"slices"
)

// Level is the confidence of every interval, and 1 - Level the error of every test.
const Level = 0.95

// Interval is a two-sided confidence interval.
type Interval struct {
	Low, High float64
	// Level is its confidence, at least the constant Level: that of a discrete
	// distribution comes in steps. It is NaN if it is not known exactly.
	Level float64
}

// Contains reports whether v lies in the interval, including its ends.
func (i Interval) Contains(v float64) bool { return i.Low <= v && v <= i.High }

// Median is the middle of the values, or the mean of the two middle ones; NaN for
// none. It does not modify them.
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
