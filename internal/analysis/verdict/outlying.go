package verdict

import (
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// Together reports whether a latency of a cell's requests together is not the median over
// its trials, which tables have. Of one trial, both are the same.
func Together(c *summary.Cell) bool { return len(c.PerTrial) > 1 }

// Outlying returns why all requests of a cell together meet, or miss, the latency of its
// objective, and the median over its trials does not; none if both agree.
func Outlying(c *summary.Cell) (why finding.Finding) {
	o := c.Objective
	if o == nil || o.LatencyMS == nil || c.LatencyMS == nil || c.Breaking != nil {
		return why
	}
	f, ok := FigureOf(c, o.Quantile)
	together, infinite := c.OfAllRequests(o.Quantile)
	if meets := !infinite && together <= *o.LatencyMS; !ok || f.Trials < 2 || f.AtLeast || meets == (f.Value <= *o.LatencyMS) {
		return why
	}
	m, _ := MetricOf(o.Quantile)
	all := valuesOf(c, m)
	why = finding.Finding{Kind: finding.OutlyingTrials, Text: o.Quantile, Value: f.Value, Of: len(all)}
	for _, v := range all {
		if why.Other = max(why.Other, v); v > *o.LatencyMS {
			why.N++
		}
	}
	return why
}
