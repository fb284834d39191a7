package analysis

import (
	"github.com/millicore/millicore/internal/analysis/summary"
)

// latencyOf is a quantile of all requests of a trial. If it is infinite, it is that of the
// answered ones, which is a lower bound: see Infinite.
func latencyOf(t *summary.TrialFigures, answered *float64, of func(*summary.AllRequests) *float64) *float64 {
	if t.OfAll != nil {
		if v := of(t.OfAll); v != nil {
			return v
		}
	}
	return answered
}
