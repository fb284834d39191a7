package verdict

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
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
		case low <= 1-summary.QuantileShare(o.Quantile) && tooFew(c):
			return finding.Finding{Kind: finding.TooFewRequests, Text: o.Quantile, N: int(c.Requests), Of: int(RequestsFor(o.Quantile))}
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

// OutcomeOf returns whether a cell meets its objective, as far as the record shows it; "": it
// has none.
func OutcomeOf(c *summary.Cell) summary.Outcome {
	o := c.Objective
	switch {
	case o == nil:
		return ""
	case c.Breaking != nil && c.Breaking.Load() == nil && c.Breaking.Ended != "" && search.Ended(c.Breaking.Ended) != search.Lowest && search.Ended(c.Breaking.Ended) != search.Gone:
		return summary.Unknown // a lower load may meet it
	case o.Met == nil:
		return summary.Unknown
	case !NearObjective(c).None():
		return summary.TooClose
	case *o.Met:
		return summary.Met
	}
	return summary.Missed
}

// tooFew reports whether the requests of a cell are too few for its quantile to decide a
// latency objective. They are enough for a miss if a lower quantile misses it so clearly
// that chance does not explain it.
func tooFew(c *summary.Cell) bool {
	o := c.Objective
	if Supports(c, o.Quantile) {
		return false
	}
	if *o.Met || c.LatencyMS == nil {
		return true
	}
	for _, name := range []string{"p50", "p90", "p95", "p99"} {
		share := 1 - summary.QuantileShare(name)
		if v, atLeast := c.OfAllRequests(name); atLeast || v > *o.LatencyMS {
			n := float64(c.Requests)
			low, _ := stats.Proportion(math.Ceil(share*n), n)
			return low <= 1-summary.QuantileShare(o.Quantile)
		}
	}
	return true
}

// failingShare is the 95% interval of the share of requests that fail, by their number.
func failingShare(c *summary.Cell) (low, high float64) {
	if c.Availability == nil || c.Requests == 0 {
		return 0, 1
	}
	n := float64(c.Requests)
	return stats.Proportion(math.Round(n*(1-*c.Availability/100)), n)
}
