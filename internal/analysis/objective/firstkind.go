package objective

import (
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/signals"
)

const (
	// ofAllowed is the part of what an objective allows from which late or failed requests show
	// what breaks it.
	ofAllowed = 0.5
	// fewestMissing is how many of them show it at least.
	fewestMissing = 5
	// almostAll is the share of them that one kind has if it breaks first.
	almostAll = 0.9
)

// FirstKind is the kind of request that breaks first, and its share of the requests that are late or
// failed. levels are totals near a breaking point, from the lowest load on. They are added up
// until half of what the objective allows is late or failed: at higher loads a queue may delay
// requests of all kinds. A kind is first if it has almost all of these, and far more than its share
// of the requests, while the others meet the objective. "": none is. In a pause, or in a queue
// in which all kinds are late, each has its share.
func (g Goal) FirstKind(levels []*sums.Total) (name string, share float64) {
	seen := sums.New()
	allowed := g.Allowed()
	for _, level := range levels {
		seen.Merge(level)
		b := g.Count(seen)
		enough := func(missing int64, part float64) bool {
			return part >= 0 && missing >= fewestMissing && float64(missing) >= ofAllowed*part*float64(b.Requests)
		}
		switch {
		case enough(b.Late, allowed.AllowedLate):
			return first(seen.Client.Kinds, g.late, allowed.AllowedLate)
		case enough(b.Bad, allowed.AllowedBad):
			return first(seen.Client.Kinds, failed, allowed.AllowedBad)
		}
	}
	return "", 0
}

// late counts the requests of a kind that are late or failed.
func (g Goal) late(k *signals.Kind) int64 {
	return k.Latency.Late(g.Objective.Latency, g.Timeout, failed(k), k.Timeouts())
}

func failed(k *signals.Kind) int64 { return k.Ended - k.Good }

// first is the kind with almost all requests that miss an objective, and its share of them.
func first(kinds map[string]*signals.Kind, missing func(*signals.Kind) int64, allowed float64) (name string, share float64) {
	all, ended, most := int64(0), int64(0), int64(0)
	for kind, k := range kinds {
		n := missing(k)
		if all, ended = all+n, ended+k.Ended; n > most {
			name, most = kind, n
		}
	}
	if len(kinds) < 2 || most < fewestMissing || float64(most) < almostAll*float64(all) {
		return "", 0
	}
	others := float64(ended - kinds[name].Ended)
	_, ofOthers := stats.Proportion(float64(all-most), others)
	atLeast, _ := stats.Proportion(float64(most), float64(all))
	if ofOthers > allowed || atLeast <= float64(kinds[name].Ended)/float64(ended) {
		return "", 0
	}
	return name, float64(most) / float64(all)
}
