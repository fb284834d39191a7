package capacity

import (
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
)

// A lock, or a pool, beside work that uses nearly the CPU limit looks like the limit just
// above the breaking point: bursts use the quota up there, too. They differ where the load
// exceeds the capacity. A limit that is used up stops the service in nearly every period
// there. Behind a lock the work is as even as the lock, and most periods have quota left.
//
// Of 260 simulated services that hold at least 10% more without their limit it was named for
// 98% (95% interval 95 to 99%). Of 268 locks and pools that hold no more than 5% more, with 60
// to 98% of the limit used, it was named for 1.1% (0.2 to 3.2%); of 148 locks that use 85 to 99%
// of it, for 5.4% (2.8 to 10%), and both for 32%. The seeds were not those of the tuning.
const (
	// boundOften is the share of throttled periods from which the limit is used up there, and
	// boundSeldom the share below which it is not, if the service falls behind.
	boundOften, boundSeldom = 0.8, 0.4
	// boundUse is the use of the limit from which it is used up, if throttling is not known.
	boundUse = 0.97
	// together is how much lower than the highest overload one may be to show the same.
	together = 1.3
)

// usedUp is whether a CPU limit is what an overload uses up.
type usedUp int

const (
	unclear usedUp = iota
	isUsedUp
	notUsedUp
)

// highestTogether returns the highest overloads together, without those in which replicas
// died. If there are none, it is the stretch itself, whose load is 0.
func (s Stretch) highestTogether() overload {
	all := overload{sums: sums.New()}
	lives := func(o overload) bool {
		return sums.Value(o.sums.Server.OOMKills)+sums.Value(o.sums.Server.Restarts) == 0
	}
	for _, o := range s.over {
		if lives(o) {
			all.load = max(all.load, o.load)
		}
	}
	due := 0.0
	for _, o := range s.over {
		if lives(o) && o.load*together >= all.load {
			all.sums.Merge(o.sums)
			due += o.load * o.sums.Client.Seconds()
		}
	}
	if all.load == 0 {
		all.sums = s.Sums
	} else if seconds := all.sums.Client.Seconds(); seconds > 0 {
		all.load = due / seconds
	}
	return all
}

// keptUp merges the windows at clearly lower loads than the highest overload that the service
// kept up with; nil if there are none. Threads that spin may make each load miss the objective,
// because its CPU limit then stops requests at any load.
func keptUp(searches []*Replayed, above *Stretch) (all *sums.Total) {
	most := above.highest()
	if most == nil || !above.Open {
		return nil
	}
	for _, one := range searches {
		for i := range one.steps {
			step := &one.steps[i]
			o := overload{step.Load, step.window.Sums}
			if !step.measured() || step.after() || step.Load > lightly*most.load || o.sums.Client.Answers() == 0 || above.fellBehind(&o) {
				continue
			}
			if all == nil {
				all = sums.New()
			}
			all.Merge(o.sums)
		}
	}
	return all
}

// bound returns whether the CPU limit of a service, or of a dependency, is used up at the
// highest overloads, and these together.
func (s Stretch) bound(of func(*sums.Total) *sums.Server) (usedUp, overload) {
	all := s.highestTogether()
	server := of(all.sums)
	share, used := server.ThrottledShare(), server.OfLimit()
	switch {
	case share == nil && used != nil && *used >= boundUse, share != nil && *share >= boundOften:
		return isUsedUp, all
	case share != nil && *share < boundSeldom && (!s.Open || s.fellBehind(&all)):
		return notUsedUp, all
	}
	return unclear, all
}

func ofService(t *sums.Total) *sums.Server { return &t.Server }

// ownLimit returns ByCPULimit if the service uses its limit and the kernel stops it,
// ByThrottling if it stops it in bursts, and ByService with what else it may be.
// Whether the kernel stops it may not be measured. Then only a use that no number of
// busy threads explains shows the limit.
func (s Stretch) ownLimit() (by string, shown finding.Finding) {
	server := &s.Sums.Server
	used := atOwnLimit(server)
	if !used && !stoppedInBursts(server) {
		return "", shown
	}
	shown = finding.Finding{Kind: finding.LimitUsed, Use: use(server)}
	if !stopped(server) {
		if threads, _ := wholeCores(*server.Cores()); threads > 0 {
			shown.Kind, shown.N = finding.LimitOrParallelism, threads
			return summary.ByService, shown
		}
	}
	switch is, over := s.bound(ofService); {
	case is == notUsedUp:
		return "", finding.Finding{}
	case is == unclear:
		return summary.ByService, finding.Finding{Kind: finding.LimitOrLock, Load: over.load, Users: !s.Open, Use: use(&over.sums.Server)}
	case used:
		return summary.ByCPULimit, shown
	}
	shown.Kind = finding.ThrottledInBursts
	return summary.ByThrottling, shown
}
