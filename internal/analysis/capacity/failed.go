package capacity

import (
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// tooManyFailed returns how many requests got no good answer, if the objective does not
// allow that; none otherwise.
func (s Stretch) tooManyFailed() finding.Finding {
	k := &s.Sums.Client
	failed, n := float64(k.Failed()), float64(k.Requests())
	if !search.Exceeds(failed, n, s.Goal.AllowedErrors()) {
		return finding.Finding{}
	}
	return finding.Finding{Kind: finding.RequestsFailed, Share: failed / n, Counts: failures(k.Errors)}
}

// failedFirst returns that errors, not latency, miss the objective; none otherwise. A
// timeout is a slow answer, not such an error.
func (s Stretch) failedFirst(blocks []search.Block) finding.Finding {
	config, k := s.Goal.Allowed(), &s.Sums.Client
	failed, n := k.Failed(), float64(k.Requests())
	shown := s.tooManyFailed()
	if shown.None() {
		return shown
	}
	slow := k.Errors.Timeouts - k.Bad() // failed requests count as late, too
	for _, b := range blocks {
		slow += b.Late
	}
	if config.AllowedBad >= 0 && config.AllowedLate >= 0 && search.Exceeds(float64(slow), n, config.AllowedLate) && slow > failed {
		return finding.Finding{} // the latency was missed first
	}
	return shown
}

// failures counts the requests of Failed by kind.
func failures(e summary.ErrorCounts) (all []finding.Count) {
	e.Timeouts, e.Dropped = 0, 0
	for _, f := range e.Failures() {
		all = append(all, finding.Count{N: f.N, Name: f.Name})
	}
	return all
}
