package verdict

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// Near is a figure of a cell whose interval contains the objective, so that the record
// does not show whether the service meets it: another run may give the other answer.
type Near struct {
	Metric    string  // "availability", or a latency quantile
	Low, High float64 // in percent, or in ms; High may be infinite
	Sure      Certainty
}

// NearObjective returns the figure that is too near to the objective, as a cell's single
// level of load was judged by it: its interval contains the objective, so another run may
// give the other answer. None: no figure is, or another figure decides that the objective
// was missed.
func NearObjective(c *summary.Cell) (none finding.Finding) {
	o := c.Objective
	if o == nil || o.Met == nil || c.Breaking != nil || c.Load.Find || len(c.Steps) > 1 {
		return none
	}
	low, high := failingShare(c)
	if o.LatencyMS != nil {
		from, to, sure := endsOf(c, o.Quantile)
		switch limit := *o.LatencyMS; {
		case !*o.Met && (low > 1-summary.QuantileShare(o.Quantile) || sure != NoEnds && from > limit):
			return none
		case sure == RangeOfTrials && from <= limit && limit < to:
			return finding.Finding{Kind: finding.NearByRange, Text: o.Quantile, Value: from, Other: to}
		case sure != NoEnds && from <= limit && limit < to:
			return finding.Finding{Kind: finding.NearByTrials, Text: o.Quantile, Value: from, Other: to}
		}
	}
	if o.Availability == nil {
		return none
	}
	if allowed := 1 - *o.Availability/100; allowed > 0 && low <= allowed && allowed < high {
		return finding.Finding{Kind: finding.NearAvailability, Value: 100 * (1 - high), Other: 100 * (1 - low)}
	}
	return none
}

// failingShare is the 95% interval of the share of requests that fail, by their number.
func failingShare(c *summary.Cell) (low, high float64) {
	if c.Availability == nil || c.Requests == 0 {
		return 0, 1
	}
	n := float64(c.Requests)
	return stats.Proportion(math.Round(n*(1-*c.Availability/100)), n)
}
