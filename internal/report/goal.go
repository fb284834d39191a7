package report

import "github.com/millicore/millicore/internal/analysis"

// goal is an objective in figures, to draw it and to hold a load against it.
type goal struct {
	Quantile     string  // "p99"; "": no latency was asked for
	MS           float64 // milliseconds
	Availability float64 // percent; 0: not asked for
}

// goalOf gives an objective's figures; those that were not asked for are zero.
func goalOf(o *analysis.ObjectiveSummary) goal {
	var a goal
	if o == nil {
		return a
	}
	if ms := finite(o.LatencyMS); o.Quantile != "" && ms != nil {
		a.Quantile, a.MS = o.Quantile, *ms
	}
	if v := finite(o.Availability); v != nil {
		a.Availability = *v
	}
	return a
}

// met reports whether a held load meets the objective; nil: it cannot be told.
func (a goal) met(s *analysis.Step) *bool {
	good, known := true, a.Quantile != "" || a.Availability > 0
	if a.Quantile != "" {
		v := quantile(s.LatencyMS, a.Quantile)
		known = v != nil
		good = v == nil || *v <= a.MS
	}
	if a.Availability > 0 {
		known = known && s.Availability != nil
		good = good && (s.Availability == nil || *s.Availability >= a.Availability)
	}
	if !known && good {
		return nil
	}
	return &good
}

// quantile finds a quantile by its name; nil: not measured, or not kept.
func quantile(q *analysis.Quantiles, name string) *float64 {
	if q == nil {
		return nil
	}
	for _, one := range q.All() {
		if one.Name == name {
			return finite(&one.Value)
		}
	}
	return nil
}
