package capacity

import (
	"github.com/millicore/millicore/internal/analysis/counters"
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/sums"
)

const (
	// stoppedMuch is the share of the CPU time that a service wanted and that its limit
	// refused, from which the limit stops it. k busy threads under a limit of q CPUs are
	// refused 1 − q/k. A single thread under a limit of one CPU exceeds the quota by a
	// tick now and then: up to 28% of the periods with a millisecond each, which is
	// 0.3%. The breaking points of one program's starts differ by 2%, so less than that
	// cannot be seen in the load that it holds.
	stoppedMuch = 0.03
	// stoppedOften is the share of throttled periods from which the same holds if the
	// time in them is not known.
	stoppedOften = 0.3
)

// stopped reports whether the CPU limit of a service or a dependency stopped it for so
// much of its time that the limit matters. The use of the limit does not show that:
// with as many threads as CPUs it is used up, and the kernel never stops it.
func stopped(s *sums.Server) bool {
	if refused := s.Refused(); refused != nil {
		return *refused >= stoppedMuch
	}
	share := s.ThrottledShare()
	return share != nil && *share >= stoppedOften
}

// stoppedInBursts reports whether the CPU limit of a service or a dependency stopped it in
// so many periods that it matters, however little of the limit is used on average.
func stoppedInBursts(s *sums.Server) bool {
	share := s.ThrottledShare()
	return share != nil && *share >= throttledLittle && *s.ThrottledPeriods >= throttledFew && stopped(s)
}

// unstopped reports whether it is known that the limit did not stop a service. Without a
// limit it did not.
func unstopped(s *sums.Server) bool {
	if s.LimitCores() == nil {
		return true
	}
	return !stopped(s) && s.ThrottledShare() != nil
}

// atOwnLimit reports whether a service, or a dependency, uses its CPU limit up, as far
// as that is known.
func atOwnLimit(s *sums.Server) bool {
	used := s.OfLimit()
	return used != nil && *used >= atLimit && !unstopped(s)
}

// use returns how much CPU a service or a dependency used, and how much its limit
// throttled it.
func use(s *sums.Server) finding.Use {
	return finding.Use{Cores: s.Cores(), OfLimit: s.OfLimit(), Throttled: s.ThrottledShare(), PerPeriod: s.PerThrottledPeriod()}
}

// UnderLoad returns what makes a service slow under a constant load, by counters of its own;
// none if it is at its CPU limit, which makes queues of any kind.
func UnderLoad(g objective.Goal, t *sums.Total) (by string, shown finding.Finding) {
	if atOwnLimit(&t.Server) || stoppedInBursts(&t.Server) {
		return "", finding.Finding{}
	}
	return counters.Cause(g, t, throttledALittle(&t.Server))
}

// throttledALittle reports whether the limit stops a service in so many periods that it is
// worth to be stated.
func throttledALittle(s *sums.Server) bool {
	share := s.ThrottledShare()
	return share != nil && *share >= throttledLittle
}
