package verdict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
)

// drawn is a record of two services: the searches and the trials at the common load of each,
// whose figures spread by a few percent. after are the factors of the second service.
func drawn(random *rand.Rand, after map[string]float64) *summary.Summary {
	one := func(service string, n int, factor map[string]float64, set func(*summary.TrialFigures, func(metric string, spread float64) *float64)) summary.Cell {
		c := summary.Cell{Service: service, Trials: n, Breaking: &summary.BreakingPoint{}, LatencyMS: &summary.Quantiles{P99: 1}}
		for range n {
			var t summary.TrialFigures
			set(&t, func(metric string, spread float64) *float64 {
				v := 100 * math.Exp(spread*random.NormFloat64())
				if f, ok := factor[metric]; ok {
					v *= f
				}
				return &v
			})
			c.PerTrial = append(c.PerTrial, t)
		}
		return c
	}
	s := &summary.Summary{Common: &summary.Summary{}}
	for _, service := range []string{"new", "old"} {
		factor := after
		if service == "old" {
			factor = nil
		}
		search := one(service, 6, factor, func(t *summary.TrialFigures, v func(string, float64) *float64) {
			t.Breaking, t.StartS = v("breaking_point", 0.08), v("start_up", 0.05)
		})
		search.Breaking.RateRPS = search.PerTrial[0].Breaking
		s.Cells = append(s.Cells, search)
		s.Common.Cells = append(s.Common.Cells, one(service, 8, factor, func(t *summary.TrialFigures, v func(string, float64) *float64) {
			t.P99, t.CPUPerReqMS, t.MemoryPeak = v("p99", 0.2), v("cpu_per_request", 0.03), v("memory_peak", 0.02)
		}))
	}
	return s
}

// TestFalseChangesAreRare: of 1,500 pairs of the same service at most 5% have a figure that
// differs, whichever of the five it is.
func TestFalseChangesAreRare(t *testing.T) {
	random := rand.New(rand.NewPCG(36, 1))
	const pairs = 1500
	false5 := 0
	for range pairs {
		all := Changed(drawn(random, nil), "old", "new")
		if len(all) != 5 {
			t.Fatalf("%d figures were compared, want 5", len(all))
		}
		for _, d := range all {
			if d.Significant() {
				false5++
				break
			}
		}
	}
	if false5 > pairs*5/100 {
		t.Errorf("%d of %d pairs of the same service differ, want at most %d", false5, pairs, pairs*5/100)
	}
}

// TestAFifthMoreCPUIsShown: a request that costs 20% more CPU time is found in 18 of 20 pairs.
func TestAFifthMoreCPUIsShown(t *testing.T) {
	random := rand.New(rand.NewPCG(36, 2))
	found := 0
	for range 20 {
		for _, d := range Changed(drawn(random, map[string]float64{"cpu_per_request": 1.2}), "old", "new") {
			if d.Metric == "cpu_per_request" && d.Verdict == Higher {
				found++
			}
		}
	}
	if found < 18 {
		t.Errorf("found in %d of 20 pairs, want 18", found)
	}
}

// TestChangesAreOneFamily: each test is corrected for the others of the answer.
func TestChangesAreOneFamily(t *testing.T) {
	s := drawn(rand.New(rand.NewPCG(36, 3)), map[string]float64{"memory_peak": 2})
	for _, d := range Changed(s, "old", "new") {
		if d.P == nil || d.PHolm == nil || d.Family != 5 {
			t.Errorf("%s: p %v, corrected %v, a family of %d, want one of 5", d.Metric, d.P, d.PHolm, d.Family)
		} else if d.Metric == "memory_peak" && (d.Verdict != Higher || *d.PHolm != 5**d.P) {
			t.Errorf("memory_peak is %s, p %v, corrected %v", d.Verdict, *d.P, *d.PHolm)
		}
	}
}

// TestComparisonsOfAChangeGoFromOldToNew: as its answer does, also where the new server is the
// first cell.
func TestComparisonsOfAChangeGoFromOldToNew(t *testing.T) {
	s := drawn(rand.New(rand.NewPCG(36, 2)), map[string]float64{"p99": 2}).Common
	run := experiment.Experiment{
		Server:  &experiment.Server{Settings: []experiment.Setup{{Service: "new"}, {Service: "old", Before: true}}},
		Measure: experiment.Measure{Common: &experiment.Common{}},
	}
	s.Experiment.Server = run.At(100).Server // as in the record of the common load
	for i := range s.Cells {
		s.Cells[i].Cell = i
	}
	all, _ := Tests(s, "latency_ms.p99")
	if len(all) != 1 || all[0].Cell != 0 || all[0].Baseline != 1 || all[0].Shift < 50 || all[0].Low <= 0 || all[0].Value <= all[0].Base {
		t.Errorf("%+v", all)
	}
}
