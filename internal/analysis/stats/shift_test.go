package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestHodgesLehmannAgreesWithThePublishedExample(t *testing.T) {
	// Hollander and Wolfe, example 4.3, estimate from the data of table 4.1.
	shift, interval := HodgesLehmann(early, term)
	near(t, "shift", shift, 0.305, 1e-9)
	if interval == nil || !interval.Contains(0) {
		t.Fatalf("interval %v: P is 0.25, so 0 lies in it", interval)
	}
	// Among 50 differences the 9th from either end bounds it: 2 P(U <= 8) = 0.04.
	near(t, "confidence", interval.Level, 0.96, 0.002)
}

// TestIntervalRanksAgreeWithTheTables: U is significant at 5%, two-sided, up to the
// critical value in every table of the Mann-Whitney test (such as table K of S.
// Siegel, Nonparametric Statistics, 1956). The interval then begins one difference
// above.
func TestIntervalRanksAgreeWithTheTables(t *testing.T) {
	for _, c := range []struct{ m, n, critical int }{
		{3, 5, 0}, {4, 4, 0}, {2, 8, 0}, {4, 6, 2}, {5, 5, 2}, {5, 10, 8}, {6, 6, 5}, {7, 7, 8},
		{6, 12, 14}, {8, 8, 13}, {10, 10, 23}, {12, 20, 69}, {15, 15, 64}, {20, 20, 127},
		{3, 3, -1}, {3, 4, -1}, {2, 7, -1}, {1, 19, -1},
	} {
		cut, level := excluded(c.m, c.n)
		if cut != c.critical+1 {
			t.Errorf("%d and %d: the interval begins at difference %d, want %d", c.m, c.n, cut, c.critical+1)
		}
		if cut > 0 && (level <= 0.95 || level > 1) {
			t.Errorf("%d and %d: confidence %v", c.m, c.n, level)
		}
	}
}

func TestTheNormalApproximationJoinsTheExactRanks(t *testing.T) {
	exact, _ := excluded(50, 50)
	approximate, _ := excluded(50, 51)
	if approximate < exact || approximate > exact+35 {
		t.Errorf("50 and 50: %d, 50 and 51: %d", exact, approximate)
	}
}

// TestTheIntervalIsTheTestTurnedRound: a shift lies in the interval exactly if the
// test does not exclude it.
func TestTheIntervalIsTheTestTurnedRound(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		base, value := make([]float64, 4+random.IntN(5)), make([]float64, 4+random.IntN(5))
		for i := range base {
			base[i] = random.NormFloat64()
		}
		for i := range value {
			value[i] = random.NormFloat64() + 2*random.Float64()
		}
		_, interval := HodgesLehmann(base, value)
		for shift := -4.0; shift < 5; shift += 0.173 {
			moved := make([]float64, len(value))
			for i, v := range value {
				moved[i] = v - shift
			}
			_, p := MannWhitney(moved, base)
			if interval.Contains(shift) != (p >= 0.05) {
				t.Fatalf("shift %v: P %v, interval %v", shift, p, *interval)
			}
		}
	}
}

// TestCoverageOfTheShift: skewed trials, as latencies are. The shift of the population
// is known, and the interval contains it as often as stated.
func TestCoverageOfTheShift(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const runs, truth = 2000, 1.5
	for _, n := range []int{4, 6, 10} {
		_, promised := excluded(n, n)
		held := 0
		for range runs {
			base, value := make([]float64, n), make([]float64, n)
			for i := range n {
				base[i], value[i] = math.Exp(random.NormFloat64()), math.Exp(random.NormFloat64())+truth
			}
			if _, interval := HodgesLehmann(base, value); interval.Contains(truth) {
				held++
			}
		}
		// Three standard errors of a share of 2,000 runs.
		near(t, fmt.Sprintf("coverage with %d and %d trials", n, n), float64(held)/runs, promised, 3*math.Sqrt(promised*(1-promised)/runs))
	}
}

