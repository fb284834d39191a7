package charts

import (
	"github.com/millicore/millicore/internal/analysis/summary"
)

// goal is an objective in figures, to draw it.
type goal struct {
	Quantile     string  // "p99"; "": no latency was asked for
	MS           float64 // milliseconds
	Availability float64 // percent; 0: not asked for
}

// goalOf gives an objective's figures; those that were not asked for are zero.
func goalOf(o *summary.Objective) goal {
	var a goal
	if o == nil {
		return a
	}
	if ms := summary.Finite(o.LatencyMS); o.Quantile != "" && ms != nil {
		a.Quantile, a.MS = o.Quantile, *ms
	}
	if v := summary.Finite(o.Availability); v != nil {
		a.Availability = *v
	}
	return a
}
