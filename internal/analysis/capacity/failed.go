package capacity

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/stats"
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

// surelyFail reports whether more requests fail than the objective allows, and not by chance.
func (s Stretch) surelyFail() bool {
	k := &s.Sums.Client
	least, _ := stats.Proportion(float64(k.Failed()), float64(max(1, k.Requests())))
	return least > s.Goal.AllowedErrors()
}

const (
	// fewFailed is the number of failures below which their share at lower loads is chance.
	fewFailed = 3
	// manyFailed is the share of failures from which an overload shows that it causes them.
	manyFailed = 0.1
	// fewGood is the number of good answers below which their median is chance.
	fewGood = 20
	// queuedMore is how many times as long as at lower loads half of the good answers take at
	// the highest overload if errors come of a full queue. Where the errors begin, the slow
	// ones take longer, too. A service that refuses by a rate answers as fast as before. Of 360
	// simulated services with a bounded queue, errors were named for 11 (3.1%, 1.7 to 5.4%).
	queuedMore = 1.5
)

// failsAlike reports whether the load does not cause the errors: at least half of this share
// of the requests failed at lower loads, or less than twice of it at a clearly higher one.
func (s Stretch) failsAlike(share float64) bool {
	if s.below != nil {
		if k := &s.below.Client; k.Failed() >= fewFailed && float64(k.Failed()) >= share/2*float64(k.Requests()) {
			return true
		}
	}
	top, lowest := s.highestTogether(), math.Inf(1)
	for _, o := range s.over {
		lowest = min(lowest, o.load)
	}
	k := &top.sums.Client
	failed := float64(k.Failed()) / float64(max(1, k.Requests()))
	return lowest <= lightly*top.load && failed < min(2*share, manyFailed)
}

// queued reports whether requests wait for each other at the highest overload, or wait for
// busy threads or CPUs.
func (s Stretch) queued() bool {
	if by, _ := s.busy(); by != "" {
		return true
	}
	if s.below == nil {
		return false
	}
	top := s.highestTogether()
	low, high := &s.below.Client, &top.sums.Client
	return low.Good >= fewGood && high.Good >= fewGood && s.Sums.Client.Service.Quantile(0.9) > low.Service.Quantile(0.9) &&
		float64(high.Service.Quantile(0.5)) >= queuedMore*float64(low.Service.Quantile(0.5))
}

// failures counts the requests of Failed by kind.
func failures(e summary.ErrorCounts) (all []finding.Count) {
	e.Timeouts, e.Dropped = 0, 0
	for _, f := range e.Failures() {
		all = append(all, finding.Count{N: f.N, Name: f.Name})
	}
	return all
}
