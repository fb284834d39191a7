package analysis

// Certainty is what the ends beside a figure are made of, the least certain first.
type Certainty int

const (
	NoEnds           Certainty = iota // not known
	IntervalOfFrames                  // the 95% interval of one trial, by its frames: it does not show how starts differ
	RangeOfTrials                     // the lowest and the highest of few trials
	IntervalOfTrials                  // the 95% interval of the median over trials
)

// What the intervals of a cell rest on: the values of CellSummary.IntervalsOf.
const (
	ofTrials = "trials"
	ofFrames = "frames" // of its few trials
)

// SpreadOf returns the ends of a figure: the interval under the field path, if it
// is over trials, else the range of the trials. An interval by frames is the last
// resort: it does not show how one start of the service differs from another.
func SpreadOf(c *CellSummary, path string, trial func(*TrialFigures) *float64) (low, high float64, what Certainty) {
	ends, known := c.Intervals[path]
	if known && c.IntervalsOf != ofFrames {
		return ends[0], ends[1], IntervalOfTrials
	}
	if low, high, n := TrialRange(c, trial); n > 1 {
		return low, high, RangeOfTrials
	}
	if known {
		return ends[0], ends[1], IntervalOfFrames
	}
	return 0, 0, NoEnds
}

// SpreadOfP99 returns the ends of a cell's p99.
func SpreadOfP99(c *CellSummary) (low, high float64, what Certainty) {
	return SpreadOf(c, "latency_ms.p99", func(t *TrialFigures) *float64 { return t.P99 })
}

// TrialRange is the lowest and the highest figure of a cell's trials, and the
// number of trials that have it.
func TrialRange(c *CellSummary, of func(*TrialFigures) *float64) (low, high float64, n int) {
	for i := range c.PerTrial {
		v := of(&c.PerTrial[i])
		if v == nil {
			continue
		}
		if n == 0 {
			low, high = *v, *v
		}
		low, high, n = min(low, *v), max(high, *v), n+1
	}
	return low, high, n
}
