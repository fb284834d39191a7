package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/millicore/millicore/test/testkit"
)

func drawn(r *rand.Rand, n int, of func(*rand.Rand) Observed) []Observed {
	all := make([]Observed, n)
	for i := range all {
		all[i] = of(r)
	}
	return all
}

// skewed is a log-normal value, as a p99 of throttled trials is.
func skewed(at, sd float64) func(*rand.Rand) Observed {
	return func(r *rand.Rand) Observed { return Known(at * math.Exp(sd*r.NormFloat64())) }
}

// bounded is a value above which only a lower bound is known, and below which only that
// it is missed.
func bounded(lowest, highest float64, of func(*rand.Rand) Observed) func(*rand.Rand) Observed {
	return func(r *rand.Rand) Observed {
		switch v := of(r).Low; {
		case v < lowest:
			return Observed{0, lowest}
		case v > highest:
			return Observed{highest, math.Inf(1)}
		default:
			return Known(v)
		}
	}
}

// TestFalseRankingsAreBounded counts the records in which samples that are alike are
// found to differ. docs/statistics.md has the table.
func TestFalseRankingsAreBounded(t *testing.T) {
	records := testkit.Samples(100, 400, 1000)
	type group struct {
		cells int
		of    func(*rand.Rand) Observed
	}
	for _, c := range []struct {
		name   string
		trials int
		groups []group // cells of one group are alike
	}{
		{"2 alike", 6, []group{{2, skewed(1, 1)}}},
		{"3 alike", 6, []group{{3, skewed(1, 1)}}},
		{"6 alike", 6, []group{{6, skewed(1, 1)}}},
		{"12 alike", 6, []group{{12, skewed(1, 1)}}},
		{"13 alike", 7, []group{{13, skewed(1, 1)}}},
		{"2 alike, 4 trials", 4, []group{{2, skewed(1, 1)}}},
		{"3 alike, 4 trials", 4, []group{{3, skewed(1, 1)}}},
		{"6 alike, 5 trials", 5, []group{{6, skewed(1, 1)}}},
		{"2 alike and 10 alike", 6, []group{{2, skewed(1, 0.1)}, {10, skewed(1000, 0.1)}}},
		{"six pairs alike", 6, []group{{2, skewed(1, 0.1)}, {2, skewed(10, 0.1)}, {2, skewed(100, 0.1)}, {2, skewed(1e3, 0.1)}, {2, skewed(1e4, 0.1)}, {2, skewed(1e5, 0.1)}}},
		{"2 of unequal spread among 6", 6, []group{{4, skewed(1, 0.01)}, {2, skewed(1, 2)}}},
		{"12 alike with bounds", 6, []group{{12, bounded(0.5, 1.5, skewed(1, 1))}}},
		{"2 alike with bounds", 6, []group{{2, bounded(0.5, 1.5, skewed(1, 1))}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, uint64(len(c.name))))
			false1, records := 0, records
			if total := len(c.groups) * c.groups[len(c.groups)-1].cells; total > 9 && !testkit.Campaign() {
				records /= 4 // each takes 20 ms
			}
			for range records {
				var samples [][]Observed
				var of []int
				for g, one := range c.groups {
					for range one.cells {
						samples, of = append(samples, drawn(r, c.trials, one.of)), append(of, g)
					}
				}
				ranks, wrong := Rank(samples), false
				for i := range samples {
					for j := range i {
						wrong = wrong || of[i] == of[j] && ranks.PFamily[i][j] < 1-Level
					}
				}
				if wrong {
					false1++
				}
			}
			n := float64(records)
			t.Logf("%s: false in %d of %d (%.1f%%)", c.name, false1, records, 100*float64(false1)/n)
			if most := 0.05*n + 3*math.Sqrt(0.05*0.95*n); float64(false1) > most {
				t.Errorf("false rankings in %d of %d records", false1, records)
			}
		})
	}
}

// Cells with one median, of other numbers of trials and of other spreads.
func TestFalseRankingsOfUnequalCells(t *testing.T) {
	records := testkit.Samples(100, 400, 2000)
	for _, trials := range [][]int{{4, 6, 12}, {6, 6, 6}, {6, 12, 30}, {4, 4, 4}, {6, 6, 12, 12, 12, 12}} {
		for _, wide := range [][]float64{{10, 3, 1}, {1, 3, 10}, {10, 1, 1}} {
			r, wrong := rand.New(rand.NewPCG(31, uint64(len(trials)*100+trials[1]))), 0
			for range records {
				var samples [][]Observed
				for i, n := range trials {
					samples = append(samples, drawn(r, n, skewed(1, 0.05*wide[i%3])))
				}
				if slices.ContainsFunc(Rank(samples).PFamily, func(p []float64) bool { return slices.Min(p) < 1-Level }) {
					wrong++
				}
			}
			t.Logf("%v trials, spreads of %v: %.1f%%", trials, wide, 100*float64(wrong)/float64(records))
			if most := 0.065*float64(records) + 3*math.Sqrt(0.06*float64(records)); float64(wrong) > most {
				t.Errorf("%d of %d", wrong, records)
			}
		}
	}
}

// TestDifferencesAreFound counts how often a cell that is truly better is ranked.
func TestDifferencesAreFound(t *testing.T) {
	records := testkit.Samples(30, 100, 1000)
	for _, c := range []struct {
		name          string
		cells, trials int
		better        float64 // of the first cell, in standard deviations
		least         float64 // share of the records in which it beats all
	}{
		{"2 cells", 2, 6, 2, 0.8},
		{"2 cells, 4 trials", 2, 4, 6, 0.9},
		{"3 cells", 3, 6, 2, 0.6},
		{"3 cells, 4 trials", 3, 4, 6, 0.9},
		{"6 cells", 6, 6, 4, 0.9},
		{"12 cells", 12, 6, 4, 0.8},
		{"12 cells, 5 trials", 12, 5, 8, 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(4, uint64(len(c.name))))
			found := 0
			for range records {
				samples := [][]Observed{drawn(r, c.trials, skewed(math.Exp(-c.better), 1))}
				for range c.cells - 1 {
					samples = append(samples, drawn(r, c.trials, skewed(1, 1)))
				}
				ranks, all := Rank(samples), true
				for j := 1; j < c.cells; j++ {
					all = all && ranks.PFamily[0][j] < 1-Level && ranks.Sign[0][j] < 0
				}
				if all {
					found++
				}
			}
			t.Logf("%s: found in %d of %d", c.name, found, records)
			if float64(found) < c.least*float64(records) {
				t.Errorf("found in %d of %d records", found, records)
			}
		})
	}
}
