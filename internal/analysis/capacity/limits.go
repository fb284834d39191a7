package capacity

import (
	"cmp"
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/analysis/awake"
	"github.com/millicore/millicore/internal/analysis/counters"
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/signals"
)

// limit returns what limits a stretch, the generator, the host or the service, and the
// figures that show it.
func (s Stretch) limit(blocks []search.Block) (by string, shown []finding.Finding) {
	if by := s.outside(); by != "" {
		return by, []finding.Finding{s.shownOutside(by)}
	}
	return s.inside(blocks)
}

// inside returns what limits the service, and the errors, the delayed acknowledgements and the
// threads that never sleep beside it. If that may be a pool, it also returns how long requests
// wait for a dependency at low loads, where they do not wait for each other.
func (s Stretch) inside(blocks []search.Block) (by string, shown []finding.Finding) {
	by, first := s.used(blocks)
	shown = []finding.Finding{first}
	if failed := s.tooManyFailed(); !failed.None() && by != summary.ByErrors {
		failed.Kind = finding.AlsoFailed
		shown = append(shown, failed)
	}
	if acks := counters.DelayedAck(s.Goal, s.Sums, throttledALittle(&s.Sums.Server)); by != summary.ByDelayedAck && !acks.None() {
		acks.Kind = finding.AlsoDelayed
		shown = append(shown, acks)
	}
	busy := by == summary.ByCPULimit || by == summary.ByThrottling || by == summary.ByParallelism || first.Kind == finding.LimitOrLock
	if share := s.collected(); busy && share >= collectsMuch {
		shown = append(shown, finding.Finding{Kind: finding.AlsoCollected, Share: share})
	}
	if light := cmp.Or(s.below, s.kept); light != nil && s.quiet != nil && (busy || by == summary.ByHost) {
		if spins := awake.Find(&s.quiet.Server, &light.Server, s.highestTogether().sums.Server.Cores()); !spins.None() {
			shown = append(shown, spins)
		}
	}
	if s.below != nil && (by == summary.ByService || by == summary.ByParallelism) {
		if waits := waited(s.below, waitWorth, finding.AlsoWaited); !waits.None() {
			shown = append(shown, waits)
		}
	}
	return by, shown
}

// used returns what the service has used up. It checks the certain causes first. Errors of a
// service that used up something, or whose requests wait for each other, are a symptom: it
// sheds load, or its queue is full. If replicas died, the errors are of their deaths; if
// nothing is answered, or as many fail at other loads, nothing else shows what they are of.
func (s Stretch) used(blocks []search.Block) (by string, shown finding.Finding) {
	server := &s.Sums.Server
	if n := sums.Value(server.OOMKills); n > 0 {
		return summary.ByMemory, finding.Finding{Kind: finding.OOMKills, N: int(n)}
	}
	by, shown = s.ownLimit()
	if failed := s.failedFirst(blocks); !failed.None() && (by == "" || s.surelyFail()) {
		failed.N = int(sums.Value(server.Restarts))
		if failed.N > 0 || failed.Share == 1 || s.failsAlike(failed.Share) || by == "" && !s.queued() {
			return summary.ByErrors, failed
		}
	}
	if by == summary.ByCPULimit {
		return by, shown
	}
	if shown := s.dependency(); !shown.None() {
		return summary.ByDependency, shown
	}
	if by != "" {
		return by, shown
	}
	own, why := counters.Cause(s.Goal, s.Sums, throttledALittle(&s.Sums.Server))
	if by, shown := s.busy(); by != "" && !(by == summary.ByHost && own == summary.ByAcceptQueue && s.idles()) {
		return by, shown
	}
	if own != "" && (own != summary.ByDelayedAck || s.withinAck()) {
		return own, why
	}
	if is, over := s.bound(ofService); is == isUsedUp && over.sums.Server.OfLimit() != nil {
		// Not at the lowest loads that missed, but at the overload: the limit cannot be excluded.
		return summary.ByService, finding.Finding{Kind: finding.LimitOrLock, Load: over.load, Users: !s.Open, Use: use(&over.sums.Server)}
	}
	return summary.ByService, s.unknown()
}

// idles reports whether CPUs of the host are idle just above the breaking point. It may be used
// up at an overload of many times that.
func (s Stretch) idles() bool {
	host := s.Sums.Noise.Machines().Fullest()
	return host != nil && host.CPUs > 0 && host.IdleShare() >= idleHost
}

// withinAck reports whether the wait for a delayed acknowledgement is at least half of the
// objective's latency. Of requests that take longer it is the smaller part: those of a pool
// of four threads in Java that sleep 10 ms missed 100 ms at 81% of what the pool answers, and
// 94% of the slow ones had it.
func (s Stretch) withinAck() bool {
	return !s.Goal.HasLatency() || s.Goal.Objective.Latency <= 2*signals.AckDelayed
}

// dependency returns the dependency whose CPU limit is used up or stops it, by the
// thresholds that hold for the service itself, or that requests wait for most of their
// time, as the service reports it; none otherwise.
func (s Stretch) dependency() (shown finding.Finding) {
	for _, name := range slices.Sorted(maps.Keys(s.Sums.Deps)) {
		d := s.Sums.Deps[name]
		is, _ := s.bound(func(t *sums.Total) *sums.Server { return cmp.Or(t.Deps[name], &sums.Server{}) })
		shown = finding.Finding{Kind: finding.DependencyLimitUsed, Text: name, Use: use(d)}
		switch {
		case is != isUsedUp || name == s.beside:
		case atOwnLimit(d):
			return shown
		case stoppedInBursts(d):
			shown.Kind = finding.DependencyThrottled
			return shown
		}
	}
	// Calls that take as long under the highest overload as at low loads wait for no
	// dependency: there are too few of them at a time, as behind a pool.
	kind := finding.DependencyOrPool
	if s.below != nil && waitedFor(s.below) > 0 {
		if kind = finding.DependencyWaited; waitedFor(s.highestTogether().sums) < slower*waitedFor(s.below) {
			return finding.Finding{}
		}
	}
	return waited(s.Sums, waitShare, kind)
}

// slower is how many times as long as at lower loads a request waits for a dependency that
// limits, at the highest overload.
const slower = 1.5

// waitedFor is how long a request waited for a dependency, in s, as the service reports it; 0:
// it does not.
func waitedFor(t *sums.Total) float64 {
	if n := float64(t.Client.Service.Count()); n > 0 {
		return t.Waits.Seconds() / n
	}
	return 0
}

// waited returns how long a request took, and how much of that it waited for a dependency,
// as the service reports it, if that is at least a share of its time; none otherwise.
func waited(t *sums.Total, share float64, kind finding.Kind) finding.Finding {
	n := float64(t.Client.Service.Count())
	if n == 0 {
		return finding.Finding{}
	}
	waited, took := 1e3*t.Waits.Seconds()/n, summary.MS(t.Client.Service.Mean())
	if waited < share*took {
		return finding.Finding{}
	}
	return finding.Finding{Kind: kind, Value: took, Other: min(waited, took)}
}
