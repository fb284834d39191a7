package analysis

import (
	"fmt"
	"slices"
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
	r := asked(o)
	if s.Load.Find { // met below the breaking point, where there is one
		found := s.Breaking != nil && s.Breaking.Load() != nil
		if found || s.Trials > 0 && !metSomewhere(o, s.Steps) {
			r.Met = &found
		}
		return r
	}
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

// asked writes an objective down, before it is known whether it was met.
func asked(o *experiment.Objective) *ObjectiveSummary {
	r := &ObjectiveSummary{Text: o.String()}
	if o.Quantile != "" {
		latency := ms(o.Latency)
		r.Quantile, r.LatencyMS = o.Quantile, &latency
	}
	if o.Availability > 0 {
		availability := o.Availability
		r.Availability = &availability
	}
	return r
}

// metSomewhere reports whether a load was held at which the objective was met: a
// search may have seen that, and still not be able to tell where it ends.
func metSomewhere(o *experiment.Objective, steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool {
		ok := met(o, s.LatencyMS, s.Availability)
		return ok != nil && *ok
	})
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
func seen(o *experiment.Objective, q *Quantiles, availability *float64) string {
	var parts []string
	if o.Quantile != "" {
		text := "no " + o.Quantile + " of one level of load"
		if q != nil {
			text = fmt.Sprintf("%s %.4g ms", o.Quantile, q.named(o.Quantile))
		}
		parts = append(parts, text)
	}
	if o.Availability > 0 {
		text := "no request that ended"
		if availability != nil {
			text = fmt.Sprintf("availability %.5g%%", *availability)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
