package stats

import (
	"math"
	"testing"
)

// The examples of R. G. Newcombe, Statistics in Medicine 17, 1998, table I, method 5, and
// the ends of none in 36,888 and of 5 in 12,000 by the formulas of the Poisson limit.
func TestProportionIsTheExactInterval(t *testing.T) {
	for _, c := range []struct{ k, n, low, high, within float64 }{
		{81, 263, 0.2527, 0.3676, 5e-5}, {15, 148, 0.0578, 0.1617, 5e-5}, {0, 20, 0, 0.1684, 5e-5}, {1, 29, 0.0009, 0.1776, 5e-5},
		{0, 36888, 0, 1e-4, 1e-8}, {5, 12000, 1.6235 / 12000, 11.668 / 12000, 1e-6}, {29, 29, 0.8806, 1, 5e-5},
	} {
		low, high := Proportion(c.k, c.n)
		if math.Abs(low-c.low) > c.within || math.Abs(high-c.high) > c.within {
			t.Errorf("%g of %g: %.6g to %.6g, want %.6g to %.6g", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

func TestClustersOfEventsAreFewer(t *testing.T) {
	for _, c := range []struct {
		events []float64
		want   float64
	}{{[]float64{20, 0, 0, 0, 0, 0}, 20}, {[]float64{3, 3, 3}, 1}, {[]float64{7}, 1}, {[]float64{0, 0}, 1}, {[]float64{6, 2}, 2}} {
		if got := Clustering(c.events); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %g, want %g", c.events, got, c.want)
		}
	}
}

func TestFewHaveStudentsInterval(t *testing.T) {
	low, high, ok := FewMean([]float64{1, 2, 3}) // sd 1, t 2.920
	if math.Abs(low-(2-1.6859)) > 1e-3 || math.Abs(high-(2+1.6859)) > 1e-3 || !ok {
		t.Errorf("%g to %g", low, high)
	}
	if _, _, ok = FewMean(make([]float64, 6)); ok {
		t.Error("six are few")
	}
}

func TestRanksThatFewSamplesLieBelow(t *testing.T) {
	if got := AtMost(20, 20); math.Abs(got-0.5591) > 1e-4 {
		t.Errorf("at most 20 of 20 expected: %.4f", got)
	}
	// Of 20, 15 or more are below their median with a probability of 2.1%, 14 or more with 5.8%.
	for _, c := range []struct {
		n     int
		below float64
		want  int
	}{{20, 0.5, 14}, {6, 0.5, 5}, {4, 0.5, 4}} {
		if got := FewAbove(c.n, c.below); got != c.want {
			t.Errorf("%d: %d, want %d", c.n, got, c.want)
		}
	}
}
