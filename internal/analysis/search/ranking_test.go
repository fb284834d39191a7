package search

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/test/testkit"
)

// Records of cells that are alike, each with six whole searches of six starts. The
// starts differ by a standard deviation of 2%. One or more pairs of cells are falsely
// ranked in at most 5% of the records. docs/statistics.md has the figures of
//
//	MILLICORE_SAMPLES=full go test ./internal/analysis/search -run TestSearchesThatAreAlikeAreNotRanked -v
func TestSearchesThatAreAlikeAreNotRanked(t *testing.T) {
	const most, starts = 12, 6
	n := testkit.Samples(1, 2, 100) * most * starts
	values := make([]stats.Observed, n)
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		wg.Go(func() {
			for i := worker; i < n; i += workers {
				seed := *first + uint64(i)
				rate := 1000 * (1 + 0.02*rand.New(rand.NewPCG(seed, 1)).NormFloat64())
				k := mm1(rate, .05, .01, 0)
				values[i] = observed(k.world(seed).run(k.config()))
			}
		})
	}
	wg.Wait()
	for _, cells := range []int{2, 6, most} {
		records, wrong := n/starts/cells, 0
		for r := range records {
			samples := make([][]stats.Observed, cells)
			for c := range samples {
				at := (r*cells + c) * starts
				samples[c] = values[at : at+starts]
			}
			ranks, ranked := stats.Rank(samples), false
			for i := range cells {
				for j := range i {
					ranked = ranked || ranks.PFamily[i][j] < 1-stats.Level
				}
			}
			if ranked {
				wrong++
			}
		}
		share := float64(wrong) / float64(records)
		t.Logf("| %d | %d | %d | %.1f%% |", cells, starts, records, 100*share)
		if allowed := 0.05 + 3*math.Sqrt(0.05*0.95/float64(records)); share > allowed {
			t.Errorf("%d cells: %.1f%% of %d records have a false ranking, want at most %.1f%%", cells, 100*share, records, 100*allowed)
		}
	}
}

// observed is what a search contributes to a ranking: its answer, or a bound.
func observed(r Result) stats.Observed {
	switch {
	case r.Load == 0:
		return stats.Known(math.Inf(-1))
	case r.AtLeast:
		return stats.Observed{Low: r.Load, High: math.Inf(1)}
	}
	return stats.Known(r.Load)
}
