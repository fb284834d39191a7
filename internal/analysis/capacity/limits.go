package capacity

import (
	"cmp"
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
)

// limit returns what limits a stretch, the generator, the host or the service, and the
// figures that show it.
func (s Stretch) limit(blocks []search.Block) (by string, shown []finding.Finding) {
	if by := s.outside(); by != "" {
		return by, []finding.Finding{s.shownOutside(by)}
	}
	return s.inside(blocks)
}

// inside returns what limits the service, and the errors beside it.
func (s Stretch) inside(blocks []search.Block) (by string, shown []finding.Finding) {
	by, first := s.used(blocks)
	shown = []finding.Finding{first}
	if failed := s.tooManyFailed(); !failed.None() && by != summary.ByErrors {
		failed.Kind = finding.AlsoFailed
		shown = append(shown, failed)
	}
	return by, shown
}

// used returns what the service has used up. It checks the certain causes first. Errors of a
// service that used up its CPU limit are a symptom: it sheds load, or its queue is full. If
// replicas died, the errors are of their deaths; if nothing is answered, the limit shows
// nothing.
func (s Stretch) used(blocks []search.Block) (by string, shown finding.Finding) {
	server := &s.Sums.Server
	if n := sums.Value(server.OOMKills); n > 0 {
		return summary.ByMemory, finding.Finding{Kind: finding.OOMKills, N: int(n)}
	}
	by, shown = s.ownLimit()
	limited := by == summary.ByCPULimit || by == summary.ByThrottling
	if failed := s.failedFirst(blocks); !failed.None() {
		if deaths := int(sums.Value(server.Restarts)); deaths > 0 || failed.Share == 1 || !limited {
			failed.N = deaths
			return summary.ByErrors, failed
		}
		return by, shown
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
	if by, shown := s.busy(); by != "" {
		return by, shown
	}
	return summary.ByService, s.unknown()
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
		case is != isUsedUp:
		case atOwnLimit(d):
			return shown
		case stoppedInBursts(d):
			shown.Kind = finding.DependencyThrottled
			return shown
		}
	}
	n := float64(s.Sums.Client.Service.Count())
	if n == 0 {
		return finding.Finding{}
	}
	waited, took := 1e3*s.Sums.Waits.Seconds()/n, summary.MS(s.Sums.Client.Service.Mean())
	if waited < waitShare*took {
		return finding.Finding{}
	}
	return finding.Finding{Kind: finding.DependencyWaited, Value: took, Other: min(waited, took)}
}
