package objective

import (
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/signals"
)

// FirstKind is the kind of request that breaks first: in a total that missed the objective it misses
// it, while each other kind is clearly within it, and all kinds met it in a total at a lower load.
// "": no kind is shown to be that. If a limit delays requests of all kinds, none is.
func (g Goal) FirstKind(missed, met *sums.Total) (first string) {
	for name, k := range missed.Client.Kinds {
		before := met.Client.Kinds[name]
		if before == nil || !g.within(before, 1) {
			return ""
		}
		switch {
		case g.within(k, 0.5):
		case first == "" && g.misses(k):
			first = name
		default:
			return ""
		}
	}
	return first
}

// shortfall is how many requests of a kind are late or failed, and how many failed.
func (g Goal) shortfall(k *signals.Kind) (late, bad float64) {
	failed := k.Ended - k.Good
	if g.HasLatency() {
		late = float64(k.Latency.Late(g.Objective.Latency, g.Timeout, failed, k.Timeouts()))
	}
	return late, float64(failed)
}

// within reports whether a kind keeps within a part of what the objective allows: with its 95%
// interval within all of it, if the part is less than 1.
func (g Goal) within(k *signals.Kind, part float64) bool {
	allowed, n := g.Allowed(), float64(k.Ended)
	late, bad := g.shortfall(k)
	keeps := func(seen, share float64) bool {
		if share < 0 {
			return true
		}
		if seen > part*share*n {
			return false
		}
		_, high := stats.Proportion(seen, n)
		return part == 1 || high <= share
	}
	return n > 0 && keeps(late, allowed.AllowedLate) && keeps(bad, allowed.AllowedBad)
}

// misses reports whether a kind is shown to miss the objective.
func (g Goal) misses(k *signals.Kind) bool {
	allowed, n := g.Allowed(), float64(k.Ended)
	late, bad := g.shortfall(k)
	over := func(seen, share float64) bool {
		low, _ := stats.Proportion(seen, n)
		return share >= 0 && low > share
	}
	return n > 0 && (over(late, allowed.AllowedLate) || over(bad, allowed.AllowedBad))
}
