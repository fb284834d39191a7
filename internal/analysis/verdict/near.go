package verdict

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// NearObjective returns the figure that is too near to the objective, as a cell's single
// level of load was judged by it: its interval contains the objective, so another run may
// give the other answer. Nor does a miss decide if others disturbed most of the trials. None:
// no figure is too near, or another figure decides that the objective was missed.
func NearObjective(c *summary.Cell) (none finding.Finding) {
	o := c.Objective
	if o == nil || o.Met == nil || c.Breaking != nil || c.Load.Find || len(c.Steps) > 1 {
		return none
	}
	if !*o.Met && c.MostlyDisturbed() {
		return finding.Finding{Kind: finding.DisturbedMiss}
	}
	failing, most := failingShare(c)
	if o.LatencyMS != nil {
		from, to, known := deciding(c)
		limit, late := *o.LatencyMS, 1-summary.QuantileShare(o.Quantile)
		low, high := from, to
		if known {
			low, high = margins(c, from, to)
		}
		near := finding.Finding{Kind: finding.NearByTrials, Text: o.Quantile, Value: from, Other: to}
		if n := len(c.PerTrial); n > 1 && n < summary.EnoughTrials || limit < from || to <= limit {
			near.Kind = finding.NearByFew
		}
		switch {
		case failing <= late && tooFew(c):
			return finding.Finding{Kind: finding.TooFewRequests, Text: o.Quantile, N: int(c.Requests), Of: int(RequestsFor(o.Quantile))}
		case !*o.Met && (failing > late || known && low > limit):
			return none
		case known && low <= limit && limit < high, *o.Met && (o.LateAtMost > late || high <= limit && limit < high*nearLimit(c)):
			return near
		}
	}
	if o.Availability == nil {
		return none
	}
	if allowed := 1 - *o.Availability/100; allowed > 0 && failing <= allowed && allowed < most {
		return finding.Finding{Kind: finding.NearAvailability, Value: 100 * (1 - most), Other: 100 * (1 - failing)}
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
	case NearObjective(c).Kind == finding.DisturbedMiss:
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

// deciding are the ends of the objective's quantile; false: there are none. All requests
// together decide whether the objective is met: if the trials deny it, the ends reach to
// those that do not.
func deciding(c *summary.Cell) (from, to float64, known bool) {
	o := c.Objective
	from, to, sure := endsOf(c, o.Quantile)
	m, _ := MetricOf(o.Quantile)
	switch all := valuesOf(c, m); {
	case len(all) < 2:
	case !*o.Met && to <= *o.LatencyMS:
		to = slices.Max(all)
	case *o.Met && from > *o.LatencyMS:
		from = slices.Min(all)
	}
	return from, to, sure != NoEnds
}

// margins are the ends with what they leave out. The range of two to five trials is no 95%
// interval: that of the mean of their logarithms by Student's t is added. A quantile of few
// requests is low in more than half of the trials, so a trial above the upper end decides
// that the objective is met.
func margins(c *summary.Cell, from, to float64) (low, high float64) {
	m, _ := MetricOf(c.Objective.Quantile)
	all := slices.Sorted(slices.Values(valuesOf(c, m)))
	n := len(all)
	if n < 2 || !stats.Finite(to) {
		return from, to
	}
	late := float64(c.Requests) / float64(n) * (1 - summary.QuantileShare(m.Name))
	below := stats.AtMost(int(late), late)
	to = max(to, all[min(n-1, stats.FewAbove(n, below))])
	logs := make([]float64, n)
	for i, v := range all {
		logs[i] = math.Log(v)
	}
	if less, more, ok := stats.FewMean(logs); ok {
		from, to = min(from, math.Exp(less)), max(to, math.Exp(more))
	}
	return from, to
}

// starts is how much more CPU a request may need after another start, as a share: two standard
// deviations of the starts of one program.
const starts = 0.04

// nearLimit is by how much longer the queues of a service are if each request needs so much
// more of its CPU limit: they grow as 1 / (1 - use) does (Kleinrock, Queueing Systems I, 5.6).
// Those of users who wait for their answers do not.
func nearLimit(c *summary.Cell) float64 {
	if c.CPU.OfLimit == nil || c.Load.Users != nil {
		return 1
	}
	use := *c.CPU.OfLimit
	if more := use * (1 + starts); more < 1 {
		return (1 - use) / (1 - more)
	}
	return math.Inf(1)
}

// failingShare is the 95% interval of the share of requests that fail, by their number.
// Failures that come in some trials rather than in others count as fewer.
func failingShare(c *summary.Cell) (low, high float64) {
	if c.Availability == nil || c.Requests == 0 {
		return 0, 1
	}
	n := float64(c.Requests)
	var failed []float64
	for i := range c.PerTrial {
		if a := c.PerTrial[i].Availability; a != nil {
			failed = append(failed, n/float64(len(c.PerTrial))*(1-*a/100))
		}
	}
	by := stats.Clustering(failed)
	return stats.Proportion(math.Round(n*(1-*c.Availability/100))/by, n/by)
}
