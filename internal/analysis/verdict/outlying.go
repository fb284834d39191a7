package verdict

import (
	"fmt"
	"math"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/digits"
)

// Together labels a latency of a cell that is not the median over its trials, which tables
// have: " of all requests together"; "" of one trial, where both are the same.
func Together(c *summary.Cell) string {
	if len(c.PerTrial) < 2 {
		return ""
	}
	return " of all requests together"
}

// Outlying explains why all requests of a cell together meet, or miss, the latency of its
// objective, and the median over its trials does not: "the median over 6 trials is 12.5 ms;
// 1 of them misses the objective, with a p99 of 350 ms". It is "" if both agree.
func Outlying(c *summary.Cell) string {
	o := c.Objective
	if o == nil || o.LatencyMS == nil || c.LatencyMS == nil || c.Breaking != nil {
		return ""
	}
	f, ok := FigureOf(c, o.Quantile)
	together, infinite := c.OfAllRequests(o.Quantile)
	if meets := !infinite && together <= *o.LatencyMS; !ok || f.Trials < 2 || f.AtLeast || meets == (f.Value <= *o.LatencyMS) {
		return ""
	}
	m, _ := MetricOf(o.Quantile)
	n, highest, all := 0, 0.0, valuesOf(c, m)
	for _, v := range all {
		if highest = max(highest, v); v > *o.LatencyMS {
			n++
		}
	}
	verb, worst := "miss", "infinite, as too many requests failed"
	if n == 1 {
		verb = "misses"
	}
	if !math.IsInf(highest, 1) {
		worst = digits.Significant(highest, 4) + " ms"
	}
	return fmt.Sprintf("the median over %d trials is %s ms: %d of them %s the objective, and their highest %s is %s",
		len(all), digits.Significant(f.Value, 4), n, verb, o.Quantile, worst)
}
