package main

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSpread(t *testing.T) {
	for name, c := range map[string]struct {
		figures []float64
		want    spread
	}{
		"of an odd number":       {[]float64{3, 1, 2}, spread{2, 1, 3, 3}},
		"of an even number":      {[]float64{4, 1, 2, 3}, spread{2.5, 1, 4, 4}},
		"of one":                 {[]float64{7}, spread{7, 7, 7, 1}},
		"of what is not unknown": {[]float64{math.NaN(), 5, 3}, spread{4, 3, 5, 2}},
	} {
		if got := spreadOf(c.figures); got != c.want {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
	}
	if got := spreadOf(nil); got.N != 0 || !math.IsNaN(got.Median) {
		t.Errorf("of nothing: %v", got)
	}
}

// costing is a run of 1,000 good answers with a CPU time per answer in microseconds.
func costing(round int, tool string, micros int) run {
	return run{Case: closedLoop, Round: round, Tool: tool, Load: load{Seconds: 2, Connections: 64},
		report: report{Good: 1000}, used: used{CPU: time.Duration(micros) * time.Millisecond, Took: 2 * time.Second, Peak: 5 << 20}}
}

// A ratio is of two runs of one round; a round with a missing or failed run has none.
func TestPairing(t *testing.T) {
	failed := costing(4, base, 1)
	failed.Failure = "it broke"
	runs := []run{
		costing(0, base, 10), costing(0, self, 8),
		costing(1, self, 20), costing(1, base, 16),
		costing(2, self, 7),
		costing(3, base, 9),
		failed, costing(4, self, 9),
	}
	if diff := cmp.Diff([]float64{0.8, 1.25}, paired(runs, closedLoop, self, base, perRequest)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if diff := cmp.Diff([]float64{8, 20, 7, 9}, of(runs, closedLoop, self, perRequest)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if got := paired(runs, openLoop(2000), self, base, perRequest); got != nil {
		t.Errorf("of another case: %v", got)
	}
}
