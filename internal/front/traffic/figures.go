package traffic

import (
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// Failures are the failed requests by kind: no complete answer, a failed check, or never
// sent. Kinds that did not occur are left out. Bad statuses are counted by their codes
// instead.
func Failures(c *signals.Client) []summary.Failure {
	return (&summary.ErrorCounts{Timeouts: c.Timeouts, Refused: c.Refused, Cut: c.Cut,
		Malformed: c.Malformed, Failed: c.Failed, Dropped: c.Dropped}).Failures()
}
