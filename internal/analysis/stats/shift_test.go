package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Hollander and Wolfe, Nonparametric Statistical Methods, example 4.3, estimate the shift
// from the permeability of the human placenta at 12 to 26 weeks and at term.
func TestTheShiftAgreesWithThePublishedExample(t *testing.T) {
	early := known(1.15, 0.88, 0.90, 0.74, 1.21)
	term := known(0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46)
	shift, interval := CensoredShift(early, term)
	near(t, "shift", shift.Low, 0.305, 1e-9)
	if interval == nil || !interval.Contains(0) {
		t.Fatalf("interval %v: P is 0.25, so 0 lies in it", interval)
	}
}

// TestTheIntervalIsTheTestTurnedRound: a shift lies in the interval exactly if the
// test does not exclude it.
func TestTheIntervalIsTheTestTurnedRound(t *testing.T) {
	random, tried, apart := rand.New(rand.NewPCG(3, 4)), 0, 0
	for range 100 {
		base, value := make([]float64, 6+random.IntN(4)), make([]float64, 6+random.IntN(4))
		for i := range base {
			base[i] = random.NormFloat64()
		}
		for i := range value {
			value[i] = random.NormFloat64() + 2*random.Float64()
		}
		_, interval := CensoredShift(known(base...), known(value...))
		for shift := -4.0; shift < 5; shift += 0.173 {
			moved := make([]float64, len(value))
			for i, v := range value {
				moved[i] = v - shift
			}
			_, p := CensoredTest(known(moved...), known(base...))
			tried++
			if interval.Contains(shift) != (p >= 0.05) {
				apart++
			}
			if !interval.Contains(shift) && p >= 0.05 {
				t.Fatalf("shift %v: P %v, interval %v", shift, p, *interval)
			}
		}
	}
	// The statistic is not monotone in the shift: the interval may hold an excluded one.
	t.Logf("%d of %d", apart, tried)
	if apart > tried/100 {
		t.Errorf("%d of %d shifts in the interval are excluded", apart, tried)
	}
}

// TestCoverageOfTheShift: skewed trials, as latencies are. The shift of the population
// is known, and the interval contains it as often as stated.
func TestCoverageOfTheShift(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const runs, truth = 1000, 1.5
	for _, n := range [][2]int{{4, 4}, {4, 12}, {6, 6}, {6, 12}, {10, 10}} {
		for _, wider := range []float64{1, 3} {
			held := 0
			for range runs {
				base := drawn(random, n[0], func(r *rand.Rand) Observed { return Known(20 + wider*r.NormFloat64()) })
				value := drawn(random, n[1], func(r *rand.Rand) Observed { return Known(20 + r.NormFloat64() + truth) })
				if _, interval := CensoredShift(base, value); interval.Contains(truth) {
					held++
				}
			}
			t.Logf("%v, %g times as wide: %d of %d", n, wider, held, runs)
			if held < 920 { // 95%, less 4 standard errors
				t.Errorf("%v, %g times as wide: %d of %d", n, wider, held, runs)
			}
		}
	}
}

func TestAFactorIsAShiftOfLogarithms(t *testing.T) {
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

// Pairs of other levels do not mix: with two
// trials a side in each of three cells the shift is known, which no cell alone shows.
func TestAStratifiedShiftIsWithinPairs(t *testing.T) {
	var pairs []Pair
	for _, level := range []float64{10, 200, 3000} {
		pairs = append(pairs, Pair{Base: []float64{level, level + 1}, Value: []float64{level + 5, level + 6}})
	}
	shift, interval := Stratified(pairs)
	if shift != 5 || interval == nil || interval.Low < 4 || interval.High > 6 {
		t.Errorf("shift %v, interval %v; want 5 within 4 to 6", shift, interval)
	}
	if _, interval = Stratified(pairs[:1]); interval != nil {
		t.Errorf("an interval of 2 and 2 trials: %v", *interval)
	}
}
