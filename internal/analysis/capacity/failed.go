package capacity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// failedText states that errors, not latency, miss the objective; "" otherwise. A
// timeout is a slow answer, not such an error.
func (s Stretch) failedText(blocks []search.Block) string {
	config, k := s.Goal.Allowed(), &s.Sums.Client
	failed, n := k.Failed(), float64(k.Requests())
	text := s.tooManyFailed()
	if text == "" {
		return ""
	}
	slow := k.Errors.Timeouts - k.Bad() // failed requests count as late, too
	for _, b := range blocks {
		slow += b.Late
	}
	if config.AllowedBad >= 0 && config.AllowedLate >= 0 && search.Exceeds(float64(slow), n, config.AllowedLate) && slow > failed {
		return "" // the latency was missed first
	}
	return text
}

// tooManyFailed states how many requests got no good answer, if the objective does not
// allow that; "" otherwise.
func (s Stretch) tooManyFailed() string {
	k := &s.Sums.Client
	failed, n := float64(k.Failed()), float64(k.Requests())
	if !search.Exceeds(failed, n, s.Goal.AllowedErrors()) {
		return ""
	}
	return fmt.Sprintf("%.3g%% of the requests got no good answer (%s)", 100*failed/n, failureKinds(k.Errors))
}

// failureKinds counts the requests of Failed by kind: "214 were cut off".
func failureKinds(e summary.ErrorCounts) string {
	e.Timeouts, e.Dropped = 0, 0
	failures := e.Failures()
	slices.SortStableFunc(failures, func(x, y summary.Failure) int { return cmp.Compare(y.N, x.N) })
	parts := make([]string, len(failures))
	for i, f := range failures {
		parts[i] = fmt.Sprintf("%d %s", f.N, f.Did)
	}
	return strings.Join(parts, ", ")
}
