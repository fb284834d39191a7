package verdict

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// Certainty is what the ends beside a figure are made of, the least certain first.
type Certainty int

const (
	NoEnds           Certainty = iota // not known
	IntervalOfFrames                  // the 95% interval of one trial, by its frames: it does not show how starts differ
	RangeOfTrials                     // the lowest and the highest of few trials
	IntervalOfTrials                  // the 95% interval of the median over trials
)

// SpreadOf returns the ends of a cell's figure of a metric: the 95% interval of its
// median over trials, or the range of few trials. An interval by frames is the last
// resort: it does not show how one start of the service differs from another. There are no
// ends if failed requests make the upper one infinite.
func SpreadOf(c *summary.Cell, metric string) (low, high float64, what Certainty) {
	if low, high, what = endsOf(c, metric); math.IsInf(high, 1) {
		return 0, 0, NoEnds
	}
	return low, high, what
}

// endsOf returns the interval or range of a metric as SpreadOf does; its ends may be
// infinite.
func endsOf(c *summary.Cell, metric string) (low, high float64, what Certainty) {
	m, ok := MetricOf(metric)
	if !ok {
		return 0, 0, NoEnds
	}
	path := summary.LatencyPath(metric)
	if metric == "rate" {
		path = "rate_rps"
	}
	ends, known := c.Intervals[path]
	values := slices.Sorted(slices.Values(m.Trials(c)))
	if infinite(c, metric).N > 0 {
		values, known = slices.Sorted(slices.Values(valuesOf(c, m))), false
	}
	n := len(values)
	switch from, to, enough := stats.MedianInterval(n); {
	case enough:
		return values[from], values[to], IntervalOfTrials
	case known && c.IntervalsOf != summary.OfFrames:
		return ends[0], ends[1], IntervalOfTrials
	case n > 1:
		return values[0], values[n-1], RangeOfTrials
	case known && ofGoodAnswers(c, m, values):
		return ends[0], ends[1], IntervalOfFrames
	}
	return 0, 0, NoEnds
}

// ofGoodAnswers reports whether a figure of one trial is that of its good answers, which the
// interval by frames is of. A latency of all requests is higher where many failed.
func ofGoodAnswers(c *summary.Cell, m Metric, values []float64) bool {
	if len(values) == 0 || c.LatencyMS == nil {
		return true
	}
	return !slices.ContainsFunc(c.LatencyMS.All(), func(q summary.Named) bool { return q.Name == m.Name && q.Value < values[0] })
}
