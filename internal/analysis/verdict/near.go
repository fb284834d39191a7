package verdict

import (
	"fmt"
	"math"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/digits"
)

// Near is a figure of a cell whose interval contains the objective, so that the record
// does not show whether the service meets it: another run may give the other answer.
type Near struct {
	Metric    string  // "availability", or a latency quantile
	Low, High float64 // in percent, or in ms; High may be infinite
	Sure      Certainty
}

// NearObjective returns the figure that is too near to the objective, as a cell's single level of
// load was judged by it; nil: none is, or another figure decides that the objective was
// missed.
func NearObjective(c *summary.Cell) *Near {
	o := c.Objective
	if o == nil || o.Met == nil || c.Breaking != nil || c.Load.Find || len(c.Steps) > 1 {
		return nil
	}
	low, high := failingShare(c)
	if o.LatencyMS != nil {
		from, to, sure := endsOf(c, o.Quantile)
		switch limit := *o.LatencyMS; {
		case !*o.Met && (low > 1-summary.QuantileShare(o.Quantile) || sure != NoEnds && from > limit):
			return nil
		case sure != NoEnds && from <= limit && limit < to:
			return &Near{o.Quantile, from, to, sure}
		}
	}
	if o.Availability == nil {
		return nil
	}
	if allowed := 1 - *o.Availability/100; allowed > 0 && low <= allowed && allowed < high {
		return &Near{"availability", 100 * (1 - high), 100 * (1 - low), IntervalOfTrials}
	}
	return nil
}

// failingShare is the 95% interval of the share of requests that fail, by their number.
func failingShare(c *summary.Cell) (low, high float64) {
	if c.Availability == nil || c.Requests == 0 {
		return 0, 1
	}
	n := float64(c.Requests)
	return stats.Proportion(math.Round(n*(1-*c.Availability/100)), n)
}

// Text states the interval: "the 95% interval of its p99, 77.6 to 114 ms, contains the
// objective".
func (n *Near) Text() string {
	what := "95% interval of its " + n.Metric
	if n.Sure == RangeOfTrials {
		what = "range of its trials' " + n.Metric
	}
	ends := fmt.Sprintf("%.5g to %.5g%%", n.Low, n.High)
	switch {
	case n.Metric == "availability":
	case math.IsInf(n.High, 1):
		ends = digits.Significant(n.Low, 3) + " ms to infinite"
	default:
		ends = digits.Significant(n.Low, 3) + " to " + digits.Significant(n.High, 3) + " ms"
	}
	return "the " + what + ", " + ends + ", contains the objective"
}
