package traffic

import (
	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/signals"
)

// Failures are the requests that got no whole answer, whose answer failed a check,
// or that were never sent. Kinds that did not occur are left out; statuses are
// counted by their codes elsewhere.
func Failures(c *signals.Client) []narrative.Failure {
	return narrative.Failures(&analysis.ErrorCounts{Timeouts: c.Timeouts, Refused: c.Refused, Cut: c.Cut,
		Malformed: c.Malformed, Failed: c.Failed, Dropped: c.Dropped})
}
