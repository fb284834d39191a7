package analysis

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/experiment"
)

// objective judges a cell. A load that holds several levels meets it where
// every level does; one that holds none has no quantile, and cannot be judged
// by one.
func objective(o *experiment.Objective, s *CellSummary) *ObjectiveSummary {
	if o == nil {
		return nil
	}
	r := &ObjectiveSummary{Text: o.String()}
	if len(s.Steps) < 2 {
		r.Met = met(o, s.LatencyMS, s.Availability)
		return r
	}
	all := true
	for _, step := range s.Steps {
		ok := met(o, step.LatencyMS, step.Availability)
		if ok == nil {
			return r
		}
		all = all && *ok
	}
	r.Met = &all
	return r
}

// met is nil where it cannot be told. One part missed is enough to know.
func met(o *experiment.Objective, q *Quantiles, availability *float64) *bool {
	good, known := true, true
	if o.Quantile != "" {
		known = q != nil
		good = !known || q.named(o.Quantile) <= ms(o.Latency)
	}
	if o.Availability > 0 {
		known = known && availability != nil
		good = good && (availability == nil || *availability >= o.Availability)
	}
	if !known && good {
		return nil
	}
	return &good
}

// seen words what an objective asked for, as it was measured.
func seen(o *experiment.Objective, c *CellSummary) string {
	var parts []string
	if o.Quantile != "" {
		text := "no " + o.Quantile + " of one level of load"
		if c.LatencyMS != nil {
			text = fmt.Sprintf("%s %.4g ms", o.Quantile, c.LatencyMS.named(o.Quantile))
		}
		parts = append(parts, text)
	}
	if o.Availability > 0 {
		text := "no request that ended"
		if c.Availability != nil {
			text = fmt.Sprintf("availability %.5g%%", *c.Availability)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