func TestAFactorIsAShiftOfLogarithms(t *testing.T) {
	known := func(v ...float64) (all []Observed) {
		for _, one := range v {
			all = append(all, Known(one))
		}
		return all
	}
	infinite := math.Inf(1)
	for name, c := range map[string]struct {
		base, value []Observed
		low, high   float64
	}{
		"four against four: every ratio":            {known(1, 2, 4, 5), known(10, 20, 40, 80), 2, 80},
		"six against six: the sixth of both ends":   {known(98, 99, 100, 100, 101, 102), known(390, 395, 400, 400, 405, 410), 395.0 / 101, 405.0 / 99},
		"a lower bound of the value":                {known(1, 2, 4, 5), []Observed{{10, infinite}, Known(20), Known(40), Known(80)}, 2, infinite},
		"a lower bound of the base":                 {[]Observed{{1, infinite}, Known(2), Known(4), Known(5)}, known(10, 20, 40, 80), 0, 80},
		"a base of 0":                               {known(0, 2, 4, 5), known(10, 20, 40, 80), 2, infinite},
		"0 of 0 is anything":                        {known(0, 2, 4, 5), known(0, 20, 40, 80), 0, infinite},
		"both infinitely late are anything":         {known(1, 2, 4, infinite), known(10, 20, 40, infinite), 0, infinite},
		"a search that missed everywhere is near 0": {known(1, 2, 4, 5), []Observed{{math.Inf(-1), 3}, Known(20), Known(40), Known(80)}, 0, 80},
	} {
		if got := CensoredFactor(c.base, c.value); math.Abs(got.Low-c.low) > 1e-12 || got.High != c.high && math.Abs(got.High-c.high) > 1e-12 {
			t.Errorf("%s: %v to %v, want %v to %v", name, got.Low, got.High, c.low, c.high)
		}
	}
	if got := CensoredFactor(known(1, 2, 3), known(4, 5, 6)); got != nil {
		t.Errorf("three against three have %v", got)
	}
}

func TestComparisonsOfAFamily(t *testing.T) {
	base := []float64{10, 11, 12, 13, 14, 15}
	all := Against(base, [][]float64{
		{30, 31, 32, 33, 34, 35},
		{10.5, 11.5, 12.5, 13.5, 14.5, 15.5},
		{40, 41, 42},
		{50},
		nil,
	})
	higher, same, three, one, none := all[0], all[1], all[2], all[3], all[4]
	if !higher.Significant || higher.Shift != 20 || higher.Base != 12.5 || higher.Value != 32.5 || higher.Trials != [2]int{6, 6} {
		t.Errorf("a cell far above: %+v", higher)
	}
	// Three cells have a result; the two without do not affect them.
	near(t, "corrected", higher.PHolm, 3*2.0/924, 1e-12)
	if same.Significant || !same.Enough() || !same.Interval.Contains(0) {
		t.Errorf("a cell beside: %+v", same)
	}
	// 6 against 3: 2 of 84.
	if !three.Enough() || !three.Significant {
		t.Errorf("three trials far above: %+v", three)
	}
	if one.Enough() || one.Significant || one.PHolm != 1 || one.Shift != 37.5 {
		t.Errorf("one trial: %+v", one)
	}
	if none.Enough() || none.Significant || !math.IsNaN(none.Value) || !math.IsNaN(none.Shift) {
		t.Errorf("no trial: %+v", none)
	}
}

// TestManyTestsNeedMoreTrials: four against four without overlap are significant alone
// (2 of 70), but not as one of two tests.
func TestManyTestsNeedMoreTrials(t *testing.T) {
	base, far := []float64{1, 2, 3, 4}, []float64{11, 12, 13, 14}
	if alone := Against(base, [][]float64{far})[0]; !alone.Significant || !alone.Enough() || alone.Family != 1 {
		t.Errorf("alone: %+v", alone)
	}
	among := Against(base, [][]float64{far, {1.5, 2.5, 3.5, 4.5}})
	if c := among[0]; c.Significant || c.Enough() || c.Interval == nil || c.Family != 2 {
		t.Errorf("as one of two: %+v", c)
	}
	if c := among[1]; c.Significant || !c.Enough() {
		t.Errorf("the other one, which overlaps: %+v", c)
	}
}

// Of one pair it is Hodges and Lehmann's. Pairs of other levels do not mix: with two
// trials a side in each of three cells the shift is known, which no cell alone shows.
func TestAStratifiedShiftIsWithinPairs(t *testing.T) {
	a, b := []float64{0.8, 0.83, 1.89, 1.04, 1.45, 1.38}, []float64{1.15, 0.88, 0.9, 0.74, 1.21}
	shift, interval := HodgesLehmann(a, b)
	one, same := Stratified([]Pair{{a, b}})
	if shift != one || interval.Low != same.Low || interval.High != same.High || math.Abs(interval.Level-same.Level) > 1e-12 {
		t.Errorf("%v %v, of one stratum %v %v", shift, *interval, one, *same)
	}
	var pairs []Pair
	for _, level := range []float64{10, 200, 3000} {
		pairs = append(pairs, Pair{Base: []float64{level, level + 1}, Value: []float64{level + 5, level + 6}})
	}
	shift, interval = Stratified(pairs)
	if shift != 5 || interval == nil || interval.Low < 4 || interval.High > 6 {
		t.Errorf("shift %v, interval %v; want 5 within 4 to 6", shift, interval)
	}
	if _, interval = Stratified(pairs[:1]); interval != nil {
		t.Errorf("an interval of 2 and 2 trials: %v", *interval)
	}
}
